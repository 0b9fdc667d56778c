"""The door: whoever calls is let in as far as the handshake, and judged after it.

A caller costs a descriptor and some memory until it has shown who it is, and anybody may call. So there is room for
a few at a time only, and for each a short while.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from functools import partial

from tacit.runtimes.peers.tls import TlsSocket

_KNOCKING = 256  # callers whose handshake is not over
_PAUSE = 0.05  # seconds until a descriptor may be free again


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
        self._knocking: dict[asyncio.Task[None], None] = {}

    def open(self) -> None:
        """Begin to answer."""
        for port in self._ports:
            self._loop.add_reader(port, self._answer, port)

    def shut(self) -> None:
        """Answer no more; those who are knocking are tasks of the loop, to be cancelled with all others."""
        for port in self._ports:
            self._loop.remove_reader(port)

    def close(self) -> None:
        """Close the ports."""
        for port in self._ports:
            port.close()

    def _answer(self, port: socket.socket) -> None:
        """Let in whoever knocks, as far as the handshake; of too many at a time the first are sent away.

        One caller at a time, and without waiting in between: nobody can be cancelled with a socket in hand.
        """
        try:
            raw, _ = port.accept()
        except (BlockingIOError, ConnectionAbortedError):  # the caller is gone
            return
        except OSError:  # there are no more descriptors: others may be free in a while
            self._loop.remove_reader(port)
            self._loop.call_later(_PAUSE, self._loop.add_reader, port, self._answer, port)
            return
        try:
            tls = TlsSocket(raw, self._context, server=True)
        except OSError:  # gone again
            raw.close()
            return
        if len(self._knocking) >= _KNOCKING:
            next(iter(self._knocking)).cancel()
        task = self._loop.create_task(self._let_in(tls))
        task.add_done_callback(partial(_send_away, tls))
        task.add_done_callback(self._knocking.pop)
        self._knocking[task] = None

    async def _let_in(self, tls: TlsSocket) -> None:
        """Wait for the end of the handshake."""
        try:
            async with asyncio.timeout(self._handshake):
                await tls.handshake()
        except OSError:  # of TLS and of time, too
            tls.abort()
            return
        self._welcome(tls)


def _send_away(tls: TlsSocket, judged: asyncio.Task[None]) -> None:
    """Close a connection whose handshake was broken off."""
    if judged.cancelled():
        tls.abort()
