"""A round of gradient tracking on JAX, on this machine's cores, against hand-written NumPy and the stacked runtime.

Rounds of JAX are timed from one look of a run to its last: compiling, about a second a run, is not in them.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks import rounds
from benchmarks.timing import side_by_side
from tacit.algorithms import GradientTracking
from tacit.runtimes import Job, StoppingRule, jax, stacked
from tacit.runtimes.stopping import Progress

_TARGET = 0.6


def main() -> None:
    """Print one line per size."""
    print(f"\nGradient tracking on JAX, microseconds a round (target: {_TARGET} × by hand for n ≥ 1000)")
    print(
        f"{'costs':<11}{'n':>7}{'m':>5}{'JAX':>12}{'stacked':>12}{'by hand':>12}{'JAX/hand':>10}{'JAX/stacked':>13}"
    )
    for family in ("quadratic", "logistic"):
        for n in (100, 1000, 10_000):
            for m in (10, 100):
                _line(family, n, m)


def _line(family: str, n: int, m: int) -> None:
    case = rounds.case(family, n, m)
    job = Job(
        network=case.network, costs=(), stack=case.cost, x0=np.zeros(m), algorithm=GradientTracking(rounds.STEP),
        exact=True, weights="lazy", privacy=None, rule=StoppingRule(tolerance=1e-300, max_rounds=case.rounds),
    )  # fmt: skip
    np.testing.assert_allclose(jax.run(job).x, case.by_hand(), atol=1e-9)
    mine, theirs, _ = side_by_side(lambda: stacked.run(job), case.by_hand, turns=5)
    compiled = min(_a_round(job) for _ in range(5))
    mine, theirs = mine / case.rounds, theirs / case.rounds
    print(
        f"{family:<11}{n:>7}{m:>5}{1e6 * compiled:>12.1f}{1e6 * mine:>12.1f}{1e6 * theirs:>12.1f}"
        f"{compiled / theirs:>10.2f}{compiled / mine:>13.2f}",
        flush=True,
    )


def _a_round(job: Job) -> float:
    looks: list[tuple[int, float]] = []

    def note(progress: Progress) -> None:
        looks.append((progress.check.round, time.perf_counter()))

    jax.run(job, note)
    (first, began), (last, ended) = looks[0], looks[-1]
    return (ended - began) / (last - first)
