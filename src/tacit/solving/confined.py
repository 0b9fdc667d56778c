"""Rounds that masks take in a box where dual variables start at zero: before the run, from public numbers.

A dual variable has to reach the size of its agent's mask, about σ√(2·degree) times √(2 ln 2nm) for the largest of
n·m of them, eq. (4). In a round it grows by no more than the width of the box times what the algorithm declares.
That bounds the rounds from below; on graphs from complete to a path they were 0.7 to 4.4 times as many, so half as
many again are told: right within a factor of three.
"""

from __future__ import annotations

import numpy as np

from tacit.algorithms import name_of
from tacit.algorithms.declarations import answering
from tacit.masks import Mechanism
from tacit.solving.choice import Choice
from tacit.solving.problem import Problem

_MORE = 1.5


def rounds_in_a_box(problem: Problem, privacy: Mechanism | None, choice: Choice) -> float:
    """Return about how many rounds the duals take to the masks' scale; 0 where no box confines all agents."""
    sigma = privacy.terms(problem.network, problem.dim).sigma if privacy is not None else None
    width = _width(problem)
    if sigma is None or not np.isfinite(width):
        return 0.0
    degree, numbers = float(problem.network.degrees.max()), len(problem.network) * problem.dim
    pull = sigma * float(np.sqrt(2.0 * degree) * np.sqrt(2.0 * np.log(2.0 * numbers)))
    return float(_MORE * pull / (width * answering(choice.algorithm).dual_growth(degree)))


def _width(problem: Problem) -> float:
    """Return how far apart agents can be in the narrowest unknown that can move at all."""
    lower, upper = np.split(np.atleast_2d(problem.stack.limits), 2, axis=-1)
    widths = upper.max(axis=0) - lower.min(axis=0)
    return float(widths[widths > 0].min(initial=np.inf))


def caution(problem: Problem, privacy: Mechanism | None, choice: Choice, max_rounds: int) -> list[str]:
    """Say so where the rounds allowed will not do."""
    rounds = rounds_in_a_box(problem, privacy, choice)
    if privacy is None or not rounds > max_rounds:
        return []
    sigma = privacy.terms(problem.network, problem.dim).sigma
    return [
        f"{name_of(type(choice.algorithm))} starts its dual variables at zero, and within limits they grow slowly: "
        f"masks of sigma = {sigma:g} take about {rounds:.0e} rounds, and {max_rounds} are allowed; use "
        "'nids', which tunes itself and starts at the masks' scale, secret sums, a smaller sigma, "
        "or more rounds."
    ]
