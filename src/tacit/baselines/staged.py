"""Approaches that are an algorithm on links: run it for the answer, and again with every coalition listening.

Where an approach hides behind randomness of its own, an attacker runs the algorithm without it: that is public.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from tacit.auditing.attacked import truth_of
from tacit.auditing.recording.watch import public_knowledge, watch
from tacit.baselines.approach import Demonstration, Listeners, Overhearing, Pledge
from tacit.runtimes import Job, stacked
from tacit.solving import Problem
from tacit.typing import Algorithm

_HEARD = (40, 400)  # rounds that are listened to: three times as many as agents, within these


class Staged(NamedTuple):
    """A run before it starts."""

    job: Job
    known: Algorithm
    """The algorithm as an attacker can run it."""
    how: str


def demonstrated(
    problem: Problem,
    stage: Callable[[int, Sequence[int]], Staged],
    listeners: Listeners,
    *,
    promises: Sequence[Pledge] = (),
) -> Demonstration:
    """Run `stage(0, ())` for the answer, and `stage(k, who)` with *who* listening to its k-th run."""
    job, _, how = stage(0, ())
    start = time.perf_counter()
    run = stacked.run(job)
    seconds = time.perf_counter() - start
    return Demonstration(
        x=run.x,
        rounds=run.rounds,
        traffic=run.traffic,
        seconds=seconds,
        how=how,
        overheard=[
            [_overheard(problem, stage(k, who), who) for k in range(listeners.repeats)]
            for who in listeners.coalitions
        ],
        promises=promises,
    )


def _overheard(problem: Problem, staged: Staged, who: Sequence[int]) -> Overhearing:
    job, known, _ = staged
    heard = min(max(_HEARD[0], 3 * len(job.network)), _HEARD[1], job.rule.max_rounds)
    job = replace(job, rule=replace(job.rule, max_rounds=heard))
    public = msgspec.structs.replace(public_knowledge(problem, job), algorithm=known)
    return Overhearing(watch(job, who, worst_case=True), public, truth_of(problem, job))
