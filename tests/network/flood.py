"""Strangers in a process of their own: `flood.py PORT COUNT [WORDS]` opens connections, and opens again what is closed.

Prints a line when all have called once. Every stranger says the bytes WORDS (in hexadecimal), then nothing.
"""

from __future__ import annotations

import resource
import select
import socket
import sys


def main(port: int, count: int, words: bytes) -> None:
    """Hold so many connections until standard input is closed."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held: list[socket.socket] = []
    for _ in range(count):
        stranger = socket.socket()
        stranger.setblocking(False)
        stranger.connect_ex(("127.0.0.1", port))
        held.append(stranger)
        if words:
            ready = select.poll()
            ready.register(stranger, select.POLLOUT)
            ready.poll(100)
            try:
                stranger.send(words)
            except OSError:
                continue
    print("all have called", flush=True)
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        for k in range(0, count, max(1, count // 10)):  # some come again
            held[k].close()
            held[k] = socket.socket()
            held[k].setblocking(False)
            held[k].connect_ex(("127.0.0.1", port))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), bytes.fromhex(sys.argv[3]) if len(sys.argv) > 3 else b"")
