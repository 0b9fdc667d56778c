"""TLS on a socket that the event loop watches, with nothing in between.

asyncio's own TLS takes every record through two buffers and a dozen calls in Python, which costs more than a round
of an algorithm does. Here OpenSSL reads and writes the socket itself, and the loop only tells when it may.

    handshake   repeated until OpenSSL wants nothing more
    write       at once, as far as the socket has room; the rest when it has
    read        until OpenSSL holds nothing more: it takes whole records from the socket, out of the loop's sight;
                but never for ever, or a neighbour that never stops talking would stop the clock
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections import deque
from collections.abc import Callable

_ROOM = 1 << 18  # bytes that are taken at a time
_ROOMFULS = 256  # of them in a row, before others have their turn
_RECORD = 1 << 14  # bytes in a full record of TLS: after one, more will be there


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
        self._unsent: deque[memoryview] = deque()
        self._room = memoryview(b"")
        self._on_data: Callable[[bytes], None] = _nothing
        self._on_end: Callable[[Exception | None], None] = _nothing
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

    def listen(self, on_data: Callable[[bytes], None], on_end: Callable[[Exception | None], None]) -> None:
        """From now on call *on_data* with what comes, and *on_end* with the reason when the connection ends."""
        self._on_data, self._on_end = on_data, on_end
        self._room = memoryview(bytearray(_ROOM))  # not before: strangers get none
        self._loop.add_reader(self._socket.fileno(), self.take)
        self._loop.call_soon(self.take)  # OpenSSL may hold something already

    def write(self, data: bytes) -> None:
        """Send *data*; what the socket has no room for leaves later."""
        if self.over.done():
            return
        waits = bool(self._unsent)
        self._unsent.append(memoryview(data))
        if not waits:
            self._push()
            if self._unsent:
                self._loop.add_writer(self._socket.fileno(), self._go_on)

    def _go_on(self) -> None:
        self._push()
        if not self._unsent and not self.over.done():
            self._loop.remove_writer(self._socket.fileno())

    def _push(self) -> None:
        """Send as much as there is room for."""
        try:
            while self._unsent:
                sent = self._socket.send(self._unsent[0])
                if sent == len(self._unsent[0]):
                    self._unsent.popleft()
                else:
                    self._unsent[0] = self._unsent[0][sent:]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):  # again with the same bytes, as OpenSSL demands
            pass
        except OSError as error:
            self.abort(error)

    def take(self) -> None:
        """Hand over what has come."""
        more = True
        for _ in range(_ROOMFULS):
            if not more or self.over.done():
                return
            taken, more = 0, False
            ended: Exception | None = None
            try:
                while taken < _ROOM:
                    count = self._socket.recv_into(self._room[taken:])
                    taken += count
                    if not count:
                        ended = ConnectionResetError(0, "closed")
                    if count < _RECORD and not self._socket.pending():
                        break
                else:
                    more = True
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
            except OSError as error:
                ended = error
            if taken:
                self._on_data(bytes(self._room[:taken]))
            if ended is not None:
                self.abort(ended)
        self._loop.call_soon(self.take)

    def abort(self, reason: Exception | None = None) -> None:
        """Close the connection at once."""
        if self.over.done():
            return
        self.over.set_result(None)
        self._on_end(reason)
        descriptor = self._socket.fileno()
        if descriptor >= 0:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
        self._unsent.clear()
        with contextlib.suppress(OSError):
            self._socket.close()


def _nothing(_: object) -> None:
    """Do nothing: nobody listens yet."""


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
