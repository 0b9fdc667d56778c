"""Real agents over TLS, as `tacit agent` runs them: rounds a second beside references, and what an agent costs.

`throughput` compares exchanges, `footprint` tells what whole runs take. `agents` runs tacit; `streams`, `polling`
and `grpc_links` are the references; `processes` starts them all alike.
"""

from __future__ import annotations

from benchmarks.peers.footprint import footprint
from benchmarks.peers.throughput import throughput


def main() -> None:
    """Print both tables."""
    throughput()
    footprint()
