"""The worst coalition against brute force, and how long larger graphs take.

Brute force removes every coalition in turn and asks `numpy.linalg.eigvalsh` for μ₂ of what is left. It is
timed on a size where it can finish; for larger ones the number of eigenproblems it would need is printed.
"""

from __future__ import annotations

import math
import time
from itertools import combinations

import networkx as nx
import numpy as np

from benchmarks.timing import side_by_side
from tacit.certificates.worst import Worst, worst_coalition_indices
from tacit.network import Network

_TARGETS = {(200, 3): 2.0, (1000, 2): 10.0, (1000, 3): 60.0, (200, 4): 30.0}
_QUICK_TARGETS = {(1000, 3): 3.0, (10_000, 3): 60.0}


def main() -> None:
    """Print three tables."""
    print("\nWorst coalition of a random 8-regular graph, against brute force with numpy.linalg.eigvalsh")
    network = Network(nx.random_regular_graph(8, 100, seed=7))
    mine, theirs, ratio = side_by_side(
        lambda: worst_coalition_indices(network, 2), lambda: _brute_force(network, 2), turns=3
    )
    assert math.isclose(worst_coalition_indices(network, 2).mu, _brute_force(network, 2), rel_tol=1e-6)
    print(f"n = 100, t = 2: search {mine:.3f} s, brute force {theirs:.3f} s, ratio {ratio:.3f}")

    print(f"\n{'n':>7}{'t':>4}{'m_t':>10}{'seconds':>10}{'target':>8}   coalitions to try otherwise")
    for (n, t), target in _TARGETS.items():
        found, seconds = _timed(n, t, quick=False)
        verdict = "" if seconds <= target else "  over the target"
        print(f"{n:>7}{t:>4}{found.mu:>10.4f}{seconds:>10.2f}{target:>8.0f}   {math.comb(n, t):,}{verdict}")

    print(f"\nQuick bound\n{'n':>7}{'t':>4}{'bound':>10}{'seconds':>10}{'target':>8}")
    for (n, t), target in _QUICK_TARGETS.items():
        found, seconds = _timed(n, t, quick=True)
        verdict = "" if seconds <= target else "  over the target"
        print(f"{n:>7}{t:>4}{found.mu:>10.4f}{seconds:>10.2f}{target:>8.0f}{verdict}")


def _timed(n: int, t: int, *, quick: bool) -> tuple[Worst, float]:
    network = Network(nx.random_regular_graph(8, n, seed=7))
    start = time.perf_counter()
    found = worst_coalition_indices(network, t, quick=quick)
    return found, time.perf_counter() - start


def _brute_force(network: Network, t: int) -> float:
    A = network.adjacency.toarray()
    least = math.inf
    for coalition in combinations(range(len(network)), t):
        left = np.delete(np.delete(A, coalition, axis=0), coalition, axis=1)
        least = min(least, float(np.linalg.eigvalsh(np.diag(left.sum(axis=0)) - left)[1]))
    return least
