"""`algorithm="auto"`: which algorithm, and why.

not convex one by one          gradient tracking: it needs only the sum convex
no Lipschitz gradient          ADMM: every agent takes proximal steps
rough without a smooth part    ADMM
every cost strongly convex,
and K√(L/μ) well below
max(L/μ_g, 2/(1 − λ₂))         OPAPC: fewer exchanges, with K of them a round
else                           NIDS: its step does not depend on the network

The two numbers are exchanges per factor e of accuracy: OPAPC's theorem has every cost's own μ in it,
while NIDS profits from the curvature μ_g of the average cost.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from tacit.algorithms import ADMM, ALGORITHMS, NIDS, OPAPC, AnyAlgorithm, GradientTracking, Landscape
from tacit.algorithms.chebyshev import Gossip
from tacit.errors import AlgorithmError, CostError
from tacit.network import WEIGHTS
from tacit.solving.problem import Problem


class Choice(NamedTuple):
    """An algorithm with its settings, the weights it mixes with, and why it was taken."""

    algorithm: AnyAlgorithm
    weights: str
    reason: str


def choose(problem: Problem, algorithm: str | AnyAlgorithm = "auto", *, weights: str | None = None) -> Choice:
    """Return the algorithm to run: the one asked for, or the one that fits."""
    if weights is not None and weights not in WEIGHTS:
        raise AlgorithmError(f"no weights are called {weights!r}; choose one of {', '.join(WEIGHTS)}.")
    if not isinstance(algorithm, str):
        missing = [name for name in ("exact", "handles_rough", "weights") if not hasattr(algorithm, name)]
        if missing:
            raise AlgorithmError(
                f"{type(algorithm).__name__} does not declare {', '.join(missing)}, as every algorithm must."
            )
        _refuse_misfit(type(algorithm), problem)
        _refuse_settings(algorithm)
        return Choice(algorithm, weights or algorithm.weights, "given with its settings")
    if algorithm == "auto":
        kind, reason = _automatic(problem)
    elif algorithm in ALGORITHMS:
        kind, reason = ALGORITHMS[algorithm], "asked for by name"
    else:
        raise AlgorithmError(f"no algorithm is called {algorithm!r}; choose auto, {', '.join(ALGORITHMS)}.")
    _refuse_misfit(kind, problem)
    weights = weights or kind.weights
    return Choice(kind.tuned(Landscape(problem.stack, problem.network, weights)), weights, reason)


def _automatic(problem: Problem) -> tuple[type[AnyAlgorithm], str]:
    landscape = Landscape(problem.stack, problem.network)
    L, mu = landscape.smoothness, landscape.strong_convexity
    if mu < 0 and problem.stack.is_rough:
        raise AlgorithmError(
            "single costs are not convex and have rough terms: no algorithm here takes both; smooth the rough "
            "term, or share the curvature so that every cost is convex."
        )
    if mu < 0:
        return GradientTracking, "single costs are not convex, and this needs only their sum to be"
    if not np.isfinite(L):
        return ADMM, "the costs have no Lipschitz gradient, and proximal steps need none"
    if L == 0:
        return ADMM, "the costs have no curvature, and proximal steps need none"
    if mu > 0 and not problem.stack.is_rough:
        accelerated = Gossip.of(landscape.spectrum).exchanges * float(np.sqrt(L / mu))
        plain = max(L / _expected_curvature(landscape, problem), 2.0 / (1.0 - landscape.spectrum.second))
        if 1.5 * accelerated < plain:
            return OPAPC, f"the condition number is {L / mu:.0f}, and its rounds grow only with the square root"
    return NIDS, "smooth convex costs" + (" with a rough term" if problem.stack.is_rough else "")


def _expected_curvature(landscape: Landscape, problem: Problem) -> float:
    """Return μ_g where it is known, else between its lower bound and what the Hessians at x₀ have: a guess."""
    least = landscape.mean_strong_convexity
    below, above = problem.stack.total_curvature()
    if np.array_equal(below, above):
        return least
    start = np.tile(problem.x0, (len(problem.costs), 1))
    try:
        there = float(np.linalg.eigvalsh(problem.stack.hess(start).mean(axis=0))[0])
    except CostError:  # a cost may come without its Hessian
        return least
    return float(np.sqrt(least * max(there, least)))


def _refuse_misfit(kind: type[AnyAlgorithm], problem: Problem) -> None:
    if problem.stack.is_rough and not kind.handles_rough:
        raise AlgorithmError(
            f"{kind.__name__} has no step for costs without a gradient, such as |x|; use nids, pg-extra or admm."
        )


def _refuse_settings(algorithm: AnyAlgorithm) -> None:
    for field in fields(algorithm):
        value = getattr(algorithm, field.name)
        if isinstance(value, int | float) and not (
            np.isfinite(value) and value >= 0 and (value or field.name == "decay")
        ):
            raise AlgorithmError(f"{type(algorithm).__name__}: {field.name} = {value} must be a positive number.")
