"""L-BFGS by sums: second-order speed for many unknowns, with vectors only.

    (f, g) = Σ_i (h_i, ∇h_i)(x + t p)                       one sum a round
    p = −B g,  B from the last steps and changes of gradient (two-loop recursion)
    t by bisection, until f falls (Armijo) and flattens (Wolfe)

Nocedal & Wright, *Numerical Optimization*, 2006, Algorithm 7.4; the line search is that of Lewis & Overton, Math.
Program. 141, 2013. Near the optimum, where differences of f drown in rounding, slopes alone decide (Hager & Zhang,
SIAM J. Optim. 16(1), 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.algorithms.trial import tried, value
from tacit.errors import AlgorithmError
from tacit.typing import Algorithm, Array, Cost, Findings, Peers, Summand

_ARMIJO, _WOLFE = 1e-4, 0.9
_DROWNED = 1e-12  # changes of f below this share of it are rounding


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the best point so far
    error: Array  # |g| over the least curvature that a step has met: about how far the optimum is
    g: Array  # Σ∇h at x
    value: Array  # Σh at x
    p: Array  # the direction to try from x
    t: Array  # and how far
    low: Array  # a t that is too short
    high: Array  # a t that is too long
    steps: Array  # the last steps, newest last, (memory, m); zeros where there are none yet
    changes: Array  # and the changes of gradient along them
    curvature: Array  # the least that a step has met
    misses: Array  # points tried at which some cost exploded


@dataclass(frozen=True, slots=True)
class LBFGS(Algorithm):
    """Settings of L-BFGS: how many steps it remembers."""

    memory: int = 10

    def __post_init__(self) -> None:
        if not (isinstance(self.memory, int) and self.memory >= 1):
            raise AlgorithmError(f"memory = {self.memory} must be a whole number of steps, at least 1.")

    handles_nonconvex = True
    sums = (Summand.VALUES, Summand.GRADIENTS)

    def findings(self, state: State) -> Findings:
        """Return the value at x."""
        return Findings(state.value)

    def init(self, x: Array, cost: Cost) -> State:
        """Try the starting point first."""
        zero, infinite, none = np.zeros_like(x), np.array(np.inf), np.zeros((self.memory, len(x)))
        return State(
            x=x, error=infinite, g=zero, value=infinite, p=zero, t=np.array(1.0),
            low=np.array(0.0), high=infinite, steps=none, changes=none, curvature=infinite, misses=np.array(0),
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Try one point: one sum."""
        trial, first = state.x + state.t * state.p, bool(np.isinf(state.value))
        total = tried(np.concatenate([value(trial, cost), cost.grad(trial)], axis=-1), peers, state)
        if total is None:
            return _tighter(state._replace(misses=state.misses + 1), high=state.t)
        if first:
            return self._moved(state, trial, total, peers)
        slope, promised = float(total[1:] @ state.p), float(state.g @ state.p)
        level = abs(total[0] - state.value) <= max(_DROWNED * (1.0 + abs(state.value)), 4.0 * peers.resolution)
        falls = total[0] <= state.value + _ARMIJO * state.t * promised
        if not falls and not (level and slope <= (2 * _ARMIJO - 1) * promised):
            return _tighter(state, high=state.t)
        if slope < _WOLFE * promised:
            return _tighter(state, low=state.t)
        return self._moved(state, trial, total, peers)

    def _moved(self, state: State, x: Array, total: Array, peers: Peers) -> State:
        g, steps, changes, curvature = total[1:], state.steps, state.changes, state.curvature
        s, y = x - state.x, g - state.g
        moved = np.isfinite(state.value)
        if moved and y @ y <= np.finfo(float).tiny:
            if np.abs(s).max() > 1e-6 * np.abs(x).max():  # it has flattened out: nothing tells how far it goes on
                curvature = np.array(0.0)
        elif moved and s @ y > 1e-10 * (y @ y) * np.finfo(float).eps ** 0.5:
            steps, changes = np.vstack([steps[1:], s]), np.vstack([changes[1:], y])
            curvature = np.minimum(curvature, s @ y / (s @ s))
        p = _direction(g, steps, changes)
        length = 1.0 if steps.any() else min(1.0, 1.0 / max(float(np.linalg.norm(g)), 1e-300))
        error = np.asarray(_distance(g, p, float(curvature), peers.resolution))
        return State(
            x=x, error=error, g=g, value=total[0], p=p, t=np.array(length),
            low=np.array(0.0), high=np.array(np.inf), steps=steps, changes=changes, curvature=curvature,
            misses=state.misses,
        )  # fmt: skip


def _distance(g: Array, p: Array, curvature: float, resolution: float) -> float:
    """Return about how far the optimum is: the gradient over the least curvature that a step has met."""
    if not curvature:
        return np.inf
    if np.abs(g).max() <= resolution or not g.any():
        return 0.0  # nothing is left that a sum could show
    return max(float(np.abs(p).max()), float(np.linalg.norm(g)) / curvature) if np.isfinite(curvature) else np.inf


def _tighter(state: State, *, low: Array | None = None, high: Array | None = None) -> State:
    """Return the state with a narrower bracket, and the next t to try in it."""
    low = state.low if low is None else low
    high = state.high if high is None else high
    blind = not state.steps.any()  # before anything is known of the scale, look for it in powers of ten
    if np.isinf(high):
        t = (10.0 if blind else 2.0) * low
    else:
        t = high / 10.0 if blind and not low else (low + high) / 2.0
    return state._replace(t=np.asarray(t), low=np.asarray(low), high=np.asarray(high))


def _direction(g: Array, steps: Array, changes: Array) -> Array:
    """Return −B g by the two-loop recursion; −g before there is anything to remember."""
    kept = [(s, y, float(s @ y)) for s, y in zip(steps, changes, strict=True) if s @ y > 0]
    q, weights = g, []
    for s, y, sy in reversed(kept):
        weights.append(float(s @ q) / sy)
        q = q - weights[-1] * y
    if kept:
        s, y, sy = kept[-1]
        q = sy / float(y @ y) * q
    for (s, y, sy), weight in zip(kept, reversed(weights), strict=True):
        q = q + (weight - float(y @ q) / sy) * s
    return -q
