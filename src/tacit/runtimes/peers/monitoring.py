"""How an agent is, over HTTP on the loopback: for Prometheus, for health checks, for scripts.

    /metrics   counters and gauges, as Prometheus reads them
    /health    200 while the agent can go on by itself, 503 when its own links have failed
    /status    its bulletin, as JSON

A neighbour that is away makes nobody unhealthy: waiting is what agents do, and a restart would not bring it back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from tacit.errors import NetworkError
from tacit.listing import conjoined
from tacit.runtimes.peers.bulletin import Bulletin
from tacit.runtimes.peers.metrics import registry


class HttpReply(NamedTuple):
    """What is answered."""

    code: int
    kind: str
    """The media type."""
    body: bytes


def pages(bulletin: Callable[[], Bulletin]) -> dict[str, Callable[[], HttpReply]]:
    """Return what is served where."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # few ask for it

    collected = registry(bulletin)

    def health() -> HttpReply:
        if bulletin().failed:
            return HttpReply(503, "text/plain", b"the links of this agent have failed\n")
        return HttpReply(200, "text/plain", b"ok\n")

    return {
        "/metrics": lambda: HttpReply(200, CONTENT_TYPE_LATEST, generate_latest(collected)),
        "/health": health,
        "/status": lambda: HttpReply(200, "application/json", msgspec.json.encode(bulletin()) + b"\n"),
    }


@contextmanager
def serve_monitoring(bulletin: Callable[[], Bulletin], port: int | None) -> Iterator[int | None]:
    """Serve the pages while the agent runs, and yield the port: a free one for 0, and nothing without one."""
    if port is None:
        yield None
        return
    with serve_pages(pages(bulletin), port, what="metrics") as taken:
        yield taken


@contextmanager
def serve_pages(shown: Mapping[str, Callable[[], HttpReply]], port: int, *, what: str) -> Iterator[int]:
    """Serve pages on the loopback, and yield the port: a free one for 0."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # heavy, and few ask for it

    nowhere = HttpReply(404, "text/plain", f"there is {conjoined(shown)}\n".encode())

    class Answers(BaseHTTPRequestHandler):
        timeout = 10.0  # seconds for a request to come

        def do_GET(self) -> None:
            """Answer with a page."""
            page = shown.get(self.path.partition("?")[0], lambda: nowhere)()
            self.send_response(page.code)
            self.send_header("Content-Type", page.kind)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Answers)
    except OSError as error:
        raise NetworkError(f"cannot serve {what} on port {port} of the loopback ({error.strerror}).") from error
    thread = threading.Thread(target=server.serve_forever, name="tacit-monitoring", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
