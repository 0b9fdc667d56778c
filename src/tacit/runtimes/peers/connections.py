"""Channels over TLS: dial, accept, greet, read, write, and dial again.

Everything here runs in one event loop in a thread of its own. Of every two neighbours the later in the manifest
dials the earlier. One reader is always reading on every link, so that two agents who both write a long message
never wait for each other. A link that says nothing for *idle* seconds, or something wrong, is closed and dialled
again with growing pauses; channels do not notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tacit.errors import NetworkError, ProtocolError
from tacit.protocol import Channel, Connection, Frame, Kind, Phase
from tacit.runtimes.peers.identity import pin

log = logging.getLogger("tacit.peers")

_CHUNK = 1 << 16
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
    writer: asyncio.StreamWriter | None = None
    connected: int = 0
    """How often a link has come up."""
    violations: int = 0
    last_seen: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    trouble: str = ""
    """Why the last connection ended; empty while all is well."""
    open: bool = False
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


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
        self.changed = threading.Condition()
        """Guards the channels, and tells that something came."""
        self.failure: BaseException | None = None
        self._by_pin = {pin(n.certificate): n for n in self.neighbours.values()}
        self._listen, self._server_context, self._client_context = listen, server, client
        self._idle, self._clock = idle, clock
        self._handshake = min(_HANDSHAKE, idle)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="tacit-links", daemon=True)
        self._ready = threading.Event()
        self._stopping = False
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
        self._loop.call_soon_threadsafe(self._write, frames)

    def stop(self) -> None:
        """Close all links and the port."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._cancel)
            self._thread.join(timeout=5.0)

    # in the event loop -------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._main = self._loop.create_task(self._serve())
            with contextlib.suppress(asyncio.CancelledError):
                self._loop.run_until_complete(self._main)
        except Exception as error:
            self.failure = error
        finally:
            self._ready.set()
            with self.changed:
                self.changed.notify_all()
            pending = asyncio.all_tasks(self._loop)
            for task in pending:
                task.cancel()
            if pending:
                self._loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
            self._loop.close()

    def _cancel(self) -> None:
        self._stopping = True
        if self._main is not None:
            self._main.cancel()

    async def _serve(self) -> None:
        server = await asyncio.start_server(
            self._accepted,
            *self._listen,
            ssl=self._server_context,
            ssl_handshake_timeout=self._handshake,
            backlog=128,
        )
        self._ready.set()
        async with server:
            dials = [self._dial(n) for n in self.neighbours.values() if n.dials]
            await asyncio.gather(self._keep_alive(), *dials)

    async def _keep_alive(self) -> None:
        """Say that this agent is here, and close links that have fallen silent."""
        while True:
            await asyncio.sleep(self._idle / 3.0)
            for neighbour in self.neighbours.values():
                if neighbour.writer is None or not neighbour.open:
                    continue
                if self._clock() - neighbour.last_seen > self._idle:
                    neighbour.trouble = "silent"
                    neighbour.writer.transport.abort()
                else:
                    with self.changed:
                        ping = Frame(Kind.PING, 0, neighbour.channel.safe).encode()
                    self._put(neighbour, ping)

    async def _dial(self, neighbour: Neighbour) -> None:
        pause = _FIRST_PAUSE
        while True:
            before = neighbour.connected
            try:
                async with asyncio.timeout(self._handshake):
                    reader, writer = await asyncio.open_connection(
                        neighbour.host, neighbour.port, ssl=self._client_context, limit=_CHUNK
                    )
                if self._who(writer) is not neighbour:
                    writer.transport.abort()
                    raise ProtocolError(f"{neighbour.name} does not show its own certificate.")
                await self._converse(neighbour, reader, writer)
            except (OSError, ssl.SSLError, TimeoutError, asyncio.IncompleteReadError) as error:
                neighbour.trouble = _reason(error)
            except ProtocolError as error:
                self._violated(neighbour, error)
            pause = _FIRST_PAUSE if neighbour.connected > before else min(2.0 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311  only to spread the load

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        neighbour = self._who(writer)
        if neighbour is None or neighbour.dials:
            log.warning("a connection was refused: not a neighbour that dials this agent")
            writer.transport.abort()
            return
        try:
            await self._converse(neighbour, reader, writer)
        except (OSError, ssl.SSLError, TimeoutError, asyncio.IncompleteReadError) as error:
            neighbour.trouble = _reason(error)
        except ProtocolError as error:
            self._violated(neighbour, error)
        except asyncio.CancelledError:  # the run is over
            pass
        finally:
            writer.transport.abort()

    def _who(self, writer: asyncio.StreamWriter) -> Neighbour | None:
        """Return the neighbour whose certificate was shown: compared after every handshake."""
        shown: ssl.SSLObject = writer.get_extra_info("ssl_object")
        try:
            certificate = shown.getpeercert(binary_form=True)
        except ValueError:  # the handshake broke off
            return None
        return None if certificate is None else self._by_pin.get(pin(certificate))

    async def _converse(
        self, neighbour: Neighbour, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Greet, then read until the link ends."""
        if neighbour.writer is not None:  # the newest link replaces an older one
            neighbour.writer.transport.abort()
        neighbour.writer, neighbour.open = writer, False
        connection = Connection(neighbour.channel)
        try:
            with self.changed:
                greeting = neighbour.channel.hello().encode()
            self._put(neighbour, greeting)
            async with asyncio.timeout(self._handshake):
                while connection.phase is Phase.NEW:
                    if not await self._listen_once(neighbour, connection, reader, writer):
                        return
            while await self._listen_once(neighbour, connection, reader, writer):
                pass
        finally:
            if neighbour.writer is writer:
                neighbour.writer, neighbour.open = None, False
            writer.transport.abort()

    async def _listen_once(
        self,
        neighbour: Neighbour,
        connection: Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Take what has arrived; return False where the link is over."""
        data = await reader.read(_CHUNK)
        if not data:
            neighbour.trouble = "closed"
        if not data or neighbour.writer is not writer:
            return False
        self._heard(neighbour, connection, data)
        return True

    def _heard(self, neighbour: Neighbour, connection: Connection, data: bytes) -> None:
        neighbour.last_seen = self._clock()
        neighbour.bytes_in += len(data)
        with self.changed:
            was = connection.phase
            answers = connection.feed(data)
            if connection.phase is not was:
                neighbour.open, neighbour.trouble = True, ""
                neighbour.connected += 1
            self.changed.notify_all()
        if answers:
            self._put(neighbour, b"".join(frame.encode() for frame in answers))

    def _write(self, frames: list[tuple[str, bytes]]) -> None:
        for name, frame in frames:
            neighbour = self.neighbours[name]
            if neighbour.open:  # before the greeting is answered nobody knows what the peer has
                self._put(neighbour, frame)

    def _put(self, neighbour: Neighbour, data: bytes) -> None:
        writer = neighbour.writer
        if writer is not None and not writer.is_closing():
            neighbour.bytes_out += len(data)
            writer.write(data)

    def _violated(self, neighbour: Neighbour, error: ProtocolError) -> None:
        neighbour.violations += 1
        neighbour.trouble = str(error)
        log.warning("link to %s closed: %s", neighbour.name, error)
        with self.changed:
            self.changed.notify_all()


def _reason(error: BaseException) -> str:
    """Return a few words for people; never what was received."""
    if isinstance(error, ssl.SSLError):
        return "TLS refused"
    if isinstance(error, TimeoutError):
        return "no answer"
    return type(error).__name__ if not isinstance(error, OSError) else (error.strerror or "unreachable")
