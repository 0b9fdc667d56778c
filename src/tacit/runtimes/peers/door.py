"""The door: whoever calls is let in as far as the handshake, and judged after it.

A caller costs a descriptor until it has shown who it is, and anybody may call. So there is room for some of them
only, a part of the descriptors that this process may have, and for each a short while:

    it has said nothing yet       a socket, and nothing else
    it speaks                     a handshake, with the memory that TLS takes
    it has shown its certificate  out of here: whoever judges it closes it, or keeps it

Where there is no room, somebody goes: one who has said nothing before one who speaks, then one of the address with
the most callers, then the first who came. A neighbour that dials speaks at once, and from an address of its own: a
thousand strangers do not keep it out. Strangers from ever so many addresses who all speak are a firewall's matter.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.runtimes.peers.tls import TlsSocket

_MOST = 256  # callers at a time, whose handshake is not over …
_LEAST, _RESERVED = 4, 64  # … and what is left for all else that this process opens
_AT_A_TIME = 16  # callers who are answered before anything else has its turn
_FIRST_WORD = 5.0  # seconds for a caller to say anything: those who dial speak first
_PAUSE = 0.05  # seconds until a descriptor may be free again


def room() -> int:
    """Return how many callers may knock at a time: at most a quarter of the descriptors that are not spoken for.

    >>> 4 <= room() <= 256
    True
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return _MOST
    return max(_LEAST, min(_MOST, (limit - _RESERVED) // 4))


@dataclass(eq=False)
class _Caller:
    """Somebody who knocks."""

    socket: socket.socket
    origin: bytes
    """Its address; of an address in version 6, the half that names a network."""
    timer: asyncio.TimerHandle | None = None
    """Until it must have said something."""
    handshake: asyncio.Task[None] | None = None
    """None as long as nothing was said."""

    def stop_waiting(self) -> None:
        """Wait for a first word no longer."""
        if self.timer is not None:
            self.timer.cancel()


class Door:
    """The accepting side of one agent; everything here runs in the event loop.

    *welcome* is handed every caller whose handshake is over, with whatever certificate it has shown.
    """

    def __init__(
        self,
        ports: Sequence[socket.socket],
        context: ssl.SSLContext,
        welcome: Callable[[TlsSocket], None],
        *,
        handshake: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._ports, self._context, self._welcome = list(ports), context, welcome
        self._handshake, self._loop = handshake, loop
        self._room, self._is_open = room(), False
        self._callers: dict[_Caller, None] = {}  # in the order in which they came
        self._origins: Counter[bytes] = Counter()

    def open(self) -> None:
        """Begin to answer."""
        self._is_open = True
        for port in self._ports:
            self._loop.add_reader(port, self._answer, port)

    def shut(self) -> None:
        """Answer no more, and send everybody away who is knocking."""
        self._is_open = False
        for port in self._ports:
            self._loop.remove_reader(port)
        for caller in list(self._callers):
            self._send_away(caller)

    def close(self) -> None:
        """Close the ports."""
        for port in self._ports:
            port.close()

    def _answer(self, port: socket.socket) -> None:
        """Take some of those who call, and let others have their turn before the next."""
        for k in range(_AT_A_TIME):
            try:
                raw, address = port.accept()
            except (BlockingIOError, ConnectionAbortedError):  # nobody is there, or not any more
                return
            except OSError:  # there are no more descriptors, so that there is no room
                if k:  # and perhaps nobody who wants it
                    return
                self._make_room()
                self._loop.remove_reader(port)
                self._loop.call_later(_PAUSE, self._answer_again, port)
                return
            if len(self._callers) >= self._room:
                self._make_room()
            self._take(raw, _origin(port.family, address[0]))

    def _answer_again(self, port: socket.socket) -> None:
        if self._is_open:
            self._loop.add_reader(port, self._answer, port)

    def _take(self, raw: socket.socket, origin: bytes) -> None:
        """Wait for a caller's first word."""
        raw.setblocking(False)
        caller = _Caller(raw, origin)
        caller.timer = self._loop.call_later(min(_FIRST_WORD, self._handshake), self._send_away, caller)
        self._callers[caller] = None
        self._origins[origin] += 1
        self._loop.add_reader(raw, self._listen_to, caller)

    def _listen_to(self, caller: _Caller) -> None:
        """Begin the handshake with one who speaks."""
        self._loop.remove_reader(caller.socket)
        caller.stop_waiting()
        try:
            tls = TlsSocket(caller.socket, self._context, server=True)
        except OSError:  # gone again
            self._send_away(caller)
            return
        caller.handshake = self._loop.create_task(self._let_in(tls))
        caller.handshake.add_done_callback(lambda task: self._over(caller, tls, task))

    async def _let_in(self, tls: TlsSocket) -> None:
        """Wait for the end of the handshake."""
        try:
            async with asyncio.timeout(self._handshake):
                await tls.handshake()
        except OSError:  # of TLS and of time, too
            tls.abort()
            return
        self._welcome(tls)

    def _over(self, caller: _Caller, tls: TlsSocket, handshake: asyncio.Task[None]) -> None:
        """Forget a caller who has been judged; close a connection whose handshake was broken off."""
        if handshake.cancelled():
            tls.abort()
        self._forget(caller)

    def _make_room(self) -> None:
        """Send one caller away, if there is one."""
        silent = [caller for caller in self._callers if caller.handshake is None]
        if candidates := silent or list(self._callers):
            self._send_away(max(candidates, key=lambda caller: self._origins[caller.origin]))  # the first of many

    def _send_away(self, caller: _Caller) -> None:
        if caller.handshake is not None:
            caller.handshake.cancel()  # and its end closes the connection
        else:
            caller.stop_waiting()
            if caller.socket.fileno() >= 0:
                self._loop.remove_reader(caller.socket)
            with contextlib.suppress(OSError):
                caller.socket.close()
        self._forget(caller)

    def _forget(self, caller: _Caller) -> None:
        if caller in self._callers:
            del self._callers[caller]
            self._origins[caller.origin] -= 1
            if not self._origins[caller.origin]:
                del self._origins[caller.origin]


def _origin(family: int, host: str) -> bytes:
    """Return what stands for everybody who can call from where this caller does.

    >>> _origin(socket.AF_INET6, "2001:db8::1") == _origin(socket.AF_INET6, "2001:db8::2")
    True
    >>> _origin(socket.AF_INET, "192.0.2.1") == _origin(socket.AF_INET, "192.0.2.2")
    False
    """
    return socket.inet_pton(family, host.partition("%")[0])[:8]
