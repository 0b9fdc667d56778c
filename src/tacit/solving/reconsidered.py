"""A second look at a run that says "converged": what is left to gain at its answer?

    ½ gᵀH⁻¹g        of the summed costs at x: Newton's decrement, in the basis that shows it (`directions`)

Agents that gossip judge by how much they still move. Along unknowns that are nearly collinear they move so slowly
that standing still proves nothing. A simulation holds all costs and can look; agents of their own cannot, and are
told to use an algorithm that adds up Hessians, which looks by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tacit.algorithms.declarations import answering
from tacit.algorithms.directions import Directions, Sight
from tacit.algorithms.penalised import Penalty, minimise
from tacit.costs import CallableCost, pack, unpack
from tacit.errors import AlgorithmError, CostError, UnboundedError
from tacit.runtimes import Run
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.stopping import Conclusion, Status
from tacit.solving.problem import Problem
from tacit.typing import Algorithm, Array, Summand

_MISSED = 1e-6  # share of all that was gained: what an answer may miss and be called the optimum
_ROUNDING = 1e-10  # of terms that cancel: what is left of them may be nothing else
_EPS = float(np.finfo(float).eps)
_NUMBERS = 20_000_000  # of all agents' Hessians: more are not looked at again


def reconsidered(problem: Problem, run: Run, algorithm: Algorithm, floor: float) -> Run:
    """Return the run; stalled, with a sentence, where it says "converged" far from the optimum.

    *floor* is the rounding of x that masks leave. Algorithms that add up Hessians have looked by themselves.
    """
    looked = Summand.HESSIANS in algorithm.sums and not problem.stack.is_rough
    looked |= answering(algorithm).adds_slopes  # which prove it, and at a kink there is no gradient
    large = len(problem.costs) * problem.dim**2 > _NUMBERS
    if not run.verdict.converged or looked or large or not algorithm.exact:
        return run
    x = run.x.mean(axis=0)
    try:
        with np.errstate(all="ignore"):
            left, doubt = _left(problem, x, floor)
            fell = problem.value(problem.x0) - problem.value(x)
    except (AlgorithmError, CostError, UnboundedError):  # costs without Hessians or values: nothing to look at
        return run
    if not (np.isfinite(left) and np.isfinite(fell)):
        return run
    if left > _MISSED * max(fell, left):
        far = f"by about {left / fell:.2g} times what it fell" if fell > 0 else "although it has not fallen at all"
        sentence = (
            f"The agents stand still, and the sum of the costs could still fall, {far}: unknowns are so nearly "
            "collinear that gossip and gradients hardly move them. Use 'newton' or 'direct', which add "
            "up Hessians, or a small l2 penalty."
        )
        return replace(run, verdict=Conclusion(Status.STALLED, sentence))
    if doubt is None:
        return run
    return replace(run, doubt=doubt, verdict=run.verdict.with_doubt(doubt))


def _left(problem: Problem, x: Array, floor: float) -> tuple[float, Doubt | None]:
    """Return what is left to gain at x as far as it can be seen, 0 if it is rounding, and what cannot be seen."""
    stack, m = problem.stack, problem.dim
    if any(isinstance(cost, CallableCost) for cost in problem.costs):
        raise CostError("functions of the user's own may have no Hessian.")
    allowed = 0.5 * m * floor**2
    if stack.is_rough:
        return _left_rough(problem, x, allowed), None
    sight, seen, g = _seen(stack, x, m)
    slope = seen.slope(g)
    pull = np.abs(stack.grad(x)).sum(axis=0) + np.abs(stack.affine).sum(axis=0)
    blur = (8.0 + m) * _EPS * pull @ np.abs(seen.W)
    noise = float(0.5 * (blur[seen.kept] ** 2 / np.abs(seen.curvature[seen.kept])).sum())
    left = seen.gain(slope)
    left = 0.0 if left <= 4.0 * noise + allowed * float((seen.sizes**2).sum()) else left
    fell = max(problem.value(problem.x0) - problem.value(x), 0.0)
    lowest = float(stack.lowest.sum())
    whole = max(problem.value(x) - lowest, 0.0) if np.isfinite(lowest) else np.inf
    bound = whole if seen.lost.any() else min(2.0 * left + seen.doubt() * fell, whole)
    loose = seen.loose(fell, bound)
    return left, Doubt.among(loose, bound, fell) if loose.any() and not sight.is_plain else None


def _left_rough(problem: Problem, x: Array, allowed: float) -> float:
    stack, m = problem.stack, problem.dim
    g, H = stack.grad(x).sum(axis=0), _total(stack.total_hess(x), m)
    limits = stack.limits
    if not (limits == limits.reshape(-1, limits.shape[-1])[0]).all():
        raise AlgorithmError("the boxes of the agents differ.")
    penalty = Penalty.of(stack.penalty.reshape(-1, 2 * m).sum(axis=0), limits)
    u = minimise(x, g, H, penalty)
    lowest = float(stack.lowest.sum())
    parts = [g @ (u - x), 0.5 * (u - x) @ H @ (u - x), penalty.value(u), -penalty.value(x)]
    left = -float(np.sum(parts))
    rounding = _ROUNDING * float(np.abs(parts).sum()) + allowed * float(np.trace(H))
    rounding += 1e-14 * max(problem.value(problem.x0) - lowest, 0.0) if np.isfinite(lowest) else 0.0
    return left if left > rounding else 0.0


def _seen(stack: Any, x: Array, m: int) -> tuple[Sight, Directions, Array]:
    sight = Sight.plain(m)._replace(lowest=np.array(-np.inf))
    sharp = np.all(stack.factored)
    while True:
        if sight.is_plain:
            g, H = stack.grad(x).sum(axis=0), _total(stack.total_hess(x), m)
        else:
            g, H = stack.grad_along(x, sight.B).sum(axis=0), _total(stack.hess_along(x, sight.B), m)
            sight = sight._replace(factored=np.array(float(sharp)))
        seen = sight.directions(H, 0.0)
        if not seen.vague.any():
            return sight, seen, g
        sight = sight.next(seen)


def _total(H: Array, m: int) -> Array:
    return np.asarray(unpack(pack(H).reshape(-1, m * (m + 1) // 2).sum(axis=0), m))
