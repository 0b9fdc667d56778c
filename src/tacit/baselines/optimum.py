"""The optimum itself, by whoever holds all costs: what answers are compared with."""

from __future__ import annotations

from tacit.errors import AlgorithmError, TacitError
from tacit.solving import Problem, solve
from tacit.typing import Array

_SURE = 1e-12


def reference(problem: Problem) -> Array:
    """Return the optimum, by plain sums or whatever else accepts the problem, as exactly as it comes."""
    for algorithm in ("direct", "newton", "bracket", "lbfgs", "fista", "auto"):
        try:
            answer = solve(problem, algorithm=algorithm, tolerance=_SURE)
        except TacitError:
            continue
        if answer.converged:
            return answer.x
    raise AlgorithmError("no algorithm finds the optimum of this problem, so there is nothing to compare with.")
