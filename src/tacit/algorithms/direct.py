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
from tacit.algorithms.trial import hessian
from tacit.costs import unpack
from tacit.errors import AlgorithmError, UnboundedError
from tacit.typing import Array, Cost, Peers, Summand


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
    sums: ClassVar[tuple[Summand, ...]] = (Summand.GRADIENTS, Summand.HESSIANS)
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
        total = peers.sum(np.concatenate([cost.grad(x), hessian(x, cost), cost.penalty], axis=-1))
        g, H = total[:m], unpack(total[m : -2 * m], m)
        penalty, blur = Penalty.of(total[-2 * m :], cost.limits), m * peers.resolution
        _refuse_unbounded(g, H + np.diag(penalty.l2), penalty, blur)
        least = minimise(x, g, H, penalty, blur=blur)
        return State(x=least, error=np.finfo(float).eps * np.abs(least).max())


def _refuse_unbounded(g: Array, H: Array, penalty: Penalty, blur: float) -> None:
    """Refuse a sum that bends down, or that slopes where it is flat and nothing else holds x."""
    values, vectors = np.linalg.eigh(H)
    rounding = max(blur, len(g) * 1e-13 * float(np.abs(values).max(initial=0.0)))
    if values[0] < -rounding:
        raise UnboundedError("the sum of the costs is not convex: its curvature is negative in some direction.")
    slope = np.abs(vectors[:, values <= rounding].T @ g).max(initial=0.0)
    if not penalty.is_rough and slope > 1e-9 * np.abs(g).max() + 10.0 * blur:
        raise UnboundedError(
            "the sum of the costs is unbounded below: it is flat in some direction and slopes down along it; add "
            "data or a small l2 penalty."
        )
