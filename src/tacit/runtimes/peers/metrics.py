"""Counters of one agent for Prometheus, on the loopback only. Nothing in them depends on a cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tacit.runtimes.peers.agent import Agent


def metrics(agent: Agent) -> str:
    """Return the counters as text."""
    lines = []
    for neighbour in agent.connections.neighbours.values() if agent.connections else ():
        label = f'{{neighbour="{neighbour.name}"}}'
        heard = time.monotonic() - neighbour.last_seen if neighbour.last_seen else -1.0
        lines += [
            f"tacit_link_up{label} {int(neighbour.open)}",
            f"tacit_link_connections_total{label} {neighbour.connected}",
            f"tacit_link_violations_total{label} {neighbour.violations}",
            f"tacit_link_sent_bytes_total{label} {neighbour.bytes_out}",
            f"tacit_link_received_bytes_total{label} {neighbour.bytes_in}",
            f"tacit_link_messages_used_total{label} {neighbour.channel.used}",
            f"tacit_link_last_heard_seconds{label} {heard:.3f}",
        ]
    return "\n".join(lines) + "\n"


@contextmanager
def serve_metrics(agent: Agent, port: int | None) -> Iterator[int | None]:
    """Serve the counters while the agent runs, and yield the port: a free one for 0, and nothing without one."""
    if port is None:
        yield None
        return
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # heavy, and few ask for it

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer with the counters."""
            body = metrics(agent).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
