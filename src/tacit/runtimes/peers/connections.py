"""Channels over TLS: dial, accept, greet, read, write, and dial again.

Everything here runs in one event loop. The algorithm's thread drives it while it waits for messages, so that a
round costs no change of threads; when the algorithm is busy for longer, a steward thread drives it in the
meantime. Waking up costs more than a round where many agents share a machine: the steward looks the more rarely
whether it is needed, the longer it was not. Of every two neighbours one dials the other, or both meet at a relay.
Every connection is read whenever the loop is driven, so that two agents who both write a long message never wait
for each other. A connection that brings nothing for *silence* seconds, or something wrong, is closed, and the
neighbour dialled again with growing pauses; channels do not notice.

A *connection* is one TLS session that carries the channel of a link for a while: a `_Connection` here, over a
`TlsSocket`, with the `Dialogue` that greets and cuts frames.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import NetworkError, ProtocolError
from tacit.protocol import Channel, Dialogue, Frame, Kind, Phase
from tacit.protocol.frames import HEAD
from tacit.protocol.meeting import Meeting, Side
from tacit.runtimes.peers.dialling import dialled
from tacit.runtimes.peers.door import Door
from tacit.runtimes.peers.identity import pin
from tacit.runtimes.peers.proxies import DetourError, Proxy
from tacit.runtimes.peers.seat import SILENCE
from tacit.runtimes.peers.spells import MOST, Spell
from tacit.runtimes.peers.tls import TlsSocket, open_ports, secured

log = logging.getLogger("tacit.peers")

_ABSENCE, _LONGEST_ABSENCE = 0.05, 0.4  # seconds between two looks of the steward at whether it is needed
_UNSETTLED = 1.0  # seconds in the event loop while not all connections are open, unless one comes or goes
_UNTENDED = 0.25  # seconds that dialling, accepting and pinging may wait while all connections are open
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_LAST_WORDS = 1.0  # seconds for a neighbour to hear why a link is closed
_HANDSHAKE = 10.0  # seconds for TLS and the greeting, at most


@dataclass
class Neighbour:
    """One neighbour as the network sees it."""

    name: str
    host: str
    port: int
    certificate: bytes
    dials: bool
    """Whether this agent dials it; otherwise it dials this agent."""
    channel: Channel
    connection: _Connection | None = None
    connected: int = 0
    """How often a connection has come up."""
    violations: int = 0
    last_seen: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    trouble: str = ""
    """Why the last connection ended, for people; empty while all is well."""
    turned_away: int = 0
    """How often in a row it ended as where this agent's certificate is not known: at once, without a greeting."""
    open: bool = False
    meeting: Meeting | None = None
    """How it is met where neither can be dialled: host and port are then those of a relay."""
    proxy: Proxy | None = None
    """Through which this agent dials."""
    opened: float = 0.0
    """When the connection came up that is open, if one is."""
    spells: deque[Spell] = field(default_factory=lambda: deque(maxlen=MOST))
    """When earlier connections were up."""

    def comes_up(self, now: float) -> None:
        """Take that a connection is open from now on."""
        self.open, self.opened = True, now
        self.connected += 1
        self.ended("")

    def goes_down(self, now: float) -> None:
        """Take that no connection is open any more."""
        if self.open:
            self.spells.append(Spell(self.opened, now, self.trouble or "closed"))
        self.open = False

    def spells_until(self, now: float) -> list[Spell]:
        """Return when connections were up, with the one that is."""
        return [*self.spells, *([Spell(self.opened, now)] if self.open else [])]

    def ended(self, trouble: str, *, turned_away: bool = False) -> None:
        """Keep why the last connection ended; nothing, where one begins."""
        away = turned_away and self.meeting is None
        self.trouble, self.turned_away = trouble, self.turned_away + 1 if away else 0


class Connections:
    """The connections of one agent, driven by its algorithm while it waits, and by a steward while it computes."""

    def __init__(
        self,
        neighbours: Mapping[str, Neighbour],
        *,
        listen: tuple[str, int] | None,
        server: ssl.SSLContext,
        client: ssl.SSLContext,
        silence: float = SILENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.neighbours = dict(neighbours)
        self.guard = threading.Lock()
        """Whoever holds it may touch the channels."""
        self.failure: BaseException | None = None
        self._by_pin = {pin(n.certificate): n for n in self.neighbours.values()}
        self._listen, self._server_context, self._client_context = listen, server, client
        self._silence, self._clock = silence, clock
        self._handshake = min(_HANDSHAKE, silence)
        self._loop = asyncio.new_event_loop()
        self._driving = threading.Lock()  # whoever holds it may run the loop, and touch what lives in it
        self._wanted = False  # by the algorithm's thread: the steward lets go
        self._visits = 0  # of the algorithm's thread
        self._over = threading.Event()
        self._goal: Callable[[], bool] | None = None
        self._thread = threading.Thread(target=self._run, name="tacit-links", daemon=True)
        self._ready = threading.Event()
        self._main: asyncio.Task[None] | None = None
        self._sockets, self._by_socket = select.poll(), dict[int, _Connection]()
        self._tended = 0.0  # when the event loop was last run
        self._settled = False  # whether all connections were open then, and none has ended since

    # called by the algorithm's thread ------------------------------------------------------------

    def start(self) -> None:
        """Open the port and begin to dial."""
        self._thread.start()
        self._ready.wait()
        if self.failure is not None:
            where = "any port" if self._listen is None else f"{self._listen[0]}:{self._listen[1]}"
            raise NetworkError(f"cannot listen on {where} ({self.failure}).")

    def write(self, frames: Mapping[str, Sequence[Frame]]) -> None:
        """Send frames on connections that are up; what goes on none now is sent when the peer asks for it."""
        self._take_over()
        try:
            for name, each in frames.items():
                if self.neighbours[name].open:  # before the greeting nobody knows what the peer has
                    self._put(self.neighbours[name], each)
        finally:
            self._driving.release()

    def wait(self, goal: Callable[[], bool], seconds: float) -> bool:
        """Let messages come until *goal* holds, or for so long; return whether it holds."""
        self._take_over()
        try:
            end = 0.0
            while not goal():
                now = self._clock()
                end = end or now + seconds
                if now >= end:
                    return False
                if self._settled and now < self._tended + _UNTENDED:
                    self._hear(min(_UNTENDED, end - now))
                else:
                    self._tend(goal, min(_UNSETTLED, end - now))
        finally:
            self._driving.release()
        return True

    def _take_over(self) -> None:
        """Take the loop from the steward."""
        self._visits += 1
        if not self._driving.acquire(blocking=False):
            self._wanted = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._driving.acquire()
            self._wanted = False

    def _hear(self, seconds: float) -> None:
        """Take what the connections bring, and write what had no room: a round's way past the event loop."""
        for descriptor, events in self._sockets.poll(1e3 * seconds):
            connection = self._by_socket.get(descriptor)
            if connection is None:
                continue
            if events & select.POLLOUT:
                connection.tls.go_on()
                connection.watch()
            if events != select.POLLOUT:
                connection.tls.take()

    def _tend(self, goal: Callable[[], bool], seconds: float) -> None:
        """Let the event loop do all there is to do: dial, accept, ping, write what had no room, and hear."""
        self._goal = goal
        self._settled = all(neighbour.open for neighbour in self.neighbours.values())
        if self._settled:
            self._loop.call_soon(self._loop.stop)
            self._loop.run_forever()
        else:
            timer = self._loop.call_later(seconds, self._loop.stop)
            self._loop.run_forever()
            timer.cancel()
        self._goal, self._tended = None, self._clock()

    def _look_again(self) -> None:
        """Let whoever waits in the event loop see that a connection has come, or gone."""
        if self._goal is not None:
            self._loop.stop()

    def stop(self) -> None:
        """Close all connections and the port."""
        if self._thread.is_alive():
            self._over.set()
            with contextlib.suppress(RuntimeError):  # the steward may have closed it already
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=5.0)

    # in the event loop -------------------------------------------------------------------------------

    def _run(self) -> None:
        """Be the steward: drive the loop whenever the algorithm has been away for a while."""
        with self._driving:
            try:
                ports = [] if self._listen is None else open_ports(*self._listen)
                door = Door(ports, self._server_context, self._judge, handshake=self._handshake, loop=self._loop)
                self._main = self._loop.create_task(self._stay(door))
                self._main.add_done_callback(self._failed)
            except Exception as error:
                self.failure = error
                self._loop.close()
                return
            finally:
                self._ready.set()
        pause, visits = _ABSENCE, -1
        while not self._over.wait(pause):
            absent, visits = visits == self._visits, self._visits
            if absent and not self._wanted and self._driving.acquire(blocking=False):
                try:
                    if not self._wanted:
                        self._loop.run_forever()
                finally:
                    self._driving.release()
                pause = _ABSENCE
            else:  # the algorithm is here, and will be for a while
                pause = min(2.0 * pause, _LONGEST_ABSENCE)
        with self._driving:
            door.shut()
            pending = asyncio.all_tasks(self._loop)
            for task in pending:
                task.cancel()
            for neighbour in self.neighbours.values():
                if neighbour.connection is not None:
                    neighbour.connection.tls.abort()
            gone = asyncio.gather(*pending, return_exceptions=True)
            gone.add_done_callback(lambda _: self._loop.stop())
            while not gone.done():  # a call to stop may still be on its way
                self._loop.run_forever()
            door.close()
            self._loop.close()

    def _failed(self, main: asyncio.Task[None]) -> None:
        if not main.cancelled() and (error := main.exception()) is not None:
            self.failure = error
            self._loop.stop()

    async def _stay(self, door: Door) -> None:
        door.open()
        dials = [self._dial(n) for n in self.neighbours.values() if n.dials]
        await asyncio.gather(self._keep_alive(), *dials)

    def _judge(self, tls: TlsSocket) -> None:
        """Let a caller in whose handshake is over, if it is a neighbour that dials this agent."""
        neighbour = self._who(tls)
        if neighbour is None or neighbour.dials:
            log.warning("a connection was refused: not a neighbour that dials this agent")
            tls.abort()
            return
        _Connection(self, neighbour, tls)

    async def _keep_alive(self) -> None:
        """Say that this agent is here, and close connections that have fallen silent."""
        while True:
            await asyncio.sleep(self._silence / 3.0)
            for neighbour in self.neighbours.values():
                if neighbour.connection is None or not neighbour.open:
                    continue
                if self._clock() - neighbour.last_seen > self._silence:
                    neighbour.ended("silent")
                    neighbour.connection.tls.abort()
                else:
                    with self.guard:
                        ping = Frame(Kind.PING, 0, neighbour.channel.safe)
                    self._put(neighbour, [ping])

    async def _dial(self, neighbour: Neighbour) -> None:
        pause = _FIRST_PAUSE
        while True:
            before = neighbour.connected
            try:
                tls = await self._secured(neighbour)
                if self._who(tls) is neighbour:
                    _Connection(self, neighbour, tls)
                elif tls.certificate is None:
                    tls.abort()
                    neighbour.ended("closed", turned_away=True)
                else:
                    tls.abort()
                    self._violated(neighbour, ProtocolError(f"{neighbour.name} does not show its own certificate."))
                await asyncio.wait([tls.over])
            except DetourError as error:
                neighbour.ended(str(error))
                log.warning("no way to %s: %s", neighbour.name, error)
            except OSError as error:  # of TLS and of time, too
                neighbour.ended(_reason(error), turned_away=_turns_away(error))
                log.debug("%s cannot be reached: %s", neighbour.name, neighbour.trouble)
            pause = _FIRST_PAUSE if neighbour.connected > before else min(2.0 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311  only to spread the load

    async def _secured(self, neighbour: Neighbour) -> TlsSocket:
        """Return a connection to a neighbour, after the handshake; at a relay, when it has come there too."""
        meeting = neighbour.meeting
        if meeting is not None:
            neighbour.trouble = neighbour.trouble or "not at the relay yet"
        raw = await dialled(
            neighbour.host, neighbour.port, proxy=neighbour.proxy, meeting=meeting, seconds=self._handshake
        )
        server = meeting is not None and meeting.side is Side.FIRST
        context = self._server_context if server else self._client_context
        async with asyncio.timeout(self._handshake):
            return await secured(raw, context, server=server)

    def _who(self, tls: TlsSocket) -> Neighbour | None:
        """Return the neighbour whose certificate was shown: compared after every handshake."""
        certificate = tls.certificate
        return None if certificate is None else self._by_pin.get(pin(certificate))

    def _put(self, neighbour: Neighbour, frames: Sequence[Frame]) -> None:
        connection = neighbour.connection
        if connection is None:
            return
        for frame in frames:
            connection.tls.write(frame.pieces())
            neighbour.bytes_out += HEAD + len(frame.body)
        if connection.tls.is_full:
            connection.watch()

    def _violated(self, neighbour: Neighbour, error: ProtocolError) -> None:
        neighbour.violations += 1
        neighbour.ended(str(error))
        self._look_again()
        log.warning("link to %s closed: %s", neighbour.name, error)


class _Connection:
    """One connection with a neighbour: greet, then hear until it ends. A `Listener` of its socket."""

    def __init__(self, connections: Connections, neighbour: Neighbour, tls: TlsSocket) -> None:
        if neighbour.connection is not None:  # the newest replaces an older one
            neighbour.connection.tls.abort()
        self._all, self._neighbour = connections, neighbour
        self.tls: TlsSocket = tls
        self._is_deaf = False
        neighbour.goes_down(connections._clock())
        neighbour.connection, connections._settled = self, False
        neighbour.trouble = ""
        self._dialogue = Dialogue(neighbour.channel)
        self._number = tls.fileno()
        self.watch()
        connections._by_socket[self._number] = self
        self._timer = connections._loop.call_later(connections._handshake, self._not_greeted)
        tls.listen(self)
        with connections.guard:
            greeting = neighbour.channel.hello()
        connections._put(neighbour, [greeting])

    def watch(self) -> None:
        """Let the connection be heard, and written as soon as there is room for what had none."""
        if not self.tls.over.done():
            events = select.POLLIN | select.POLLOUT if self.tls.is_full else select.POLLIN
            self._all._sockets.register(self._number, events)

    def _not_greeted(self) -> None:
        if self._dialogue.phase is Phase.NEW:
            self._neighbour.ended("no answer")
            self.tls.abort()

    def heard(self, data: bytes) -> memoryview | None:
        """Hear what has come; return where the rest of a long message belongs that has begun."""
        return self._take(self._dialogue.feed, data, len(data))

    def filled(self, count: int) -> memoryview | None:
        """Hear what has come into its place."""
        return self._take(self._dialogue.filled, count, count)

    def _take(self, way: Callable[[Any], list[Frame]], what: bytes | int, count: int) -> memoryview | None:
        """Hear, unless a newer connection has replaced this one."""
        neighbour, every = self._neighbour, self._all
        if neighbour.connection is not self or self._is_deaf:
            return None
        neighbour.last_seen = every._clock()
        neighbour.bytes_in += count
        try:
            with every.guard:
                answers = way(what)
        except ProtocolError as error:
            every._violated(neighbour, error)
            self._hang_up(self._dialogue.last_words)
            return None
        if not neighbour.open and self._dialogue.phase is Phase.OPEN:
            neighbour.comes_up(every._clock())
            every._look_again()
        if answers:
            every._put(neighbour, answers)
        if every._goal is not None and every._goal():
            every._loop.stop()
        return self._dialogue.room

    def _hang_up(self, last_words: Frame | None) -> None:
        """Close the connection; where there is something left to say, a little later, and deaf from now on.

        Closed at once, with more to read, it would be reset, and what was said last might be lost.
        """
        neighbour, every = self._neighbour, self._all
        if last_words is None:
            self.tls.abort()
            return
        every._put(neighbour, [last_words])
        self._is_deaf = True
        every._loop.call_later(_LAST_WORDS, self.tls.abort)

    def ended(self, error: Exception | None) -> None:
        """Let go."""
        self._all._settled = False
        self._timer.cancel()
        self._all._sockets.unregister(self._number)
        del self._all._by_socket[self._number]
        neighbour = self._neighbour
        if neighbour.connection is self:
            neighbour.connection = None
            if not neighbour.trouble:
                reason = "closed" if error is None else _reason(error)
                neighbour.ended(reason, turned_away=error is None or _turns_away(error))
            neighbour.goes_down(self._all._clock())
            self._all._look_again()


def _turns_away(error: BaseException) -> bool:
    """Tell whether a connection ends so where the other end does not know the certificate."""
    if isinstance(error, ssl.SSLError | ConnectionResetError | BrokenPipeError):
        return True
    return isinstance(error, ConnectionError) and not error.errno


def _reason(error: BaseException) -> str:
    """Return a few words for people; never what was received."""
    if isinstance(error, ssl.SSLError):
        return "TLS refused"
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, socket.gaierror):
        return "no such host"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "closed" if isinstance(error, ConnectionError) else type(error).__name__
