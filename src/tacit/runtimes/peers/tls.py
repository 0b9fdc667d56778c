"""TLS on a socket that the event loop watches, with nothing in between.

asyncio's own TLS takes every record through two buffers and a dozen calls in Python, which costs more than a round
of an algorithm does. Here OpenSSL reads and writes the socket itself, and the loop only tells when it may.

    handshake   repeated until OpenSSL wants nothing more
    write       at once, as far as the socket has room; the rest when it has
    read        record by record, the rest of a long message into its place. OpenSSL takes one record at a time from
                the socket: after one that was not full the loop tells of the next. Never for ever, or a neighbour
                that never stops talking would stop the clock
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

_RECORD = 1 << 14  # bytes in a full record of TLS: after one, more will be there
_RECORDS = 4096  # that are taken in a row, before others have their turn


class Listener(Protocol):
    """Whoever takes what a connection brings."""

    def heard(self, data: bytes) -> memoryview | None:
        """Take bytes that came; return where those that come next belong, where that is known."""

    def filled(self, count: int) -> memoryview | None:
        """Take note that so many bytes were put there; return the same."""

    def ended(self, reason: Exception | None) -> None:
        """The connection is over."""


class TlsSocket:
    """TLS over a connected socket that does not block: what one connection is made of."""

    def __init__(self, raw: socket.socket, context: ssl.SSLContext, *, server: bool) -> None:
        raw.setblocking(False)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.getpeername()  # raises if the peer is gone: `wrap_socket` would notice too late to close the socket
        self._socket = context.wrap_socket(
            raw, server_side=server, do_handshake_on_connect=False, suppress_ragged_eofs=True
        )
        self._loop = asyncio.get_running_loop()
        self._unsent: deque[bytes | memoryview] = deque()
        self._listener: Listener | None = None
        self._room: memoryview | None = None  # where what comes next belongs
        self.over: asyncio.Future[None] = self._loop.create_future()
        """Done when the connection has ended."""

    @property
    def is_full(self) -> bool:
        """Whether something is not sent yet, because the socket has no room."""
        return bool(self._unsent)

    def fileno(self) -> int:
        """Return the socket's number; negative after the end."""
        return self._socket.fileno()

    @property
    def certificate(self) -> bytes | None:
        """What the other side has shown; None where the connection has broken off."""
        try:
            return self._socket.getpeercert(binary_form=True)
        except ValueError:
            return None

    async def handshake(self) -> None:
        """Agree on keys; raise `OSError` where that fails."""
        while True:
            try:
                self._socket.do_handshake()
                return
            except ssl.SSLWantReadError:
                await self._until(self._loop.add_reader, self._loop.remove_reader)
            except ssl.SSLWantWriteError:
                await self._until(self._loop.add_writer, self._loop.remove_writer)

    async def _until(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        """Wait until the socket can be read, or written."""
        ready = self._loop.create_future()
        descriptor = self._socket.fileno()
        add(descriptor, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            remove(descriptor)

    def listen(self, listener: Listener) -> None:
        """From now on tell *listener* what comes, and when the connection ends."""
        self._listener = listener
        self._loop.add_reader(self._socket.fileno(), self.take)
        self._loop.call_soon(self.take)  # OpenSSL may hold something already

    def write(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Send *pieces*; what the socket has no room for leaves later."""
        if self.over.done():
            return
        if self._unsent:
            self._unsent.extend(pieces)
            return
        self._unsent.extend(pieces)
        self._push()
        if self._unsent:
            self._loop.add_writer(self._socket.fileno(), self.go_on)

    def go_on(self) -> None:
        """Send what had no room before."""
        self._push()
        if not self._unsent and not self.over.done():
            self._loop.remove_writer(self._socket.fileno())

    def _push(self) -> None:
        """Send as much as there is room for."""
        unsent, send = self._unsent, self._socket.send
        try:
            while unsent:
                piece = unsent[0]
                sent = send(piece)
                if sent == len(piece):
                    unsent.popleft()
                else:
                    unsent[0] = memoryview(piece)[sent:]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):  # again with the same bytes, as OpenSSL demands
            pass
        except OSError as error:
            self.abort(error)

    def take(self) -> None:
        """Hand over what has come."""
        data = b""
        for _ in range(_RECORDS):
            room, listener = self._room, self._listener
            if listener is None or self.over.done():
                return
            try:
                if room is None:
                    data = self._socket.recv(_RECORD)
                    count = len(data)
                else:
                    count = self._socket.recv_into(room)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            except OSError as error:
                self.abort(error)
                return
            if not count:
                self.abort(ConnectionResetError(0, "closed"))
                return
            self._room = listener.heard(data) if room is None else listener.filled(count)
            if count < _RECORD and (room is None or count < len(room)):
                return
        self._loop.call_soon(self.take)

    def abort(self, reason: Exception | None = None) -> None:
        """Close the connection at once."""
        if self.over.done():
            return
        self.over.set_result(None)
        if self._listener is not None:
            self._listener.ended(reason)
        descriptor = self._socket.fileno()
        if descriptor >= 0:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
        self._unsent.clear()
        with contextlib.suppress(OSError):
            self._socket.close()


async def secured(raw: socket.socket, context: ssl.SSLContext, *, server: bool) -> TlsSocket:
    """Return a connection over a socket that is connected, after the handshake."""
    try:
        tls = TlsSocket(raw, context, server=server)
    except BaseException:
        raw.close()
        raise
    try:
        await tls.handshake()
    except BaseException:
        tls.abort()
        raise
    return tls


def open_ports(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen on every address of *host*."""
    ports = []
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    try:
        for family, _, _, _, address in addresses:
            listening = socket.create_server(address[:2], family=family, backlog=1024)
            listening.setblocking(False)
            ports.append(listening)
    except BaseException:
        for listening in ports:
            listening.close()
        raise
    return ports
