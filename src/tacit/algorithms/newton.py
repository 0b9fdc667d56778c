"""Damped Newton's method by sums: the speed of the centralised method, in 2·depth hops a step.

    (f, g, H) = Σ_i (h_i, ∇h_i, ∇²h_i)(x + t p)             one sum a round
    p = argmin_p gᵀp + ½ pᵀHp + ψ(x + p)                    by every agent for itself
    t = 1, and half as much until f falls by ¼ of what p promised

All agents are at the same point. A round tries a point: where it is good enough it becomes x, and its gradient and
Hessian are already there. With penalties or a box this is the proximal Newton method (Lee, Sun, Saunders, SIAM J.
Optim. 24(3), 2014). Boyd & Vandenberghe, *Convex Optimization*, 9.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.algorithms.directions import NOTICED, Directions, Sight
from tacit.algorithms.penalised import Penalty, minimise
from tacit.algorithms.trial import model, tried, value
from tacit.costs import unpack
from tacit.errors import AlgorithmError, UnboundedError
from tacit.typing import Algorithm, Array, Cost, Findings, Peers, Rows, Summand

_EPS = float(np.finfo(float).eps)
_DROWNED = 1e-11  # a promised decrease below this share of the value is lost in its rounding
_ARMIJO = 0.25
_LEGIBLE = 1e-4  # a step of more than this share of x, hidden by the resolution of sums, leaves x unknown
_FARTHER = 8.0  # times as far as before, over flat ground
_SAME = 1e-9  # of the sizes of two columns: a Hessian that moved by less is the same
_NOTHING = 1e-24  # of a sum: less is rounding, where nothing was gained at all
_LINEAR = 0.1  # of the last gain: one as large says that a row saturates, and that the model bounds nothing
_FLATTENED = (
    "the sum of the costs with its penalties flattens out beyond the digits of its sums: it has no minimum, or one "
    "too far out to be found; add data or a larger penalty."
)


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the best point so far
    error: Array  # max |p|: how far the optimum is, once steps are full ones
    p: Array  # the step to try from x
    t: Array  # and how much of it
    value: Array  # the sum of all costs at x
    promise: Array  # what the whole of p should change it by
    H: Array  # the Hessian at the first point
    reach: Array  # how far the last step went over flat ground; 0 where it did not
    misses: Array  # points tried at which some cost exploded
    hessian: Array  # the Hessian at x, which standard errors are made of
    start: Array  # the value at the first point
    pull: Array  # |g| there: what later gradients cancel from
    width: Array  # about how long the rows' own slopes are
    fell: Array  # by how much the value has fallen since
    loose: Array  # how much every unknown has to do with what no sum can tell, 0 to 1
    bound: Array  # the most that is left to gain; infinite where nothing bounds it
    B: Array  # the rest says how the summed Hessian is looked at: `Sight`
    sizes: Array
    bases: Array
    factored: Array
    lowest: Array


@dataclass(frozen=True, slots=True)
class Newton(Algorithm):
    """Settings of Newton's method: there are none."""

    handles_rough = True
    handles_nonconvex = True
    sums = (Summand.VALUES, Summand.GRADIENTS, Summand.HESSIANS)

    def findings(self, state: State) -> Findings:
        """Return the value and the Hessian at x, and what is left in doubt."""
        return Findings(state.value, state.hessian, loose=state.loose, bound=state.bound, fell=state.fell)

    def init(self, x: Array, cost: Cost) -> State:
        """Try the starting point first."""
        infinite, m = np.array(np.inf), cost.dim
        limits = Penalty.of(np.zeros(2 * m), cost.limits)
        x = np.clip(x, limits.lower, limits.upper)
        zero, nothing = np.zeros(m), np.array(0.0)
        return State(
            x=x, error=infinite, p=zero, t=np.array(1.0), value=infinite, promise=infinite, H=np.zeros((m, m)),
            reach=nothing, misses=np.array(0), hessian=np.zeros((m, m)), start=infinite, pull=zero, width=nothing,
            fell=nothing, loose=zero, bound=infinite, **Sight.plain(m)._asdict(),
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Try one point: one sum."""
        trial, m = state.x + state.t * state.p, cost.dim
        sight = Sight(*state[-5:]).asked(cost, peers)
        terms = [value(trial, cost), *model(trial, cost, sight), cost.penalty]
        total = tried(np.concatenate(terms, axis=-1), peers, state)
        if total is None and sight.bases:  # along these directions it slopes more than rows so alike could
            again, reach = sight.again, np.maximum(state.reach, 1.0 / _FARTHER)
            return state._replace(reach=reach, **again._asdict())
        if total is None:
            return state._replace(t=state.t / 2, misses=state.misses + 1)
        if not _is_good(total[0], trial, state, peers.resolution):
            return state._replace(t=state.t / 2, **sight._asdict())
        penalty = Penalty.of(total[-2 * m :], cost.limits)
        g, H = total[1 : m + 1], unpack(total[m + 1 : -2 * m], m)
        at = state._replace(x=trial, t=np.array(1.0), value=total[0])
        if np.isinf(state.value):
            at = at._replace(H=H, start=total[0], pull=np.abs(g))
        if penalty.is_rough:
            return _rough(at, g, H, penalty, peers.resolution)
        return _smooth(at, g, H, penalty, sight, peers.resolution)


def _smooth(at: State, g: Array, H: Array, penalty: Penalty, sight: Sight, resolution: float) -> State:
    """Return the state at a good point of a sum without kinks, from g and H in the basis of *sight*."""
    x, B, m = at.x, sight.B, len(g)
    hessian = H if sight.is_plain else _turned(H, sight.back)
    g, H = g + (penalty.l2 * x) @ B, H + B.T @ (penalty.l2[:, None] * B)
    # on flat ground no basis shows more: wait until it bends again
    seen = (sight._replace(factored=np.array(0.0)) if at.reach else sight).directions(H, resolution)
    slope, size = seen.slope(g), np.abs(seen.curvature)
    width = _width(at, sight, np.abs(slope[seen.kept]) / np.sqrt(size[seen.kept]))
    ripple = (8.0 + m) * _EPS * float(seen.sizes @ np.abs(x))
    exact = seen.blur(width, 0.0) + ripple * np.sqrt(size) + (8.0 + m) * _EPS * (at.pull @ np.abs(seen.W))
    blur = exact + seen.blur(0.0, resolution)
    by, reach = np.where(seen.kept, -slope / np.where(seen.kept, size, 1.0), 0.0), 0.0
    sloping = ~seen.kept & ~seen.vague & (np.abs(slope) > 10.0 * blur + 1e-9 * np.abs(slope).max(initial=0.0))
    if sloping.any():
        reach = _FARTHER * float(at.reach) or max(1.0, float(np.abs(x).max()))
        by = by + _over_flat_ground(seen, slope, sloping, reach)
    p = seen.W @ by
    weight = np.where(seen.kept, 0.5 / np.where(seen.kept, size, 1.0), 0.0)
    gain, floor = seen.gain(slope), float(weight @ blur**2)
    unsure = bool(seen.vague.any() or reach or _has_flattened(at, seen, blur, penalty, resolution))
    error = np.inf if unsure else float(np.abs(p).max(initial=0.0))
    if not unsure and gain <= 4.0 * (floor if sight.bases else float(weight @ exact**2)):
        error = 0.0  # nothing is left that a sum could show, however long the step
    fell = max(float(at.start - at.value), 0.0)
    at = at._replace(hessian=hessian)
    bound = np.inf if unsure else _bound(at, seen, sight, 2.0 * gain + 8.0 * floor, fell)
    last = float(np.abs(at.promise)) / 2.0
    saturating = bool(sight.bases) and last > 4.0 * floor and gain > _LINEAR * last
    if saturating and not unsure:
        bound = _whole(at, sight)
    hides = saturating or (sight.bases and bound > NOTICED * fell + _NOTHING * (1.0 + abs(float(at.value))))
    loose = np.zeros(m) if unsure else seen.involved() if hides else seen.loose(fell, bound)
    following = sight.again if reach else sight.next(seen)
    return at._replace(
        error=np.asarray(error), p=p, promise=np.asarray(slope @ by), reach=np.array(reach),
        width=np.asarray(width), bound=np.asarray(bound),
        fell=np.array(fell), loose=loose, **following._asdict(),
    )  # fmt: skip


def _rough(at: State, g: Array, H: Array, penalty: Penalty, resolution: float) -> State:
    """Return the state at a good point of a sum with kinks or limits."""
    x, m = at.x, len(g)
    blur = m * max(resolution, _EPS * float(np.trace(at.H)))
    reach = 0.0
    try:
        u = minimise(x, g, H, penalty, blur=blur)
    except (AlgorithmError, UnboundedError):  # a cost may be straight here: then as far as a ridge lets it go
        reach = _FARTHER * float(at.reach) or max(1.0, float(np.abs(x).max()))
        u = _ridged(x, g, H, penalty, blur, reach)
    p = u - x
    promise = float(g @ p) + penalty.value(u) - penalty.value(x)
    error = np.inf if reach else np.abs(p).max()
    return at._replace(error=np.asarray(error), p=p, promise=np.asarray(promise), reach=np.array(reach), hessian=H)


def _ridged(x: Array, g: Array, H: Array, penalty: Penalty, blur: float, reach: float) -> Array:
    """Return the minimiser of the model with a ridge that lets it go about as far as *reach*."""
    ridge = float(np.abs(g).max()) / reach
    try:
        return minimise(x, g, H + ridge * np.eye(len(g)), penalty, blur=blur)
    except UnboundedError:  # of a model, which says little of a sum that flattens out
        raise AlgorithmError(_FLATTENED) from None


def _width(at: State, sight: Sight, scaled: Array) -> float:
    """Return about |ρ'| over all rows: of least squares, the length of the residuals."""
    if np.isfinite(sight.lowest):
        return float(np.sqrt(2.0 * max(float(at.start - sight.lowest), 0.0)))
    return max(float(at.width), float(scaled.max(initial=0.0)))


def _over_flat_ground(seen: Directions, slope: Array, sloping: Rows, reach: float) -> Array:
    """Return a step downhill along directions that slope and have no curvature.

    Far from the optimum a cost may be straight: the step is then as long as x at first, and eight times as long
    each time.
    """
    length = np.where(sloping, np.abs(seen.W).max(axis=0), 1.0)
    steepness = np.where(sloping, slope / length, 0.0)
    return np.asarray(-reach * steepness / np.abs(steepness).max() / length)


def _has_flattened(at: State, seen: Directions, blur: Array, penalty: Penalty, resolution: float) -> bool:
    """Tell whether curvature was lost on the way here.

    Costs without a minimum flatten out until their gradients vanish in rounding; that is not convergence. What was
    flat from the start is not meant.
    """
    first = at.H + np.diag(penalty.l2)
    sizes = np.sqrt(np.maximum(np.diag(first), 0.0))
    noise = (8.0 + len(first)) * _EPS * (sizes @ np.abs(seen.W)) ** 2 + resolution * np.abs(seen.W).sum(axis=0) ** 2
    was = (seen.W * (first @ seen.W)).sum(axis=0) > 1e3 * noise
    hidden = np.where(seen.kept, blur / np.where(seen.kept, np.abs(seen.curvature), 1.0), np.inf)
    far = hidden * np.abs(seen.W).max(axis=0) > _LEGIBLE * max(float(np.abs(at.x).max()), 1.0)
    return bool((was & far).any())


def _bound(at: State, seen: Directions, sight: Sight, left: float, fell: float) -> float:
    """Return the most by which the sum can still fall: all of it, where something is lost.

    What the quadratic model promises bounds a sum that is one, or a point so near its minimum that the rest is not
    worth a word. Where rounding hides more than that, rows may saturate unseen, and only a lowest value bounds it.
    """
    whole, model = _whole(at, sight), left + seen.doubt() * fell
    if seen.lost.any() or (model > NOTICED * fell and np.isfinite(whole) and not _is_quadratic(at)):
        return whole
    return min(model, whole)


def _is_quadratic(at: State) -> bool:
    """Tell whether the Hessian is what it was at the first point, to rounding."""
    sizes = np.sqrt(np.maximum(np.diag(at.H), np.finfo(float).tiny))
    return bool((np.abs(at.hessian - at.H) / sizes[:, None] / sizes).max(initial=0.0) <= _SAME)


def _whole(at: State, sight: Sight) -> float:
    if not np.isfinite(sight.lowest):
        return np.inf
    rounding = (8.0 + len(at.x)) * _EPS * float(at.pull @ np.abs(at.x))  # of terms that cancel in the value
    return max(float(at.value - sight.lowest), 0.0) + rounding


def _turned(H: Array, B: Array) -> Array:
    turned = B.T @ H @ B
    return np.asarray((turned + turned.T) / 2.0)


def _is_good(objective: Array, trial: Array, state: State, resolution: float) -> bool:
    if np.isinf(state.value):
        return True
    far = float(
        state.sizes @ (np.abs(state.x) + np.abs(trial))
    )  # where the terms of a value are, before they cancel
    rounding = 8.0 * (8.0 + len(trial)) * _EPS * far * float(state.width)
    least = max(_DROWNED * (1.0 + abs(float(state.value))), 4.0 * resolution, rounding)
    return bool(abs(state.promise) <= least or objective <= state.value + _ARMIJO * state.t * state.promise)
