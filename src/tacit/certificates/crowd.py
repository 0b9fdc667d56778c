"""The worst agent, or pair of agents, among thousands: m₁ and m₂ exactly, without decomposing the graph.

M at one θ (see `threshold`) takes one Cholesky factorisation. A good coalition C gives θ = μ₂(G − C), and every
other one is cleared at that θ or tried. For pairs, with F_uv² = Σ_e |V_uᵀ B_uᵀ M b_e|² over the links e of v,

    c_uv ≤ F_uv,    λ_max(S_uv) ≤ 1  ⟺  s_u, s_v ≤ 1 and c_uv² ≤ (1 − s_u)(1 − s_v)

so that a pair is tried only where F_uv² > (1 − s_u)(1 − s_v). F is worked out for a few agents u at a time: no
second matrix of n × n numbers is ever there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.certificates.threshold import Threshold
from tacit.later import later
from tacit.network import Topology, algebraic_connectivity
from tacit.typing import Array, Indices

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = later("scipy.sparse")

LARGEST = 2
"""The largest coalition that is searched for: triples would need couplings between all agents at once."""
_BLOCK = 16  # agents whose couplings are worked out at a time
_TOGETHER = 4096  # coalitions judged at a time
_WEAKEST = 512  # agents around whom a good coalition is looked for
_MEASURED = 8  # coalitions that look worst at one θ and are measured
_PROOF = 1e-7  # relative slack of a proof
_ROUNDING = 1e-9


class Crowd:
    """A large connected graph, asked which coalition of one or two agents leaves the least μ₂."""

    def __init__(self, topology: Topology, t: int, scales: Array | None) -> None:
        self.topology, self.t, self.scales = topology, t, scales
        self.threshold = Threshold(topology, scales)
        widths = np.ones(len(topology.links)) if scales is None else np.asarray(scales, dtype=np.float64)
        self.whole = algebraic_connectivity(topology.scaled_laplacian(scales))
        """μ₂(G), which m_t never exceeds."""
        self._differences = sp.csr_array((topology.incidence @ sp.diags_array(widths)).T)  # (|E|, n)
        self._touching = sp.csr_array(abs(topology.incidence))  # (n, |E|)

    def worst(self, theta: float, on_progress: Callable[[float], None]) -> tuple[float, tuple[int, ...]]:
        """Return m_t and its coalition; no coalition of t may be known to go below *theta* < μ₂.

        *on_progress* hears the share that is done, and may end the search by raising.
        """
        mu, best = self._turn(theta, partial(_advance, on_progress, 0))
        for turn in count(1):
            mu = min(mu, self.whole)  # whoever leaves, some coalition does not raise μ₂
            theta = mu * (1.0 - _PROOF)
            lower, coalition = self._turn(theta, partial(_advance, on_progress, turn), proving=True)
            if lower >= theta:  # next to μ₂(G) a peak may exceed 1 by rounding alone
                break
            mu, best = lower, coalition
        return mu, best

    def _turn(
        self, theta: float, on_progress: Callable[[float], None], *, proving: bool = False
    ) -> tuple[float, tuple[int, ...]]:
        """Return the best coalition around the weakest agents at θ; *proving*, any below θ."""
        at = self._at(theta)
        weakest = np.argsort(-at.single)[:_WEAKEST]
        nearest = [block.nearest for block in self._blocks(at, weakest, lambda _: on_progress(0.0))]
        lowest = self._lowest(at, np.concatenate(nearest))
        if proving and lowest[0] >= theta:
            everybody = self._blocks(at, np.arange(len(self.topology)), on_progress)
            return self._lowest(at, np.concatenate([self._above(at, block.suspects) for block in everybody]))
        return lowest

    def without(self, coalition: Indices) -> float:
        """Return μ₂(G − C), which is 0 where C is a cut."""
        gone = np.zeros(len(self.topology), dtype=bool)
        gone[coalition] = True
        honest = self.topology.without(self.topology.agents[i] for i in coalition)
        if len(honest.components) > 1:
            return 0.0
        kept = ~gone[self.topology.links].any(axis=1)
        return algebraic_connectivity(honest.scaled_laplacian(None if self.scales is None else self.scales[kept]))

    def _at(self, theta: float) -> _Level:
        M = self.threshold.resolvent_by_inversion(theta)
        M = M if M.flags.c_contiguous else M.T  # it is symmetric
        single, vectors = self.threshold.singles(M)
        return _Level(theta, M, single, vectors)

    def _blocks(self, at: _Level, agents: Indices, on_progress: Callable[[float], None]) -> Iterator[_Block]:
        """Yield the coalitions of *agents* that S does not clear, a few agents at a time."""
        if self.t == 1:
            on_progress(0.0)
            yield _Block(agents[:, None], agents[at.single[agents] > 1.0 - _ROUNDING][:, None])
            return
        T = self.threshold.projected_columns(at.vectors)
        width, room = at.vectors.shape[2], np.maximum(1.0 - at.single, 0.0)
        for start in range(0, len(agents), _BLOCK):
            on_progress(start / len(agents))
            u = agents[start : start + _BLOCK]
            rows = (u[:, None] * width + np.arange(width)).ravel()
            Y = np.ascontiguousarray((T[rows] @ at.M).T)  # (n, width·|u|)
            along = np.square(self._differences @ Y).reshape(-1, len(u), width).sum(axis=2)
            F = (self._touching @ along).T  # squared, (|u|, n)
            F[np.arange(len(u)), u] = -np.inf
            nearest = np.column_stack([u, np.argmax(np.sqrt(np.maximum(F, 0.0)) + at.single, axis=1)])
            near, far = np.nonzero(room[u][:, None] * room * (1.0 - _ROUNDING) < F)
            yield _Block(nearest[nearest[:, 0] != nearest[:, 1]], np.column_stack([u[near], far]))

    def _peaks(self, at: _Level, coalitions: Indices) -> Array:
        parts = np.split(coalitions, range(_TOGETHER, len(coalitions), _TOGETHER))
        return np.concatenate([self.threshold.peaks(at.M, part) for part in parts])

    def _above(self, at: _Level, suspects: Indices) -> Indices:
        """Return the suspects that go below θ."""
        return suspects[self._peaks(at, suspects) > 1.0] if len(suspects) else suspects

    def _lowest(self, at: _Level, coalitions: Indices) -> tuple[float, tuple[int, ...]]:
        """Return the least μ₂(G − C) of those coalitions that look worst at θ, which are measured; ∞ of none."""
        if not len(coalitions):
            return math.inf, ()
        coalitions = np.unique(np.sort(coalitions, axis=1), axis=0)
        first = coalitions[np.argsort(-self._peaks(at, coalitions))[:_MEASURED]]
        return min((self.without(c), tuple(int(i) for i in c)) for c in first)


class _Level(NamedTuple):
    """One θ with its M, s_v and V_v."""

    theta: float
    M: Array
    single: Array
    vectors: Array


class _Block(NamedTuple):
    """Coalitions around a few agents: each with its closest partner, and those that are not cleared."""

    nearest: Indices
    suspects: Indices


def _advance(on_progress: Callable[[float], None], turn: int, share: float) -> None:
    on_progress((turn + share) / (turn + 2.0))
