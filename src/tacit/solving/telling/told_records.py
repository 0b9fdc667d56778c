"""What sums tell of the records behind them: a rank where that is small enough, else a count.

The best informed agent is the one that holds the most records itself: it faces the fewest hidden numbers. What *it*
holds is hidden from the second best informed. Where a rank would be too large to compute, the plain count of told
numbers is the bound: "of 900 hidden numbers at most 70 combinations are told".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.costs import packed_size
from tacit.costs.secrets import Secrets
from tacit.masks import Basis, Quadratics, drawn_once
from tacit.runtimes import Job
from tacit.solving.problem import Problem
from tacit.solving.telling.count import CLOSE, HELD, Telling
from tacit.solving.telling.surrogates import (
    MISFITS,
    Disclosure,
    RecordVerdict,
    asks_for_degrees,
    judged,
    replayed,
    width,
)
from tacit.typing import Summand

_TYPICAL = 15
"""Rounds of sums that are expected before a run, where none were tried."""
_LARGE = 600
"""Hidden numbers up to which the rank is computed, if the Jacobian has no more than `_ENTRIES` numbers."""
_ENTRIES = 500_000
_WIDE = 60
"""Unknowns up to which an invented run is worth its time."""
_SHARP = 1e-11
"""The relative precision of secret sums, which are exact but for the rounding of float64."""


def of_records(problem: Problem, job: Job) -> Telling:
    """Return what a run's sums tell of the records behind them.

    One agent with a cost of which nothing is known is the onlooker; of two, each hides from the other what cannot
    be counted.
    """
    known = [cost.secrets for cost in problem.costs]
    strangers = [i for i, part in enumerate(known) if part is None]
    model = next((part for part in known if part is not None), None)
    if len(strangers) > 1 or model is None:
        return Telling(noun="cost", hidden=0, numbers=0, counted=False)
    secrets = [replace(model, records=0) if part is None else part for part in known]
    names = [str(agent) for agent in problem.network.agents]
    degrees = [int(degree) for degree in problem.network.degrees]
    masked_once = drawn_once(job.privacy)
    apart = not masked_once and len(set(degrees)) > 1 and asks_for_degrees(job, model)
    if apart:
        secrets = [part.at(degree) for part, degree in zip(secrets, degrees, strict=True)]
    sizes = np.array([part.hidden for part in secrets])
    order = np.argsort(-sizes, kind="stable")
    first, second = int(order[0]), int(order[1])
    if strangers:  # whoever else looks on does not know that cost
        first = second = strangers[0]
    hidden = int(sizes.sum() - sizes[first])
    quadratic = Quadratics().covers(problem.stack)
    most = packed_size(problem.dim) + problem.dim if quadratic and not apart else None
    a_round, numbers = _counted(problem, job, secrets[first], most)
    masks = job.privacy
    overhear = _coefficients(masks.basis) if drawn_once(masks) else replayed(job)
    verdicts: dict[int, RecordVerdict | None] = {}
    small = hidden <= _LARGE and hidden * numbers <= _ENTRIES and problem.dim <= _WIDE
    if small and (apart or numbers > CLOSE * hidden):
        for c in (first, second):
            alike = sizes[first] == sizes[second] and secrets[first].key == secrets[second].key
            same = first in verdicts and (c == first or alike)
            verdicts[c] = verdicts[first] if same else _against(secrets, c, overhear)
    seen, other = verdicts.get(first), verdicts.get(second)
    onlooker = first
    if other is not None and any(other.singles) and (seen is None or not any(seen.singles)):
        seen, onlooker = other, second
    exposed = [i for i in range(len(names)) if i != first and _is_told(verdicts.get(first), secrets, first, i)]
    exposed += [first] if first != second and _is_told(verdicts.get(second), secrets, second, first) else []
    return Telling(
        noun=secrets[first].noun,
        hidden=hidden,
        numbers=numbers if seen is None else max(seen.numbers, seen.rank),
        rank=None if seen is None else seen.rank,
        determined=0 if seen is None else sum(seen.singles),
        agents=() if len(exposed) == len(names) else tuple(names[i] for i in sorted(exposed)),
        onlooker=names[onlooker],
        held=tuple(int(size) for size in sorted(np.delete(sizes, first), reverse=True)[:HELD]),
        a_round=a_round,
        most=most,
    )


def _counted(problem: Problem, job: Job, secrets: Secrets, most: int | None) -> tuple[int, int]:
    """Return the told numbers of a round, and of a run that is typical."""
    m = problem.dim
    if drawn_once(job.privacy):  # one sum of coefficients
        return 0, len(job.privacy.basis.scales(m))
    a_round = 0
    if m <= _WIDE:
        try:
            a_round = width(job, secrets)
        except MISFITS:
            a_round = 0
    if not a_round:
        a_round = sum(Summand(part).size(m) for part in job.algorithm.sums)
    numbers = a_round * _TYPICAL
    return a_round, numbers if most is None else min(most, numbers)


def _coefficients(basis: Basis) -> Callable[..., Disclosure]:
    """Return what one sum of coefficients tells: there are no points."""
    return lambda _: basis.read


def _kinds(secrets: Sequence[Secrets]) -> list[Secrets]:
    """Return one entry per kind of records, with all of them."""
    kinds: dict[tuple[Any, ...], list[Secrets]] = {}
    for part in secrets:
        kinds.setdefault(part.key, []).append(part)
    return [parts[0].joined(parts[1:]) for parts in kinds.values()]


def _against(
    secrets: Sequence[Secrets], onlooker: int, overhear: Callable[..., Disclosure]
) -> RecordVerdict | None:
    others = _kinds([part for i, part in enumerate(secrets) if i != onlooker])
    return judged(others, [secrets[onlooker]], overhear, precision=_SHARP)


def _is_told(verdict: RecordVerdict | None, secrets: Sequence[Secrets], onlooker: int, agent: int) -> bool:
    """Tell whether numbers of the kind that *agent* holds are determined for the *onlooker*."""
    if verdict is None:
        return False
    others = _kinds([part for i, part in enumerate(secrets) if i != onlooker])
    return any(
        count > 0 for kind, count in zip(others, verdict.singles, strict=True) if kind.key == secrets[agent].key
    )
