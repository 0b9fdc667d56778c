"""Channels over TLS: dial, accept, greet, read, write, and dial again.

Everything here runs in one event loop. The algorithm's thread drives it while it waits for messages, so that a
round costs no change of threads; when the algorithm is busy for longer, a steward thread drives it in the
meantime. Of every two neighbours the later in the manifest dials the earlier. Every link is read whenever the loop
is driven, so that two agents who both write a long message never wait for each other. A link that says nothing for
*idle* seconds, or something wrong, is closed and dialled again with growing pauses; channels do not notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from tacit.errors import NetworkError, ProtocolError
from tacit.protocol import Channel, Connection, Frame, Kind, Phase
from tacit.runtimes.peers.identity import pin

log = logging.getLogger("tacit.peers")

_ABSENCE = 0.05  # seconds that the algorithm may be busy before the steward takes over
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
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
    link: _Link | None = None
    connected: int = 0
    """How often a link has come up."""
    violations: int = 0
    last_seen: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    trouble: str = ""
    """Why the last connection ended; empty while all is well."""
    open: bool = False


class Connections:
    """All links of one agent, in a thread of their own."""

    def __init__(
        self,
        neighbours: Mapping[str, Neighbour],
        *,
        listen: tuple[str, int],
        server: ssl.SSLContext,
        client: ssl.SSLContext,
        idle: float = 15.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.neighbours = dict(neighbours)
        self.guard = threading.Lock()
        """Whoever holds it may touch the channels."""
        self.failure: BaseException | None = None
        self._by_pin = {pin(n.certificate): n for n in self.neighbours.values()}
        self._listen, self._server_context, self._client_context = listen, server, client
        self._idle, self._clock = idle, clock
        self._handshake = min(_HANDSHAKE, idle)
        self._loop = asyncio.new_event_loop()
        self._driving = threading.Lock()  # whoever holds it may run the loop, and touch what lives in it
        self._wanted = False  # by the algorithm's thread: the steward lets go
        self._over = threading.Event()
        self._goal: Callable[[], bool] | None = None
        self._thread = threading.Thread(target=self._run, name="tacit-links", daemon=True)
        self._ready = threading.Event()
        self._main: asyncio.Task[None] | None = None

    # called by the algorithm's thread ------------------------------------------------------------

    def start(self) -> None:
        """Open the port and begin to dial."""
        self._thread.start()
        self._ready.wait()
        if self.failure is not None:
            raise NetworkError(f"cannot listen on {self._listen[0]}:{self._listen[1]} ({self.failure}).")

    def write(self, frames: list[tuple[str, bytes]]) -> None:
        """Send frames on links that are up; what is on no link now is sent when the peer asks for it."""
        with self._driven():
            self._write(frames)

    def wait(self, goal: Callable[[], bool], seconds: float) -> bool:
        """Let messages come until *goal* holds, or for so long; return whether it holds."""
        with self._driven():
            if goal():
                return True
            self._goal = goal
            timer = self._loop.call_later(seconds, self._loop.stop)
            try:
                self._loop.run_forever()
            finally:
                timer.cancel()
                self._goal = None
        return goal()

    @contextlib.contextmanager
    def _driven(self) -> Iterator[None]:
        """Take the loop from the steward."""
        if not self._driving.acquire(blocking=False):
            self._wanted = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._driving.acquire()
            self._wanted = False
        try:
            yield
        finally:
            self._driving.release()

    def stop(self) -> None:
        """Close all links and the port."""
        if self._thread.is_alive():
            self._over.set()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=5.0)

    # in the event loop -------------------------------------------------------------------------------

    def _run(self) -> None:
        """Be the steward: drive the loop whenever the algorithm has been away for a while."""
        with self._driving:
            try:
                server = self._loop.run_until_complete(self._serve())
                self._main = self._loop.create_task(self._stay())
                self._main.add_done_callback(self._failed)
            except Exception as error:
                self.failure = error
                self._loop.close()
                return
            finally:
                self._ready.set()
        while not self._over.wait(_ABSENCE):
            if not self._wanted and self._driving.acquire(blocking=False):
                try:
                    if not self._wanted:
                        self._loop.run_forever()
                finally:
                    self._driving.release()
        with self._driving:
            server.close()
            pending = asyncio.all_tasks(self._loop)
            for task in pending:
                task.cancel()
            for neighbour in self.neighbours.values():
                if neighbour.link is not None:
                    neighbour.link.transport.abort()
            gone = asyncio.gather(*pending, return_exceptions=True)
            gone.add_done_callback(lambda _: self._loop.stop())
            while not gone.done():  # a call to stop may still be on its way
                self._loop.run_forever()
            self._loop.close()

    def _failed(self, main: asyncio.Task[None]) -> None:
        if not main.cancelled() and (error := main.exception()) is not None:
            self.failure = error
            self._loop.stop()

    async def _serve(self) -> asyncio.Server:
        return await self._loop.create_server(
            lambda: _Link(self, None),
            *self._listen,
            ssl=self._server_context,
            ssl_handshake_timeout=self._handshake,
            backlog=128,
        )

    async def _stay(self) -> None:
        dials = [self._dial(n) for n in self.neighbours.values() if n.dials]
        await asyncio.gather(self._keep_alive(), *dials)

    async def _keep_alive(self) -> None:
        """Say that this agent is here, and close links that have fallen silent."""
        while True:
            await asyncio.sleep(self._idle / 3.0)
            for neighbour in self.neighbours.values():
                if neighbour.link is None or not neighbour.open:
                    continue
                if self._clock() - neighbour.last_seen > self._idle:
                    neighbour.trouble = "silent"
                    neighbour.link.transport.abort()
                else:
                    with self.guard:
                        ping = Frame(Kind.PING, 0, neighbour.channel.safe).encode()
                    self._put(neighbour, ping)

    async def _dial(self, neighbour: Neighbour) -> None:
        pause = _FIRST_PAUSE
        while True:
            before = neighbour.connected
            try:
                async with asyncio.timeout(self._handshake):
                    _, link = await self._loop.create_connection(
                        lambda: _Link(self, neighbour), neighbour.host, neighbour.port, ssl=self._client_context
                    )
                await link.over
            except (OSError, ssl.SSLError, TimeoutError) as error:
                neighbour.trouble = _reason(error)
            pause = _FIRST_PAUSE if neighbour.connected > before else min(2.0 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311  only to spread the load

    def _who(self, transport: asyncio.Transport) -> Neighbour | None:
        """Return the neighbour whose certificate was shown: compared after every handshake."""
        shown: ssl.SSLObject = transport.get_extra_info("ssl_object")
        try:
            certificate = shown.getpeercert(binary_form=True)
        except ValueError:  # the handshake broke off
            return None
        return None if certificate is None else self._by_pin.get(pin(certificate))

    def _heard(self, neighbour: Neighbour, connection: Connection, data: bytes) -> None:
        neighbour.last_seen = self._clock()
        neighbour.bytes_in += len(data)
        with self.guard:
            was = connection.phase
            answers = connection.feed(data)
            if connection.phase is not was:
                neighbour.open, neighbour.trouble = True, ""
                neighbour.connected += 1
        for frame in answers:
            self._put(neighbour, frame.encode())
        if self._goal is not None and self._goal():
            self._loop.stop()

    def _write(self, frames: list[tuple[str, bytes]]) -> None:
        together: dict[str, list[bytes]] = {}
        for name, frame in frames:
            together.setdefault(name, []).append(frame)
        for name, parts in together.items():
            neighbour = self.neighbours[name]
            if neighbour.open:  # before the greeting is answered nobody knows what the peer has
                self._put(neighbour, parts[0] if len(parts) == 1 else b"".join(parts))

    def _put(self, neighbour: Neighbour, data: bytes) -> None:
        link = neighbour.link
        if link is not None and not link.transport.is_closing():
            neighbour.bytes_out += len(data)
            link.transport.write(data)

    def _violated(self, neighbour: Neighbour, error: ProtocolError) -> None:
        neighbour.violations += 1
        neighbour.trouble = str(error)
        log.warning("link to %s closed: %s", neighbour.name, error)


class _Link(asyncio.Protocol):
    """One TLS connection: greet, then hear until it ends."""

    transport: asyncio.Transport

    def __init__(self, connections: Connections, dialled: Neighbour | None) -> None:
        self._all, self._dialled = connections, dialled
        self._neighbour: Neighbour | None = None
        self.over: asyncio.Future[None] = connections._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Judge who it is, and greet."""
        self.transport = cast(asyncio.Transport, transport)
        neighbour = self._all._who(self.transport)
        if self._dialled is not None and neighbour is not self._dialled:
            error = ProtocolError(f"{self._dialled.name} does not show its own certificate.")
            self._all._violated(self._dialled, error)
            self._all._loop.call_soon(self.transport.abort)  # the handshake ends first
            return
        if neighbour is None or (self._dialled is None and neighbour.dials):
            log.warning("a connection was refused: not a neighbour that dials this agent")
            self.transport.abort()
            return
        if neighbour.link is not None:  # the newest link replaces an older one
            neighbour.link.transport.abort()
        self._neighbour, neighbour.link, neighbour.open = neighbour, self, False
        self._connection = Connection(neighbour.channel)
        with self._all.guard:
            greeting = neighbour.channel.hello().encode()
        self._all._put(neighbour, greeting)
        self._timer = self._all._loop.call_later(self._all._handshake, self._not_greeted)

    def _not_greeted(self) -> None:
        if self._connection.phase is Phase.NEW and self._neighbour is not None:
            self._neighbour.trouble = "no answer"
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Hear, unless a newer link has replaced this one."""
        neighbour = self._neighbour
        if neighbour is None or neighbour.link is not self:
            return
        try:
            self._all._heard(neighbour, self._connection, data)
        except ProtocolError as error:
            self._all._violated(neighbour, error)
            self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """Let go."""
        neighbour = self._neighbour
        if neighbour is not None:
            self._timer.cancel()
            if neighbour.link is self:
                neighbour.link, neighbour.open = None, False
                neighbour.trouble = neighbour.trouble or ("closed" if error is None else _reason(error))
        if not self.over.done():
            self.over.set_result(None)


def _reason(error: BaseException) -> str:
    """Return a few words for people; never what was received."""
    if isinstance(error, ssl.SSLError):
        return "TLS refused"
    if isinstance(error, TimeoutError):
        return "no answer"
    return type(error).__name__ if not isinstance(error, OSError) else (error.strerror or "unreachable")
