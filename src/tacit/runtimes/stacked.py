"""All agents at once: arrays carry a leading agent axis, and a round is a handful of array operations.

The embedded default. Directed links are rows, sorted by the agent that owns them and then by the
neighbour, so that what one agent owns lies together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from tacit.masks import Keystreams, agent_keys
from tacit.network import Network, mixing_weights
from tacit.runtimes.job import Job, Run
from tacit.runtimes.stopping import Progress, Watch, drift
from tacit.typing import Array

_DENSE = 64  # up to here a dense product is faster than a sparse one


class Stacked:
    """`Peers` for a whole network in one process."""

    def __init__(self, network: Network, weights: str = "metropolis") -> None:
        self.network = network
        self.exchanges = 0
        """How often all agents have sent something to all their neighbours."""
        self.degree: Array = network.degrees.astype(np.float64)[:, None]
        self.links = 2 * len(network.links)
        self._weighted = _product(mixing_weights(network, weights))
        self._gathered = _product(network.adjacency)
        i, j = network.links.T
        owner, neighbour = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.lexsort((neighbour, owner))
        place = np.empty_like(order)
        place[order] = np.arange(self.links)
        self._reverse = np.concatenate([place[len(i) :], place[: len(i)]])[order]
        self._starts = np.concatenate([[0], np.cumsum(network.degrees)[:-1]])

    def mix(self, x: Array) -> Array:
        """Return W x."""
        self.exchanges += 1
        return self._weighted(x)

    def gather(self, x: Array) -> Array:
        """Return the sums over the neighbours."""
        self.exchanges += 1
        return self._gathered(x)

    def swap(self, r: Array) -> Array:
        """Let row (i, j) trade places with row (j, i)."""
        self.exchanges += 1
        return r[self._reverse]

    def total(self, r: Array) -> Array:
        """Add up the rows that each agent owns."""
        return np.add.reduceat(r, self._starts, axis=0)


def _product(matrix: sp.csr_array) -> Callable[[Array], Array]:
    """Return x ↦ matrix·x; `dot` of a small dense array has the least overhead of all."""
    return matrix.toarray().dot if matrix.shape[0] <= _DENSE else matrix.__matmul__


def run(job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
    """Run both phases for all agents at once."""
    peers = Stacked(job.network, job.weights)
    cost = job.stack
    if job.privacy is not None:
        keys = agent_keys(len(job.network), seed=job.privacy.seed)
        lattice = job.privacy.lattice(agents=len(job.network), links=len(job.network.links))
        scales = job.privacy.row_scales(job.network)
        cost = job.privacy.hide(cost, peers, Keystreams(keys, job.network.degrees), lattice, scales)
    watch = Watch(job.rule, floor=job.floor, exact=job.exact, on_progress=on_progress)
    x0 = np.tile(job.x0, (len(job.network), 1))
    with np.errstate(over="ignore", invalid="ignore"):  # a diverging run is judged, not warned about
        state = job.algorithm.init(x0, cost)
        done, verdict = 0, None
        while verdict is None:
            for _ in range(watch.next_check(done) - done):
                before = state
                state = job.algorithm.step(state, peers, cost)
                done += 1
            verdict = watch.look(done, before.x, state.x, drift(before, state))
    return Run(x=state.x, rounds=done, exchanges=peers.exchanges, verdict=verdict, history=tuple(watch.history))
