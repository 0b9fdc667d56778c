"""A round of gradient tracking on JAX, on this machine's cores, against hand-written NumPy and the stacked runtime.

Each is timed by its quickest stretch: ten rounds by hand, and what lies between two looks of a run, look included.
Short stretches are what a busy machine disturbs least, though JAX, which waits for all cores, is disturbed more
than NumPy, which takes one. Compiling, about a second a run, is in none of them.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from benchmarks import rounds
from tacit.algorithms import GradientTracking
from tacit.runtimes import Job, Runtime, StoppingRule, jax, stacked
from tacit.runtimes.stopping import Progress

_TARGET = 0.6
_STRETCH = 10
_SIZES = ((100, 10), (100, 100), (1000, 10), (1000, 100), (10_000, 10))


def main() -> None:
    """Print one line per size."""
    print(f"\nGradient tracking on JAX, microseconds a round (target: {_TARGET} × by hand for n ≥ 1000)")
    print(f"{'costs':<11}{'n':>7}{'m':>5}{'JAX':>12}{'stacked':>12}{'by hand':>12}{'/ hand':>10}{'/ stacked':>12}")
    for n, m in _SIZES:
        for family in ("quadratic", "logistic"):
            _line(family, n, m)


def _line(family: str, n: int, m: int) -> None:
    case = rounds.case(family, n, m)
    job = Job(
        network=case.network, costs=(), stack=case.cost, x0=np.zeros(m), algorithm=GradientTracking(rounds.STEP),
        exact=True, weights="lazy", privacy=None,
        rule=StoppingRule(tolerance=1e-300, max_rounds=max(case.rounds // 4, 5 * _STRETCH)),
    )  # fmt: skip
    compiled, mine, theirs = _between_looks(jax.run, job), _between_looks(stacked.run, job), _by_hand(case)
    print(
        f"{family:<11}{n:>7}{m:>5}{1e6 * compiled:>12.1f}{1e6 * mine:>12.1f}{1e6 * theirs:>12.1f}"
        f"{compiled / theirs:>10.2f}{compiled / mine:>12.2f}",
        flush=True,
    )


def _between_looks(runtime: Runtime, job: Job) -> float:
    looks: list[tuple[int, float]] = []

    def note(progress: Progress) -> None:
        looks.append((progress.check.round, time.perf_counter()))

    runtime(job, note)
    return min((ended - began) / (last - first) for (first, began), (last, ended) in pairwise(looks))


def _by_hand(case: rounds.Case) -> float:
    n, m = len(case.network), case.cost.dim
    x = y = g = np.zeros((n, m))
    seconds = []
    for _ in range(max(case.rounds // (4 * _STRETCH), 5)):
        start = time.perf_counter()
        for _ in range(_STRETCH):
            x, y, g = case.round_by_hand(x, y, g)
        seconds.append((time.perf_counter() - start) / _STRETCH)
    return min(seconds)
