"""Bracketing by sums: costs with kinks, one unknown at a time.

    s(x) = Σ_i ∂h_i(x)                      nondecreasing in every unknown by itself
    s(low) < 0 ≤ s(high)                    the optimum is between them, kinks or not

A round adds up the slopes at many points at once and keeps the two neighbours between which the sign changes.
Most points divide the bracket evenly; some lie about where a straight line between its ends would cross zero,
and end the search as soon as the bracket holds a single straight piece. Every unknown has its own bracket, so
the costs must be separable: h(x) = Σ_k h_k(x_k), as prices of different hours are, or |x − c| with a c of every
agent's own, whose sum is least at the weighted median. No value and no Hessian is added up.

The first round looks at powers of ten on both sides of the start, and the next ones farther out until every unknown
has its bracket: only the unit of x matters for that, and no guess.

Where the slope is zero all the way out, up to *slack* and rounding, the minimum is reached and kept for ever (a
demand exactly at the limit of what is offered): the end of that flat stretch is looked for instead, as the crossing
of a level a shade beyond it, and every x on its other side is as good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.errors import AlgorithmError, UnboundedError
from tacit.typing import Algorithm, Array, Cost, Peers, Summand

_DECADES = (np.arange(-6.0, 4.0), np.arange(4.0, 7.0), np.arange(7.0, 10.0))  # looked at one after the other
_AROUND = np.array([-1e-4, -1e-8, 0.0, 1e-8, 1e-4])  # of the bracket, about the crossing of the straight line
_ULPS = np.array([-4.0, 4.0])  # and so many roundings of it
_ROUNDING = 1e-12  # of the steepest slope seen: a slope that small may be none


@runtime_checkable
class Kinked(Protocol):
    """A cost that tells its slope at kinks."""

    def slope_right(self, x: Array) -> Array:
        """Return the derivative to the right, unknown by unknown."""


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the middle of the bracket
    error: Array  # half its width, the largest of all unknowns
    low: Array  # where the slope is negative
    high: Array  # where it is not
    below: Array  # the slope at the lower end
    above: Array  # and at the upper
    looks: Array  # how far out was looked for it
    level: Array  # the slope that is looked for: zero, or a shade off it where zero lasts for ever
    steepest: Array  # the largest slope seen of every unknown


@dataclass(frozen=True, slots=True)
class Bracket(Algorithm):
    """Settings of bracketing: how many points divide the bracket, and which slope far out counts as none."""

    points: int = 31
    slack: float = 0.0

    def __post_init__(self) -> None:
        if not (isinstance(self.points, int) and self.points >= 1):
            raise AlgorithmError(f"points = {self.points} must be a whole number of points, at least 1.")

    handles_rough = True
    handles_nonconvex = True
    adds_slopes = True
    sums = (Summand.GRADIENTS,)

    @property
    def points_at_once(self) -> int:
        """Those that divide the bracket evenly and those about its crossing, or the powers of ten on both sides."""
        return max(self.points + len(_AROUND) + len(_ULPS), 2 * max(map(len, _DECADES)) + 1)

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return the settings; refuse costs that tie their unknowns together."""
        if landscape.cost.dim > 1 and not landscape.cost.separable:
            raise AlgorithmError(
                "Bracket looks at every unknown by itself, and these costs tie several together; use 'newton'."
            )
        if not landscape.cost.has_slopes:
            raise AlgorithmError(
                "Bracket adds up slopes, and a rough term such as a box has none at its limits; use 'direct' or "
                "'newton'."
            )
        return cls()

    def init(self, x: Array, cost: Cost) -> State:
        """Start with no bracket at all."""
        far, none = np.full_like(x, np.inf), np.zeros_like(x)
        return State(
            x=x,
            error=np.array(np.inf),
            low=-far,
            high=far,
            below=-far,
            above=far,
            looks=np.array(0),
            level=none,
            steepest=none,
        )

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Narrow the brackets: one sum."""
        if np.isinf(state.error) and state.looks >= len(_DECADES):
            state = self._levelled(state, peers)
        at = _farther(state) if np.isinf(state.error) else self._inside(state)
        summands = np.concatenate([_slopes(cost, x) for x in at], axis=-1)
        slopes = peers.sum(summands).reshape(at.shape) - state.level
        steepest = np.maximum(state.steepest, np.abs(slopes + state.level).max(axis=0))
        at = np.concatenate([[state.low], at, [state.high]])
        slopes = np.concatenate([[state.below], slopes, [state.above]])
        above = slopes >= 0
        above[0], above[-1] = False, True
        upper, each = above.argmax(axis=0), np.arange(at.shape[1])
        low, high = at[upper - 1, each], at[upper, each]
        enclosed = np.isfinite(low) & np.isfinite(high)
        width = np.where(enclosed, high - np.where(enclosed, low, 0.0), np.inf)
        return State(
            x=np.where(enclosed, np.where(enclosed, low, 0.0) + np.where(enclosed, width, 0.0) / 2, state.x),
            error=np.asarray(width.max() / 2),
            low=low,
            high=high,
            below=slopes[upper - 1, each],
            above=slopes[upper, each],
            looks=state.looks + 1,
            level=state.level,
            steepest=steepest,
        )

    def _levelled(self, state: State, peers: Peers) -> State:
        """Return the state in which unknowns whose sum is flat all the way out look for the end of that stretch."""
        rising, falling = np.isinf(state.low), np.isinf(state.high)
        end = np.where(rising, state.above, state.below) + state.level  # the slope at the farthest point
        rounding = _ROUNDING * state.steepest + 2.0 * peers.resolution + np.finfo(float).tiny
        flat = (rising | falling) & (np.abs(end) <= self.slack + rounding)
        lost = (rising | falling) & ~flat
        if lost.any():
            raise UnboundedError(
                f"the sum of the costs has no minimum: {int(lost.sum())} of {len(lost)} unknown(s) would go "
                f"farther than {10.0 ** _DECADES[-1][-1]:.0e} from the start."
            )
        everywhere = flat & (state.level != 0)  # flat to both sides: the start is as good as any
        again = flat & ~everywhere
        far = np.where(again, np.inf, 0.0)
        low, high = (np.where(everywhere, state.x, side) for side in (state.low, state.high))
        return state._replace(
            error=np.asarray(np.inf if again.any() else (high - low).max() / 2),
            low=np.where(again, -far, low),
            high=np.where(again, far, high),
            below=np.where(again, -far, np.where(everywhere, 0.0, state.below)),
            above=np.where(again, far, np.where(everywhere, 0.0, state.above)),
            looks=np.array(0),
            level=np.where(again, end + np.where(rising, rounding, -rounding), state.level),
        )

    def _inside(self, state: State) -> Array:
        """Return points between the ends of every bracket, in order, (K, m)."""
        low, width = state.low, state.high - state.low
        even = low + np.linspace(0.0, 1.0, self.points + 2)[1:-1, None] * width
        gap = state.above - state.below
        share = np.where(gap > 0, -state.below / np.where(gap > 0, gap, 1.0), 0.5)
        crossing = low + share * width
        ulps = _ULPS[:, None] * np.spacing(np.abs(crossing))
        some = np.concatenate([even, crossing + _AROUND[:, None] * width, crossing + ulps])
        return np.sort(np.clip(some, state.low, state.high), axis=0)


def _slopes(cost: Cost, x: Array) -> Array:
    """Return the derivative to the right at x; the gradient of a cost that says nothing of kinks."""
    return cost.slope_right(x) if isinstance(cost, Kinked) else cost.grad(x)


def _farther(state: State) -> Array:
    """Return points at the next powers of ten from the start, on both sides, (K, m); inside brackets found."""
    away = 10.0 ** _DECADES[int(state.looks)]
    points = state.x + np.concatenate([-away[::-1], [0.0], away])[:, None]
    return np.clip(points, state.low, state.high)
