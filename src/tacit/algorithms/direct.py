"""Direct solution of quadratic costs: one sum.

    (q, P) = Σ_i (q_i, P_i)
    x = argmin ½ xᵀPx + qᵀx + ψ(x)        by every agent for itself

Where unknowns are nearly collinear, more sums in better bases find what squaring has lost (`directions`), and x
stays at 0 until one shows everything; where digits are few even then, a last sum measures how far the sum fell.
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
from tacit.algorithms.penalised import Penalty, minimise, minimise_rows
from tacit.algorithms.trial import model
from tacit.costs import unpack
from tacit.errors import AlgorithmError, RangeError, UnboundedError
from tacit.typing import Algorithm, Array, Cost, Findings, Peers, Summand

_EPS = float(np.finfo(float).eps)
_NOTHING = 1e-24  # of what costs can be: less is rounding, where a fit gains nothing at all
_SURE = 4.0  # noises that a negative curvature must stand out by


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the minimiser, after the last round
    error: Array  # of x, from rounding alone; infinite before
    fell: Array  # by how much the sum has fallen since x = 0
    loose: Array  # how much every unknown has to do with what no sum can tell, 0 to 1
    bound: Array  # the most that is left to gain; infinite where nothing bounds it
    move: Array  # x in the basis, where a sum has yet to say how good it is; zero before
    slope: Array  # the gradient at 0, in the basis
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
                "place; use 'newton'."
            )
        return cls()

    def findings(self, state: State) -> Findings:
        """Return what is left in doubt."""
        return Findings(loose=state.loose, bound=state.bound, fell=state.fell)

    def init(self, x: Array, cost: Cost) -> State:
        """Start with nothing known."""
        infinite, zero = np.array(np.inf), np.zeros(cost.dim)
        return State(
            x=x, error=infinite, fell=np.array(0.0), loose=zero, bound=infinite, move=zero, slope=zero,
            **Sight.plain(cost.dim)._asdict(),
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Add up gradients, Hessians and penalties, and minimise; once more in a better basis where that helps."""
        m = cost.dim
        x = state.x if state.move.any() else np.zeros(m)  # at 0 a gradient is q to the last bit
        sight = Sight(*state[-5:]).asked(cost, peers)
        try:
            total = peers.sum(np.concatenate([*model(x, cost, sight), cost.penalty], axis=-1))
        except RangeError:
            if sight.is_plain:
                raise
            return state._replace(**sight.again._replace(factored=np.array(0.0))._asdict())  # it slopes too much
        g, H = total[:m], unpack(total[m : -2 * m], m)
        penalty = Penalty.of(total[-2 * m :], cost.limits)
        seen = sight.directions(H + sight.B.T @ (penalty.l2[:, None] * sight.B), peers.resolution)
        if (seen.curvature[~seen.lost] < -_SURE * seen.noise[~seen.lost]).any():
            raise UnboundedError("the sum of the costs is not convex: its curvature is negative in some direction.")
        if seen.vague.any():
            return state._replace(x=x, **sight.next(seen)._asdict())
        if penalty.is_rough and not (sight.is_plain or sight.factored):  # no basis shows more than the unknowns do
            return state._replace(**sight.again._asdict())
        sight = sight.next(seen)
        if penalty.is_rough:
            return _rough(state, g, H, penalty, seen, sight, peers.resolution)
        return _smooth(state._replace(x=x), g + (penalty.l2 * x) @ sight.B, seen, sight, peers.resolution)


def _smooth(state: State, g: Array, seen: Directions, sight: Sight, resolution: float) -> State:
    """Return the state at the minimiser, from the gradient at x in the basis of *sight*.

    Where curvature is known to a few digits only, or not at all, another sum says how good the point is: of a
    quadratic sum ½(g(0) + g(x))ᵀx is the difference of two values, and the slopes left at x lead on.
    """
    first, slope = not state.move.any(), seen.slope(g)
    by, gain = seen.by(slope), seen.gain(slope)
    x = state.x + seen.W @ by
    if first and seen.lost.any() and np.isinf(sight.lowest):
        _refuse_slopes(seen, slope, resolution)
    elif first and by.any() and sight.factored and (seen.lost.any() or seen.doubt() > NOTICED):
        return state._replace(x=x, fell=np.array(gain), move=seen.T @ by, slope=g, **sight._asdict())
    fell = gain if first else gain - 0.5 * float((state.slope + g) @ state.move)
    floor = 0.0 if first else 8.0 * _floor(seen, _blur(seen, slope, sight, x, resolution))
    known = np.inf if seen.lost.any() else seen.doubt() * (fell if first else gain) + floor
    return _ended(state, x, fell, min(known, _left(state, sight, seen, fell, resolution)), seen, sight)


def _ended(state: State, x: Array, fell: float, bound: float, seen: Directions, sight: Sight) -> State:
    nothing = _NOTHING * abs(float(sight.lowest)) if np.isfinite(sight.lowest) else 0.0
    loose = seen.involved() if bound > NOTICED * max(fell, 0.0) + nothing else np.zeros(len(x))
    return state._replace(
        x=x, error=np.asarray(_EPS * np.abs(x).max()), fell=np.array(max(fell, 0.0)), bound=np.asarray(bound),
        loose=loose, **sight._asdict(),
    )  # fmt: skip


def _rough(
    state: State, g: Array, H: Array, penalty: Penalty, seen: Directions, sight: Sight, resolution: float
) -> State:
    """Return the state at the minimiser of a sum with kinks or limits, from the gradient at 0 and H in a basis."""
    m = len(g)
    if sight.is_plain:
        least = minimise(np.zeros(m), g, H, penalty, blur=m * resolution)
        return _ended(state, least, 0.0, 0.0, seen, sight)
    kept, slope, turn = seen.kept, seen.slope(g), np.linalg.inv(seen.T) @ sight.back
    size = np.sqrt(seen.curvature[kept])
    least = minimise_rows(size[:, None] * turn[kept], slope[kept] / size, penalty)
    by, blur = turn @ least, _blur(seen, slope, sight, least, resolution)
    fell = -float(slope[kept] @ by[kept]) - 0.5 * float(seen.curvature[kept] @ by[kept] ** 2)
    fell -= float(penalty.l1 @ np.abs(least))
    bound = 2.0 * _floor(seen, blur + seen.noise * np.abs(by)) + _along_lost(seen, slope, blur, least, penalty)
    state = state._replace(move=sight.back @ least)
    return _ended(state, least, fell, min(bound, _left(state, sight, seen, fell, resolution)), seen, sight)


def _along_lost(seen: Directions, slope: Array, blur: Array, u: Array, penalty: Penalty) -> float:
    """Return the most that moves along lost directions can gain: up to the kinks behind which a penalty rises."""
    most = 0.0
    for k in np.flatnonzero(seen.lost):
        w, drift = np.abs(seen.W[:, k]), float(np.abs(slope[k]) + blur[k])
        rises = penalty.l1 * w
        main = rises > 1e-3 * rises.max(initial=0.0)
        if rises[main].sum() - rises[~main].sum() <= 2.0 * drift:
            return np.inf
        most += drift * float((np.abs(u[main]) / w[main]).max())
    return most


def _width(seen: Directions, slope: Array, sight: Sight) -> float:
    """Return about how long the rows' own slopes are at 0: of least squares, the length of the labels."""
    if np.isfinite(sight.lowest):
        return float(np.sqrt(max(-2.0 * float(sight.lowest), 0.0)))
    return float((np.abs(slope) / np.sqrt(np.maximum(np.abs(seen.curvature), seen.noise))).max(initial=0.0))


def _blur(seen: Directions, slope: Array, sight: Sight, x: Array, resolution: float) -> Array:
    """Return by how much slopes at x may be off; x itself is rounded."""
    ripple = _EPS * float(seen.sizes @ np.abs(x))
    return np.asarray(seen.blur(_width(seen, slope, sight), resolution) + ripple * np.sqrt(np.abs(seen.curvature)))


def _floor(seen: Directions, blur: Array) -> float:
    """Return what slopes as small as *blur* are worth along the directions kept."""
    kept = seen.kept
    return float((blur[kept] ** 2 / np.abs(seen.curvature[kept])).sum())


def _left(state: State, sight: Sight, seen: Directions, fell: float, resolution: float) -> float:
    """Return how far the sum is above the lowest that costs can be; infinite where nobody knows that."""
    if not np.isfinite(sight.lowest):
        return np.inf
    grain = (8.0 + len(state.x)) * _EPS * (seen.sizes @ np.abs(sight.B))
    width = float(np.sqrt(max(-2.0 * float(sight.lowest), 0.0)))
    return max(-fell - float(sight.lowest), 0.0) + float(np.abs(state.move) @ (grain * width + resolution))


def _refuse_slopes(seen: Directions, slope: Array, resolution: float) -> None:
    """Refuse a sum that slopes down where it is flat."""
    steepest = np.abs(slope).max(initial=0.0)
    width = float((np.abs(slope) / np.sqrt(np.maximum(np.abs(seen.curvature), seen.noise))).max())
    if (np.abs(slope) > 8.0 * seen.blur(width, resolution) + 1e-9 * steepest)[seen.lost].any():
        raise UnboundedError(
            "the sum of the costs is unbounded below: it is flat in some direction and slopes down along it; add "
            "data or a small l2 penalty."
        )
