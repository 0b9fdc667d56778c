"""A second look at a run that says "converged": what is left to gain at its answer?

    ½ gᵀH⁻¹g        of the summed costs at x: Newton's decrement, in the basis that shows it (`directions`)

Agents that gossip judge by how much they still move. Along unknowns that are nearly collinear they move so slowly
that standing still proves nothing. A simulation holds all costs and can look; agents of their own cannot, and are
told to use an algorithm that adds up Hessians, which looks by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.algorithms.directions import Directions, Sight
from tacit.algorithms.penalised import Penalty, minimise
from tacit.costs import CallableCost, pack, unpack
from tacit.errors import AlgorithmError, CostError, UnboundedError
from tacit.runtimes import Run
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.stopping import Status, Verdict
from tacit.solving.problem import Problem
from tacit.typing import Array

_MISSED = 1e-6  # share of all that was gained: what an answer may miss and be called the optimum
_NUMBERS = 20_000_000  # of all agents' Hessians: more are not looked at again


def reconsidered(problem: Problem, run: Run) -> Run:
    """Return the run; stalled, with a sentence, where it says "converged" far from the optimum."""
    large = len(problem.costs) * problem.dim**2 > _NUMBERS
    if run.verdict.status != Status.CONVERGED or run.doubt is not None or large:
        return run
    x = run.x.mean(axis=0)
    try:
        with np.errstate(all="ignore"):
            left, doubt = _left(problem, x)
            fell = problem.value(problem.x0) - problem.value(x)
    except (AlgorithmError, CostError, UnboundedError):  # costs without Hessians or values: nothing to look at
        return run
    if not (np.isfinite(left) and np.isfinite(fell)):
        return run
    if left > _MISSED * max(fell, left):
        sentence = (
            f"The agents stand still, and the sum of the costs, which fell by {max(fell, 0.0):.3g}, could still fall by "
            f"about {left:.2g}: unknowns are so nearly collinear that gossip and gradients hardly move them. Use "
            "algorithm='newton' or 'direct', which add up Hessians, or a small l2 penalty."
        )
        return replace(run, verdict=Verdict(Status.STALLED, sentence))
    if doubt is None:
        return run
    return replace(run, doubt=doubt, verdict=run.verdict.with_doubt(doubt))


def _left(problem: Problem, x: Array) -> tuple[float, Doubt | None]:
    """Return what is left to gain at x as far as it can be seen, and what cannot."""
    stack, m = problem.stack, problem.dim
    if any(isinstance(cost, CallableCost) for cost in problem.costs):
        raise CostError("functions of the user's own may have no Hessian.")
    if stack.is_rough:
        g, H = stack.grad(x).sum(axis=0), _total(stack.hess, x, m)
        limits = stack.limits
        if not (limits == limits.reshape(-1, limits.shape[-1])[0]).all():
            raise AlgorithmError("the boxes of the agents differ.")
        penalty = Penalty.of(stack.penalty.reshape(-1, 2 * m).sum(axis=0), limits)
        u = minimise(x, g, H, penalty)
        change = float(g @ (u - x) + 0.5 * (u - x) @ H @ (u - x)) + penalty.value(u) - penalty.value(x)
        return max(-change, 0.0), None
    sight, seen, g = _seen(stack, x, m)
    left, fell = seen.gain(seen.slope(g)), max(problem.value(problem.x0) - problem.value(x), 0.0)
    lowest = float(stack.lowest.sum())
    whole = max(problem.value(x) - lowest, 0.0) if np.isfinite(lowest) else np.inf
    bound = whole if seen.lost.any() else min(2.0 * left + seen.doubt() * fell, whole)
    loose = seen.loose(fell, bound)
    if not loose.any() or sight.is_plain:
        return left, None
    return left, Doubt.of(_Last(loose, bound, fell))


class _Last:
    def __init__(self, loose: Array, bound: float, fell: float) -> None:
        self.loose, self.bound, self.fell = loose, bound, fell


def _seen(stack: Any, x: Array, m: int) -> tuple[Sight, Directions, Array]:
    sight = Sight.plain(m)._replace(lowest=np.array(-np.inf))
    sharp = np.all(stack.factored)
    while True:
        if sight.is_plain:
            g, H = stack.grad(x).sum(axis=0), _total(stack.hess, x, m)
        else:
            g, H = stack.grad_along(x, sight.B).sum(axis=0), _total(lambda x: stack.hess_along(x, sight.B), x, m)
            sight = sight._replace(factored=np.array(float(sharp)))
        seen = sight.directions(H, 0.0)
        if not seen.vague.any():
            return sight, seen, g
        sight = sight.next(seen)


def _total(hess: Callable[[Array], Array], x: Array, m: int) -> Array:
    return np.asarray(unpack(pack(hess(x)).reshape(-1, m * (m + 1) // 2).sum(axis=0), m))
