"""All agents at once: arrays carry a leading agent axis, and a round is a handful of array operations.

The embedded default. Directed links are rows, sorted by the agent that owns them and then by the
neighbour, so that what one agent owns lies together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.costs.pieces import Pieces
from tacit.later import later
from tacit.masks import Keystreams, agent_keys
from tacit.network import Network, mixing_weights
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.job import Hide, Job, Run
from tacit.runtimes.looking import Look
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap
from tacit.runtimes.traffic import Traffic
from tacit.typing import Array, Numbers, Peers, Rows

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = later("scipy.sparse")

DENSE = 64  # up to here a dense product is faster than a sparse one


class ManyAgents:
    """`Peers` of many agents at once, and how much they say: rows of agents, and rows of their directed links.

    What reaches beyond these agents is left to whoever derives from it: `_weighted` and `_gathered` are the two
    products, `_traded` lets rows of links trade places, and `_over_all` adds up with all the others.
    """

    resolution = 0.0
    _weighted: Callable[[Array], Array]
    _gathered: Callable[[Array], Array]

    def __init__(self, degrees: NDArray[np.intp], first: Rows) -> None:
        self._traffic = Traffic()
        self._has_summed = False  # whether there was a total
        self._gossips = self._gossiped = 0  # times, and bytes of all agents' own rows
        self.degree: Array = degrees.astype(np.float64)[:, None]
        self.links, self.first = int(degrees.sum()), first
        self._starts = np.concatenate([[0], np.cumsum(degrees)[:-1]])
        self._common_degree = int(degrees[0]) if np.ptp(degrees) == 0 else 0

    @property
    def traffic(self) -> Traffic:
        """What was sent so far."""
        traffic = dataclasses.replace(self._traffic)
        gossiped = self.links * self._gossiped // len(self.degree)
        traffic.count(exchanges=self._gossips, messages=self._gossips * self.links, bytes=gossiped)
        return traffic

    def mix(self, x: Array) -> Array:
        """Return W x."""
        self._gossips += 1
        self._gossiped += x.nbytes
        return self._weighted(x)

    def gather(self, x: Array) -> Array:
        """Return the sums over the neighbours."""
        self._gossips += 1
        self._gossiped += x.nbytes
        return self._gathered(x)

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Let row (i, j) trade places with row (j, i)."""
        if known is not None:
            self._traffic.count(
                exchanges=self._has_summed and not more, messages=0, bytes=0
            )  # digests are compared
            return known
        if only is not None:
            r = np.where(only[:, None], r, r.dtype.type(0))
        sent = self.links if only is None else int(only.sum())
        self._traffic.count(exchanges=not more, messages=0 if more else sent, bytes=sent * r[0].nbytes)
        return self._traded(r)

    def total(self, r: Numbers) -> Numbers:
        """Add up the rows that each agent owns."""
        if self._common_degree:  # many times faster than `reduceat`
            return r.reshape(len(self.degree), self._common_degree, *r.shape[1:]).sum(axis=1)
        return np.add.reduceat(r, self._starts, axis=0)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the sum over the agents, counted as the spanning tree's 2·depth hops."""
        self._count_sum(v.nbytes // len(self.degree))
        pieces: Any = v.pieces() if isinstance(v, Pieces) else [v]
        sums = [piece.sum(axis=0) if add is np.add else reduce(add, piece) for piece in pieces]
        self._has_summed = True
        return self._over_all(sums[0] if len(sums) == 1 else np.concatenate(sums), add)

    def _traded(self, r: Any) -> Any:
        raise NotImplementedError

    def _over_all(self, v: Any, add: Callable[[Any, Any], Any]) -> Any:
        raise NotImplementedError

    def _count_sum(self, row: int) -> None:
        raise NotImplementedError


class Stacked(ManyAgents):
    """`Peers` for a whole network in one process."""

    def __init__(self, network: Network, weights: str = "metropolis") -> None:
        self.network = network
        i, j = network.links.T
        owner, neighbour = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.lexsort((neighbour, owner))
        super().__init__(network.degrees, (owner < neighbour)[order])
        self._weighted = product(mixing_weights(network, weights))
        self._gathered = product(network.adjacency)
        place = np.empty_like(order)
        place[order] = np.arange(self.links)
        self._reverse = np.concatenate([place[len(i) :], place[: len(i)]])[order]

    def _traded(self, r: Any) -> Any:
        return np.take(r, self._reverse, axis=0)

    def _over_all(self, v: Any, add: Callable[[Any, Any], Any]) -> Any:
        return v

    def _count_sum(self, row: int) -> None:
        n, depth = len(self.network), self.network.tree.depth
        self._traffic.count(exchanges=2 * depth, messages=2 * (n - 1), bytes=2 * (n - 1) * row)


def product(matrix: sp.csr_array) -> Callable[[Array], Array]:
    """Return x ↦ matrix·x; `dot` of a small dense array has the least overhead of all."""
    return matrix.toarray().dot if matrix.shape[0] <= DENSE else matrix.__matmul__


def run(
    job: Job,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    tap: Tap | None = None,
    hide: Hide | None = None,
) -> Run:
    """Run both phases for all agents at once; *tap* listens at links, and *hide* stands in for phase 1."""
    network, stacked = job.network, Stacked(job.network, job.weights)
    cost: Any = job.stack
    peers: Peers = stacked if tap is None else tap.together(stacked)
    if job.privacy is not None:
        source = Keystreams(agent_keys(len(network), seed=job.privacy.seed), network.degrees)
        cost, peers = (hide or job.privacy.hide)(cost, peers, source, network=network)
    watch, observer = job.watch(on_progress), job.observer()
    x0 = job.x0 if job.algorithm.sums else np.tile(job.x0, (len(network), 1))
    with np.errstate(over="ignore", invalid="ignore"):  # a diverging run is judged, not warned about
        state = job.algorithm.init(x0, cost)
        done, conclusion = 0, None
        while conclusion is None:
            for _ in range(watch.next_check(done) - done):
                before = state
                state = job.algorithm.step(state, peers, cost)
                done += 1
            conclusion = watch.look(done, Look.read(observer.tell(before, state)))
    x = np.broadcast_to(state.x, (len(network), cost.dim))
    findings = job.findings(state)
    doubt = Doubt.of(findings)
    return Run(
        x=x, rounds=done, traffic=stacked.traffic, verdict=conclusion.with_doubt(doubt),
        history=tuple(watch.history), doubt=doubt, noise=findings.noise,
        errors=findings.errors,
    )  # fmt: skip
