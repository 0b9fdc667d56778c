"""Records from the sums of a run: as many equations as numbers are told, solved for the records behind them.

    Σ_k t_s(ϑ_k) = total_s − own_s        for every sum s of the run;  ϑ_k: the records of all honest agents

Totals and points are known to everybody, and the algorithm is public: whoever makes up records can work out what
they would have put into every sum, and change them until all sums fit (Levenberg & Marquardt, from many starts).
Where the equations determine the records, that finds all of them, up to who holds which. No mask takes part.

How many records there are is declared, or told by a count, or tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.heard import totals
from tacit.auditing.attacks.rehearsal import Enough, Opaque
from tacit.auditing.knowledge.public import Public, RecordShape
from tacit.auditing.knowledge.view import View
from tacit.typing import Algorithm, Array, Cost

Contributions = Callable[[Array], Array]
"""Takes records, and returns what each of them puts into all sums, (records, numbers)."""

_FITS = 1e-7  # of the size of a sum: a residual that is rounding
_UNIQUE = 1e-10  # of the largest: a singular value below it leaves records open
_MOVED = 1e-5


@dataclass(frozen=True, slots=True)
class RecordsFromSums:
    """Solve for up to so many hidden numbers, from up to so many starts."""

    numbers: int = 60
    starts: int = 24
    steps: int = 80
    """Of one descent: a good start needs about twenty."""
    name: str = "records from sums"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nothing is added up, nothing is known of records, or there are too many."""
        if public.records is None:
            return "nothing is known of what a record is"
        known = totals(view, public)
        if public.algorithm is None or not known or len(view.own.sums) < len(known):
            return "nothing is added up over a tree"
        count = public.records.held_by(public.honest(view.coalition))
        hidden, numbers = count * public.records.numbers, sum(total.size for total in known)
        if numbers < hidden:
            return f"{numbers} numbers are told, and {hidden} are hidden"
        return None if hidden <= self.numbers else f"{hidden} hidden numbers are too many to solve for"

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the records of all honest agents together; nothing where no records fit, or several do."""
        records, algorithm = public.records, public.algorithm
        if records is None or algorithm is None:
            return nothing(0, about="records")
        known = totals(view, public)
        sums = np.concatenate([total - own for total, own in zip(known, view.own.sums, strict=False)])
        count = records.held_by(public.honest(view.coalition))
        made_up = records.invent(np.random.default_rng(0), 2, 0.0)
        terms = terms_of(algorithm, public.start, records.costs_of(public.honest(view.coalition)), known, made_up)
        solution = self.solved(sums, terms, records, count)
        if solution is None:
            return nothing(records.numbers, about="records")
        values = solution[:, : records.numbers]
        return Estimate(
            agents=np.arange(count), values=values, deviations=np.zeros(count), about="records",
            says=f"{count} records fit {sums.size} sums, and no others near them do",
        )  # fmt: skip

    def solved(self, sums: Array, terms: Contributions, records: RecordShape, count: int) -> Array | None:
        """Return records whose sums are *sums*, discrete parts included."""
        rng, size = np.random.default_rng(0), 1.0 + np.abs(sums)
        for start in range(self.starts):
            rows = records.invent(rng, count, float(start % 3))
            fitted = _descend(rows, sums, size, terms, records.numbers, self.steps)
            if fitted is not None:
                return fitted
        return None


def _descend(rows: Array, sums: Array, size: Array, terms: Contributions, numbers: int, steps: int) -> Array | None:
    """Return records near *rows* that fit, and that no others near them do."""

    def residual(rows: Array) -> Array:
        return np.asarray((terms(rows).sum(axis=0) - sums) / size)

    away, damping = residual(rows), 1e-3
    for _ in range(steps):
        if not np.isfinite(away).all():
            return None
        J = _slopes(rows, terms, numbers) / size[:, None]
        if np.abs(away).max() <= _FITS:
            values = np.linalg.svd(J, compute_uv=False)
            unique = len(values) == J.shape[1] and values[-1] > _UNIQUE * values[0]
            return _polished(rows, J, away, numbers) if unique else None
        left, values, right = np.linalg.svd(J, full_matrices=False)
        for _ in range(8):
            step = -right.T @ (values / (values**2 + damping * values[0] ** 2) * (left.T @ away))
            trial = _moved(rows, step, numbers)
            nearer = residual(trial)
            if np.square(nearer).sum() < np.square(away).sum():
                rows, away, damping = trial, nearer, damping / 10.0
                break
            damping = min(damping * 10.0, 1e6)
        else:
            return None
    return None


def _polished(rows: Array, J: Array, away: Array, numbers: int) -> Array:
    """Return the records after one more full step."""
    return _moved(rows, -np.asarray(np.linalg.lstsq(J, away, rcond=None)[0], dtype=np.float64), numbers)


def _moved(rows: Array, step: Array, numbers: int) -> Array:
    moved = rows.copy()
    moved[:, :numbers] += step.reshape(len(rows), numbers)
    return moved


def _slopes(rows: Array, terms: Contributions, numbers: int) -> Array:
    """Return how all sums move with every number of every record, (sums, records · numbers)."""
    each = np.arange(numbers)
    both = np.tile(rows[:, None, :], (2, 1, numbers, 1))
    both[0][:, each, each] += _MOVED
    both[1][:, each, each] -= _MOVED
    up, down = terms(both.reshape(-1, rows.shape[1])).reshape(2, len(rows) * numbers, -1)
    return np.asarray((up - down).T / (2.0 * _MOVED))


def terms_of(
    algorithm: Algorithm, start: Array, costs: Callable[[Array], Cost], known: Sequence[Array], rows: Array
) -> Contributions:
    """Return what records put into the sums of a run whose totals are known: the run, once more, round by round.

    *rows* are any records: what the totals alone decide does not depend on them.
    """
    rounds = rounds_of(algorithm, start, costs(rows), known)

    def terms(rows: Array) -> Array:
        cost, summed = costs(rows), []
        with np.errstate(all="ignore"):
            for state, answers in rounds:
                peers = Answering(answers)
                with suppress(Enough):
                    algorithm.step(state, peers, cost)
                summed += peers.summands
        return np.concatenate([v.reshape(len(rows), -1) for v in summed], axis=1)

    return terms


def follow(algorithm: Algorithm, start: Array, cost: Any, known: Sequence[Array]) -> list[Array]:
    """Return what agents with this cost together put into every sum of a run whose totals are known."""
    sums = []
    with np.errstate(all="ignore"):
        for state, answers in rounds_of(algorithm, start, cost, known):
            peers = Answering(answers)
            with suppress(Enough):
                algorithm.step(state, peers, cost)
            sums += [v.sum(axis=0) for v in peers.summands]
    return sums


def rounds_of(
    algorithm: Algorithm, start: Array, cost: Any, known: Sequence[Array]
) -> list[tuple[Any, list[Array]]]:
    """Return the state before every round, and the totals of that round: they follow from the totals before."""
    left, rounds = list(known), []
    try:
        with np.errstate(all="ignore"):
            state = algorithm.init(start.copy(), cost)
            while left:
                before, peers = state, Answering(left, stop=False)
                state = algorithm.step(before, peers, cost)
                taken = len(peers.summands)
                rounds.append((before, left[:taken]))
                left = left[taken:] if taken else []
    except Exception as error:  # whatever a stranger's algorithm raises on costs that it did not expect
        raise Opaque(f"{type(algorithm).__name__} does not run on made-up records") from error
    return rounds


class Answering:
    """`Peers` that know the totals already; they stop a round at its last sum."""

    degree = links = 1
    first = np.ones(1, dtype=bool)
    resolution = 0.0

    def __init__(self, totals: Sequence[Array], *, stop: bool = True) -> None:
        self._totals, self._stop = totals, stop
        self.summands: list[Array] = []

    def sum(self, v: Any, add: Any = np.add) -> Any:
        """Return the next total."""
        self.summands.append(np.asarray(v, dtype=np.float64))
        if (self._stop and len(self.summands) == len(self._totals)) or len(self.summands) > len(self._totals):
            raise Enough
        return self._totals[len(self.summands) - 1]

    def mix(self, *rows: Any, **how: Any) -> Any:
        """Refuse: this is gossip."""
        raise Opaque("agents gossip, and do not only add up")

    gather = swap = total = mix
