"""Direct solution of quadratic costs: one sum.

    (q, P) = Σ_i (q_i, P_i)
    x = argmin ½ xᵀPx + qᵀx + ψ(x)        by every agent for itself

Where unknowns are nearly collinear, more sums in better bases find what squaring has lost (`directions`).
After one sum all agents know the aggregate, which is all that the optimum depends on; penalties and a common box
are added up and minimised in the same way, so that a lasso is one sum too. A tree sum takes 2·depth hops, where a
gossip algorithm takes hundreds of rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.directions import NOTICED, Directions, Sight
from tacit.algorithms.landscape import Landscape
from tacit.algorithms.penalised import Penalty, minimise
from tacit.algorithms.trial import model
from tacit.costs import unpack
from tacit.errors import AlgorithmError, UnboundedError
from tacit.typing import Algorithm, Array, Cost, Findings, Peers, Summand

_SURE = 4.0  # noises that a negative curvature must stand out by


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the minimiser, after the last round
    error: Array  # of x, from rounding alone; infinite before
    fell: Array  # by how much the sum has fallen since x = 0
    loose: Array  # how much every unknown has to do with what no sum can tell, 0 to 1
    bound: Array  # the most that is left to gain; infinite where nothing bounds it
    B: Array  # the rest says how the summed Hessian is looked at: `Sight`
    sizes: Array
    bases: Array
    factored: Array
    lowest: Array


@dataclass(frozen=True, slots=True)
class Direct(Algorithm):
    """Settings of the direct solution: there are none."""

    handles_rough = True
    handles_nonconvex = True
    sums = (Summand.GRADIENTS, Summand.HESSIANS)

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

    def findings(self, state: State) -> Findings:
        """Return what is left in doubt."""
        return Findings(loose=state.loose, bound=state.bound, fell=state.fell)

    def init(self, x: Array, cost: Cost) -> State:
        """Start with nothing known."""
        infinite, zero = np.array(np.inf), np.zeros(cost.dim)
        return State(
            x=x, error=infinite, fell=np.array(0.0), loose=zero, bound=infinite, **Sight.plain(cost.dim)._asdict()
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Add up gradients, Hessians and penalties, and minimise; once more in a better basis where that helps."""
        m, sight = cost.dim, Sight(*state[-5:])
        x = (
            np.zeros(m) if np.isinf(state.bound) and sight.is_plain else state.x
        )  # at 0 a gradient is q to the last bit
        sight = sight.asked(cost, peers)
        total = peers.sum(np.concatenate([*model(x, cost, sight), cost.penalty], axis=-1))
        g, H = total[:m], unpack(total[m : -2 * m], m)
        penalty = Penalty.of(total[-2 * m :], cost.limits)
        seen = sight.directions(H + sight.B.T @ (penalty.l2[:, None] * sight.B), peers.resolution)
        if (seen.curvature[~seen.lost] < -_SURE * seen.noise[~seen.lost]).any():
            raise UnboundedError("the sum of the costs is not convex: its curvature is negative in some direction.")
        if penalty.is_rough:
            least = _rough(state, x, minimise(x, g, H, penalty, blur=m * peers.resolution), g, H, penalty, seen)
            if least.loose.any():  # nothing better bounds it than that costs have a lowest value
                lowest = sight._replace(bases=np.array(1)).asked(cost, peers).lowest
                return least._replace(bound=-lowest if np.isfinite(lowest) else np.array(np.inf))
            return least
        slope = seen.slope(g + (penalty.l2 * x) @ sight.B)
        p, fell = seen.step(slope), float(state.fell) + seen.gain(slope)
        done = not seen.vague.any()
        bound = _bound(seen, slope, sight, fell, peers.resolution) if done else np.inf
        error = np.finfo(float).eps * np.abs(x + p).max() if done else np.inf
        loose = seen.loose(fell, float(bound)) if done else np.zeros(m)
        return State(x + p, np.asarray(error), np.array(fell), loose, np.asarray(bound), *sight.next(seen))


def _rough(state: State, x: Array, least: Array, g: Array, H: Array, penalty: Penalty, seen: Directions) -> State:
    """Return the state at the minimiser of a sum with kinks or limits, found from g and H at x.

    Where curvature is vague the gradient there is looked at too; two looks that disagree leave a doubt.
    """
    p, first = least - x, bool(np.isinf(state.bound))
    gain = penalty.value(x) - penalty.value(least) - float(g @ p) - 0.5 * float(p @ H @ p)
    if first and seen.vague.any():
        return state._replace(x=least, bound=np.array(0.0))
    state = state._replace(
        x=least, error=np.asarray(np.finfo(float).eps * np.abs(least).max()), bound=np.array(0.0)
    )
    q, bend = g - H @ x, np.diag(H)
    rounding = float(np.finfo(float).eps * (q[bend > 0] ** 2 / bend[bend > 0]).max(initial=0.0))
    fell = -float(q @ least) - 0.5 * float(least @ H @ least) - penalty.value(least)
    if first or abs(gain) <= NOTICED * fell + rounding:
        return state
    return state._replace(loose=seen.involved(), fell=np.array(max(fell, 0.0)))


def _bound(seen: Directions, slope: Array, sight: Sight, fell: float, resolution: float) -> float:
    """Return the most that can be left to gain; refuse a sum that slopes down where it is flat."""
    left = max(-fell - float(sight.lowest), 0.0) if np.isfinite(sight.lowest) else np.inf
    sure = min(seen.doubt() * fell, left)
    if not seen.lost.any():
        return sure
    if np.isfinite(left):
        return left
    steepest = np.abs(slope).max(initial=0.0)
    width = float((np.abs(slope) / np.sqrt(np.maximum(np.abs(seen.curvature), seen.noise))).max())
    if (np.abs(slope) > 8.0 * seen.blur(width, resolution) + 1e-9 * steepest)[seen.lost].any():
        raise UnboundedError(
            "the sum of the costs is unbounded below: it is flat in some direction and slopes down along it; add "
            "data or a small l2 penalty."
        )
    return np.inf
