"""`tacit relay`: where members meet who can only dial out. It joins two callers, and passes bytes on.

    relay = Relay(("0.0.0.0", 7400))
    relay.run()                                     # until SIGTERM, Ctrl-C or `stop`

A caller says a token and which side it is (`tacit.protocol.meeting`), and waits. When the other side of the same
token is there, the two are joined: bytes go from one to the other as they come, until either hangs up. The relay
connects to nobody by itself, so that it is of no use to reach anything but another caller. TLS is between the two:
the relay sees ciphertext, its sizes and times, the token and where callers come from, and can only cut.

Everything is bounded: callers in all and from one address, how fast they come, how long each may take to say its
token, to wait and to be silent, and the bytes that are on their way. A pair whose one end does not read stops the
other from writing.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import resource
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, cast

from tacit.errors import NetworkError
from tacit.protocol.meeting import CALL, Meeting, Reply, read_call
from tacit.runtimes.peers.buckets import Buckets
from tacit.runtimes.peers.passing_on import ROOM, Caller, Limits, pass_on

log = logging.getLogger("tacit.relay")

_SAY = 10.0  # seconds for a call
_AGAIN = 20.0  # seconds between two words to one who waits
_WAITING = 8  # callers of one side of a token; of more the first are sent away
_SPARE = 64  # descriptors for everything else


class Relay:
    """A relay on one port. With *tokens* it serves those and no others."""

    def __init__(
        self,
        listen: tuple[str, int],
        *,
        limits: Limits | None = None,
        tokens: Collection[bytes] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listen, self._limits, self._clock = listen, limits or Limits(), clock
        self._tokens = None if tokens is None else frozenset(tokens)
        self._calls = Buckets(self._limits.calls, 10.0 * self._limits.calls, clock)
        self._most = min(self._limits.connections, max(2, _descriptors() - _SPARE))
        self._here: dict[str, int] = {}  # callers by address
        self._waiting: dict[Meeting, list[Caller]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = asyncio.Event()
        self.pairs = 0
        """How many have been joined so far."""
        self.port = 0
        """On which it listens, once it does."""
        self.ready = threading.Event()
        """Set when it listens, or has failed to."""

    @property
    def callers(self) -> int:
        """How many are here now."""
        return sum(self._here.values())

    def run(self) -> None:
        """Serve until `stop`, or until a signal to end where this is the main thread; then part from everybody."""
        asyncio.run(self._serve())

    def stop(self) -> None:
        """End `run`, from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it is over already
                self._loop.call_soon_threadsafe(self._over.set)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self._over.set)
        host, port = self._listen
        try:
            server = await asyncio.start_server(self._called, host, port, limit=ROOM)
            self.port = server.sockets[0].getsockname()[1]
        except OSError as error:
            raise NetworkError(f"cannot listen on {host}:{port} ({error.strerror or error}).") from error
        finally:
            self.ready.set()
        log.info("listening on %s:%d, for %d callers at a time", host, self.port, self._most)
        await self._over.wait()
        server.close()
        for caller in [caller for queue in self._waiting.values() for caller in queue]:
            caller.writer.write(Reply.CLOSING.value)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        log.info("stopped after joining %d pairs", self.pairs)

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """See to one caller, from its first byte to its last."""
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._tasks.add(task)
        address = str((writer.get_extra_info("peername") or ("",))[0])
        self._here[address] = self._here.get(address, 0) + 1
        writer.transport.set_write_buffer_limits(high=ROOM)
        try:
            await self._attend(Caller(reader, writer), address)
        except (OSError, EOFError, asyncio.CancelledError):  # of time, too; and the relay may be ending
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)
            self._here[address] -= 1
            if not self._here[address]:
                del self._here[address]

    async def _attend(self, caller: Caller, address: str) -> None:
        async with asyncio.timeout(_SAY):
            if self.callers > self._most or self._here[address] > self._limits.address:
                log.warning("there are too many callers: %s was sent away", address)
                await caller.answer(Reply.FULL)
                return
            if not self._calls.allow(address):
                log.warning("%s calls too often", address)
                await caller.answer(Reply.FULL)
                return
            meeting = read_call(await caller.reader.readexactly(CALL))
            if meeting is None:
                log.warning("%s does not speak as members do", address)
                return
            if self._tokens is not None and meeting.token not in self._tokens:
                log.warning("%s is of no run that is served here", address)
                await caller.answer(Reply.STRANGER)
                return
        other = self._other(meeting)
        if other is None:
            await self._wait(caller, meeting)
        else:
            other.joined.set_result(caller)
            await caller.parted

    def _other(self, meeting: Meeting) -> Caller | None:
        """Return whoever waits on the other side, the last to come first, and take it out of the queue."""
        there = Meeting(meeting.token, meeting.side.other)
        queue = self._waiting.get(there, [])
        other = queue.pop() if queue else None
        if not queue:
            self._waiting.pop(there, None)
        return other

    async def _wait(self, caller: Caller, meeting: Meeting) -> None:
        """Keep one until the other comes, then see to both."""
        queue = self._waiting.setdefault(meeting, [])
        queue.append(caller)
        if len(queue) > _WAITING:
            queue.pop(0).joined.cancel()
        try:
            try:
                answer = await self._until_joined(caller)
            finally:
                if caller in queue:
                    queue.remove(caller)
                if not queue and self._waiting.get(meeting) is queue:
                    del self._waiting[meeting]
            if caller.other is not None:
                await self._join(caller, caller.other, meeting.token)
            elif answer is not None:
                await caller.answer(answer)
        finally:
            if caller.other is not None:  # whatever has become of this one
                caller.other.part()

    async def _until_joined(self, caller: Caller) -> Reply | None:
        """Wait for the other, and say so now and then; return what there is to say if it does not come."""
        end = self._clock() + self._limits.waiting
        hangs_up = asyncio.ensure_future(caller.reader.read(1))  # it has nothing to say yet
        try:
            while (seconds := end - self._clock()) > 0:
                await caller.answer(Reply.WAIT)
                events: list[asyncio.Future[Any]] = [caller.joined, hangs_up]
                await asyncio.wait(events, timeout=min(_AGAIN, seconds), return_when=asyncio.FIRST_COMPLETED)
                if caller.joined.cancelled():
                    return Reply.FULL
                if hangs_up.done() or caller.joined.done():
                    return None
        finally:
            hangs_up.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await hangs_up
        return Reply.NOBODY

    async def _join(self, one: Caller, other: Caller, token: bytes) -> None:
        """Pass bytes on both ways, until either end hangs up."""
        self.pairs += 1
        number, began = self.pairs, self._clock()
        log.info("pair %d joined, of link %s", number, _short(token))
        await one.answer(Reply.JOINED)
        await other.answer(Reply.JOINED)
        passed = Counter[Caller]()
        try:
            await pass_on(one, other, self._limits, passed, clock=self._clock)
        finally:
            seconds = self._clock() - began
            log.info("pair %d parted after %.0f s: %d and %d bytes", number, seconds, passed[one], passed[other])


def _short(token: bytes) -> str:
    """Return a name for a token that does not let anybody in."""
    return hashlib.sha256(b"tacit: a link in a log\0" + token).hexdigest()[:8]


def _descriptors() -> int:
    """Return how many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft
