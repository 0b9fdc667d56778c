"""Direct solution of quadratic costs: one sum.

    (q, P) = Σ_i (q_i, P_i)
    x = argmin ½ xᵀPx + qᵀx + ψ(x)        by every agent for itself

After one sum all agents know the aggregate, which is all that the optimum depends on; penalties and a common box
are added up and minimised in the same way, so that a lasso is one sum too. A tree sum takes 2·depth hops, where a
gossip algorithm takes hundreds of rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.algorithms.penalised import Penalty, minimise
from tacit.costs import pack, packed_size, unpack
from tacit.errors import AlgorithmError
from tacit.typing import Array, Cost, Peers


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the minimiser, after the one round
    error: Array  # of x, from rounding alone; infinite before


@dataclass(frozen=True, slots=True)
class Direct:
    """Settings of the direct solution: there are none."""

    exact: ClassVar[bool] = True
    handles_rough: ClassVar[bool] = True
    handles_nonconvex: ClassVar[bool] = True
    sums: ClassVar[tuple[str, ...]] = ("gradients", "Hessians")
    weights: ClassVar[str] = "metropolis"

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return the settings; refuse costs that are not quadratic."""
        below, above = landscape.cost.total_curvature()
        if not np.array_equal(below, above):
            raise AlgorithmError(
                "'direct' solves quadratic costs in one sum, and one of these bends differently from place to "
                "place; use algorithm='newton'."
            )
        return cls()

    def init(self, x: Array, cost: Cost) -> State:
        """Start with nothing known."""
        return State(x=x, error=np.array(np.inf))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Add up gradients, Hessians and penalties, and minimise."""
        m = cost.dim
        x = np.zeros(m)  # where a gradient is q to the last bit, whatever P is
        g = cost.grad(x)
        H = np.broadcast_to(pack(cost.hess(x)), (*g.shape[:-1], packed_size(m)))
        total = peers.sum(np.concatenate([g, H, cost.penalty], axis=-1))
        penalty = Penalty.of(total[-2 * m :], cost.limits)
        least = minimise(x, total[:m], unpack(total[m : -2 * m], m), penalty, blur=m * peers.resolution)
        return State(x=least, error=m * np.finfo(float).eps * np.abs(least).max())
