"""Phase 1 against the same exchange with NumPy's PCG64 normals.

The reference draws r with `Generator.standard_normal`, swaps and adds up just as tacit does. It is not
private: its generator can be run backwards, its masks do not cancel exactly, and its low bits tell.
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from benchmarks.timing import side_by_side
from tacit.masks import AffineMasks, Keystreams, agent_keys, draw, mask
from tacit.network import Network
from tacit.runtimes import Stacked

_TARGET = 3.0


def main() -> None:
    """Print one line per size."""
    print(f"\nPhase 1, milliseconds (target: at most {_TARGET} × PCG64 normals for n = m = 1000)")
    print(f"{'n':>7}{'m':>6}{'d':>4}{'tacit':>10}{'PCG64':>10}{'ratio':>8}")
    for n, m, d in ((10, 10, 4), (100, 100, 4), (1000, 1000, 4), (10_000, 10, 8)):
        network = Network(nx.random_regular_graph(d, n, seed=1))
        peers, sigma = Stacked(network), 1e3
        lattice = AffineMasks(sigma).lattice(agents=n, links=len(network.links))
        rng = np.random.default_rng(0)

        def ours(network=network, peers=peers, lattice=lattice, m=m) -> object:
            source = Keystreams(agent_keys(len(network)), network.degrees)
            return mask(draw(source, (peers.links, m), lattice), peers)

        def theirs(peers=peers, rng=rng, m=m, sigma=sigma) -> object:
            return mask(sigma * rng.standard_normal((peers.links, m)), peers)

        mine, reference, ratio = side_by_side(ours, theirs)
        verdict = "  over the target" if n == m == 1000 and ratio > _TARGET else ""
        print(f"{n:>7}{m:>6}{d:>4}{1e3 * mine:>10.2f}{1e3 * reference:>10.2f}{ratio:>8.2f}{verdict}")
