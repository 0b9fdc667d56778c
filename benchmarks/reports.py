"""What a report costs: writing the file of an audit of fifty agents, beside the audit itself."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from time import process_time

import networkx as nx
import numpy as np

import tacit

_AGENTS = 50
_MOST = 6e6  # bytes


def main() -> None:
    """Print the seconds of this process for both, their ratio, and the size of the file."""
    network = nx.random_regular_graph(4, _AGENTS, seed=1)
    rng = np.random.default_rng(0)
    problem = tacit.Problem(network, [tacit.Quadratic.distance(rng.normal(size=2)) for _ in network])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = process_time()
        audit = tacit.audit(problem, {0}, privacy=tacit.AffineMasks(50.0), games=200, seed=1)
        attacked = process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        start = process_time()
        size = audit.report(Path(folder) / "audit.html").stat().st_size
        written = process_time() - start
    print(f"\nA report of an audit of {_AGENTS} agents")
    print(f"audit {attacked:.1f} s, report {written:.2f} s (ratio {written / attacked:.2f}), {size / 1e6:.1f} MB")
    assert size <= _MOST, size
