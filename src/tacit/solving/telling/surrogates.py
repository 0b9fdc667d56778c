"""What sums tell of the records behind them, asked at invented records of the same shape.

    T(ϑ) = Σ_k t(ϑ_k)            one term per record: what an agent with that record alone would put into each sum
    J    = (∂t/∂ϑ_1, ∂t/∂ϑ_2, …)

Sums that an algorithm takes at one point after the other are told with their points, which every agent knows; so
the points are held fixed while the records change. That is done by replaying: the algorithm runs once on invented
records and its totals are kept; then it runs again with other records and is handed the same totals, and so asks
for the same sums at the same points. Nothing here knows any algorithm or any family: whatever can be run can be
asked.

Derivatives are central differences of sixth order, h⁶ and ε/h from exact: about 1e-12, and 1e-9 beside kinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from tacit.certificates.determined import knowledge
from tacit.costs import CostStack, Family
from tacit.costs.secrets import Secrets
from tacit.costs.stack import Group
from tacit.errors import TacitError
from tacit.runtimes import Job
from tacit.runtimes.looking import Look
from tacit.typing import Array

Disclosure = Callable[..., Array]
"""Returns what every agent of a stack puts into all sums, (agents, numbers); how many neighbours they have is a
second argument, where that matters."""

_EPS = 1e-15
_OFFSETS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
_WEIGHTS = np.array([-1 / 60, 3 / 20, -3 / 4, 3 / 4, -3 / 20, 1 / 60])
_STRENGTHS = ((0.0, 1.0), (1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (1.0, 10.0))
"""How much invented labels follow their features, and in which units these are, one surrogate each: points lie
close together, or far apart; scores are small, or large."""
_ROUNDS = 60
_LOOKS = 4
"""Rounds by which an algorithm has shown what it adds up: some begin with sums of another kind."""
MISFITS = (TacitError, ArithmeticError, LookupError, TypeError, ValueError)
"""What an algorithm may raise on invented costs; it is then asked nothing."""
_COMPANY = 40
"""Records of whoever looks on, at most, that take part in an invented run."""


class AllAdded(Exception):  # noqa: N818
    """All that was asked for was added up."""


class SummingPeers:
    """`Peers` of a run that only adds up; it remembers what was added up, and may be told what to answer."""

    links, first, resolution = 0, np.zeros(0, dtype=bool), 0.0

    def __init__(self, answers: Sequence[Array] = (), enough: int | None = None, degree: Array | int = 0) -> None:
        self._answers, self._enough, self._degree = answers, enough, degree
        self.asked = False
        self.terms: list[Array] = []
        self.totals: list[Array] = []

    @property
    def degree(self) -> Array | int:
        """How many neighbours every agent has."""
        self.asked = True
        return self._degree

    def sum(self, v: Any, add: Any = np.add) -> Any:
        """Return the sum, or the answer that was given."""
        v, known = np.asarray(v), len(self.totals) < len(self._answers)
        total = self._answers[len(self.totals)] if known else v.sum(axis=0)
        self.terms.append(v)
        self.totals.append(total)
        if len(self.terms) == self._enough:
            raise AllAdded
        return total

    def __getattr__(self, verb: str) -> Any:
        raise TacitError(f"an algorithm that is driven by sums asks for peers.{verb}.")


class RecordVerdict(NamedTuple):
    """What invented records of one shape have shown, at worst."""

    rank: int
    """Independent combinations of hidden numbers that are told."""
    singles: tuple[int, ...]
    """Hidden numbers of every kind of records that are told by themselves."""
    numbers: int
    """Told numbers that depend on records at all."""

    def worse(self, other: RecordVerdict) -> RecordVerdict:
        """Return the worse of both in every respect."""
        singles = tuple(map(max, self.singles, other.singles))
        return RecordVerdict(max(self.rank, other.rank), singles, max(self.numbers, other.numbers))


def judged(
    secrets: Sequence[Secrets], company: Sequence[Secrets], overhear: Callable[..., Disclosure], *, precision: float
) -> RecordVerdict | None:
    """Return what is told of records of these kinds beside those of the onlookers; None where no run got anywhere.

    *overhear* takes the costs of a whole invented network, and returns what agents there put into sums.
    """
    worst: RecordVerdict | None = None
    kinds = [*secrets, *company]
    apart = any(kind.degree for kind in kinds)
    for seed, (strength, scale) in enumerate(_STRENGTHS):
        rng = np.random.default_rng(seed)
        rows = [kind.invent(rng, kind.records, strength) for kind in secrets]
        rest = [kind.invent(rng, min(kind.records, _COMPANY), strength) for kind in company]
        counts = [len(part) for part in (*rows, *rest)]
        degrees = [np.repeat([float(kind.degree) for kind in kinds], counts)[:, None]] if apart else []
        for kind, part in zip(kinds, [*rows, *rest], strict=True):
            part[:, : kind.numbers] *= scale if kind.noun == "record" else 1.0
        try:
            with np.errstate(all="ignore"):
                terms = overhear(_stack(kinds, [*rows, *rest]), *degrees)
                J = np.concatenate([_jacobian(k, r, terms) for k, r in zip(secrets, rows, strict=True)], axis=1)
        except MISFITS:
            continue
        if not np.isfinite(J).all():
            continue
        informative = np.abs(J).max(axis=1, initial=0.0) > 1e-9 * np.abs(J).max(initial=0.0)
        coarse = max(_EPS / kind.step for kind in secrets)
        known = knowledge(J[informative], precision=max(precision, coarse))
        parts = np.split(known.singles, np.cumsum([kind.hidden for kind in secrets])[:-1])
        verdict = RecordVerdict(known.rank, tuple(int(part.sum()) for part in parts), int(informative.sum()))
        worst = verdict if worst is None else worst.worse(verdict)
    return worst


def replayed(job: Job) -> Callable[..., Disclosure]:
    """Return what *job*'s algorithm adds up, at the points that it passes on invented costs."""

    def overhear(cost: Any, degrees: Array | int = 0) -> Disclosure:
        rounds = overheard(job, cost, degrees)

        def terms(others: Any, degree: int = 0) -> Array:
            summands = [v for state, totals in rounds for v in _asked(job, others, state, totals, degree)]
            return np.concatenate([v.reshape(len(others.affine), -1) for v in summands], axis=1)

        return terms

    return overhear


def overheard(job: Job, cost: Any, degrees: Array | int = 0) -> list[tuple[Any, list[Array]]]:
    """Run *job*'s algorithm on other costs until it stops; return the state before every round, and its totals."""
    watch, observer, algorithm = job.watch(None), job.observer(), job.algorithm
    state, rounds = algorithm.init(job.x0, cost), []
    for done in range(1, _ROUNDS + 1):
        before, peers = state, SummingPeers(degree=degrees)
        state = algorithm.step(before, peers, cost)
        rounds.append((before, peers.totals))
        if watch.look(done, Look.read(observer.tell(before, state))) is not None:
            break
    return rounds


def _asked(job: Job, cost: Any, state: Any, totals: Sequence[Array], degree: int) -> list[Array]:
    """Return what agents put into the sums of one round; what the round does with the last of them is not run."""
    peers = SummingPeers(totals, enough=len(totals), degree=degree)
    with suppress(AllAdded):
        job.algorithm.step(state, peers, cost)
    return peers.terms


def asks_for_degrees(job: Job, secrets: Secrets) -> bool:
    """Tell whether what agents put into sums may depend on how many neighbours they have."""
    cost, peers = secrets.costs(secrets.invent(np.random.default_rng(0), 6, 1.0)), SummingPeers()
    with np.errstate(all="ignore"), suppress(*MISFITS):
        job.algorithm.step(job.algorithm.init(job.x0, cost), peers, cost)
    return peers.asked


def width(job: Job, secrets: Secrets) -> int:
    """Return how many numbers about its records an agent puts into the sums of one round."""
    rows = secrets.invent(np.random.default_rng(0), 6, 1.0)
    cost, widest = secrets.costs(rows), 0
    with np.errstate(all="ignore"):
        state = job.algorithm.init(job.x0, cost)
        for _ in range(_LOOKS):
            peers = SummingPeers(degree=secrets.degree)
            state = job.algorithm.step(state, peers, cost)
            widest = max(widest, sum(int((v != v[0]).any(axis=0).sum()) for v in peers.terms))
    return widest


def _jacobian(kind: Secrets, rows: Array, terms: Disclosure) -> Array:
    """Return ∂(what is told)/∂(hidden numbers), one column per record and number of it."""
    count, each = len(rows), np.arange(kind.numbers)
    moved = np.tile(rows[:, None, :], (len(_OFFSETS), 1, kind.numbers, 1))  # (offsets, records, numbers, width)
    moved[:, :, each, each] += kind.step * _OFFSETS[:, None, None]
    values = terms(kind.costs(moved.reshape(-1, rows.shape[1])), *([kind.degree] if kind.degree else []))
    return np.tensordot(_WEIGHTS, values.reshape(len(_OFFSETS), count * kind.numbers, -1), axes=1).T / kind.step


def _stack(kinds: Sequence[Secrets], rows: Sequence[Array]) -> Family | CostStack:
    groups, start = [], 0
    for kind, part in zip(kinds, rows, strict=True):
        if len(part):
            groups.append(Group(slice(start, start + len(part)), kind.costs(part)))
            start += len(part)
    if len(groups) == 1:
        return groups[0].cost
    return CostStack(groups, (start, groups[0].cost.dim))
