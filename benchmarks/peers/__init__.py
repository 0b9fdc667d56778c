"""Real agents over TLS, as `tacit agent` runs them: rounds a second beside references, and what an agent costs.

`throughput` compares exchanges, `footprint` tells what whole runs take, and `together` what `tacit up` does.
`agents` runs tacit; `streams`, `polling` and `grpc_links` are the references; `processes` starts them all alike.
"""

from __future__ import annotations


def main() -> None:
    """Print all tables."""
    from benchmarks.peers.footprint import footprint  # here: agents that are measured load this package, too
    from benchmarks.peers.throughput import throughput
    from benchmarks.peers.together import together

    throughput()
    footprint()
    together()
