"""What baselines that gossip have in common: which costs they take, and the settings that suit a problem best.

Noise and steps that their papers leave open are tried on the problem itself, and the best are taken: nobody
could in practice, and so an error in the table is a lower bound of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.noise import noise_seed
from tacit.baselines.optimum import reference
from tacit.baselines.staged import Staged, demonstrated
from tacit.runtimes import Job, StoppingRule, stacked
from tacit.solving import Problem
from tacit.typing import Algorithm

_TRIED = 3  # runs of every choice of settings
Settings = TypeVar("Settings", bound=Algorithm)
"""A frozen algorithm with a field `seed`: that of its noise, or None for the algorithm without."""


def unfit(problem: Problem) -> str | None:
    """Return why no method that descends along gradients applies; None if one does."""
    if problem.stack.is_rough:
        return "needs costs with a gradient, and these have rough terms."
    if not np.isfinite(problem.stack.smoothness).all():
        return "needs costs with a Lipschitz gradient, and one of these has none."
    return None


def best_of(problem: Problem, choices: Iterable[tuple[Settings, int]]) -> tuple[Settings, int]:
    """Return the settings, and for how many rounds, that end nearest to the optimum, over a few runs of each."""
    optimum = reference(problem)

    def missed(choice: tuple[Settings, int]) -> float:
        settings, rounds = choice
        runs = [stacked.run(_job(problem, _seeded(settings, k), rounds)) for k in range(_TRIED)]
        away = float(np.mean([np.linalg.norm(run.x - optimum, axis=1).max() for run in runs]))
        return away if np.isfinite(away) else np.inf

    return min(choices, key=missed)


def noisily(
    problem: Problem,
    settle: Callable[[Sequence[int]], Settings],
    rounds: int,
    listeners: Listeners,
    *,
    how: str,
    promises: Sequence[Pledge] = (),
) -> Demonstration:
    """Run `settle(who)` with its noise; whoever listens knows the algorithm without."""

    def stage(k: int, who: Sequence[int]) -> Staged:
        settings = settle(who)
        noisy = _seeded(settings, noise_seed(listeners.seed, k))
        return Staged(_job(problem, noisy, rounds), _seeded(settings, None), how)

    return demonstrated(problem, stage, listeners, promises=promises)


def _job(problem: Problem, algorithm: Algorithm, rounds: int) -> Job:
    return Job(
        network=problem.network, costs=problem.costs, stack=problem.stack, x0=problem.x0, algorithm=algorithm,
        exact=True, weights="metropolis", privacy=None, rule=StoppingRule(tolerance=1e-12, max_rounds=rounds),
    )  # fmt: skip


def _seeded(settings: Settings, seed: int | None) -> Settings:
    plain: Any = settings
    return replace(plain, seed=seed)
