"""A loop over `poll` and TLS sockets, both sides authenticated, and nothing else: what Python can do at best.

Every socket is written as far as it has room and read as far as it has bytes, so that two agents who both send a
long vector never wait for each other.
"""

from __future__ import annotations

import select
import socket
import ssl
import time

from benchmarks.peers.processes import WARM, Times
from benchmarks.peers.references import LENGTH, Place
from tacit.runtimes.peers.identity import context

_ROOM = 1 << 18


class _Link:
    """One socket, with what is not written yet and what has come."""

    def __init__(self, tls: ssl.SSLSocket) -> None:
        tls.setblocking(False)
        self.tls, self.unsent, self.came = tls, memoryview(b""), bytearray()
        self.room = memoryview(bytearray(_ROOM))

    def push(self) -> bool:
        """Write what there is room for; tell whether something is left."""
        try:
            while self.unsent:
                self.unsent = self.unsent[self.tls.send(self.unsent) :]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        return bool(self.unsent)

    def take(self) -> None:
        """Read what has come."""
        try:
            while True:
                self.came += self.room[: self.tls.recv_into(self.room)]
                if not self.tls.pending():
                    return
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass

    def frame(self) -> bytes | None:
        """Return the next vector, if it is whole."""
        if len(self.came) < LENGTH.size:
            return None
        end = LENGTH.size + LENGTH.unpack_from(self.came)[0]
        if len(self.came) < end:
            return None
        vector = bytes(memoryview(self.came)[LENGTH.size : end])
        del self.came[:end]
        return vector


def polling(place: Place) -> Times:
    """Exchange over a poll loop."""
    links = {each.tls.fileno(): each for each in _connected(place)}
    frame = LENGTH.pack(len(place.vector)) + place.vector
    poll = select.poll()
    for number in links:
        poll.register(number, select.POLLIN)

    def exchange() -> None:
        missing = set(links)
        for number, link in links.items():
            link.unsent = memoryview(frame)
            if link.push():
                poll.modify(number, select.POLLIN | select.POLLOUT)
            if link.frame() is not None:
                missing.discard(number)
        while missing or any(link.unsent for link in links.values()):
            for number, event in poll.poll():
                link = links[number]
                if event & select.POLLOUT and not link.push():
                    poll.modify(number, select.POLLIN)
                if event & select.POLLIN:
                    link.take()
                    if number in missing and link.frame() is not None:
                        missing.discard(number)

    for _ in range(WARM):
        exchange()
    first, cpu = time.monotonic(), time.process_time()
    for _ in range(place.rounds):
        exchange()
    times = Times(first, time.monotonic(), time.process_time() - cpu)
    time.sleep(0.5)  # a neighbour may still be reading
    return times


def _connected(place: Place) -> list[_Link]:
    """Dial those before this agent, and let in those behind it."""
    client = context(*place.pair, place.trusted, server=False)
    server = context(*place.pair, place.trusted, server=True)
    with socket.create_server(("127.0.0.1", place.ports[place.me])) as port:
        dialled = [_dialled(place.ports[name]) for name in filter(place.dials, place.neighbours)]
        links = [_Link(_ready(client.wrap_socket(raw))) for raw in dialled]
        while len(links) < len(place.neighbours):
            links.append(_Link(_ready(server.wrap_socket(port.accept()[0], server_side=True))))
    return links


def _dialled(port: int) -> socket.socket:
    """Dial until somebody answers."""
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            time.sleep(0.05)


def _ready(tls: ssl.SSLSocket) -> ssl.SSLSocket:
    tls.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tls
