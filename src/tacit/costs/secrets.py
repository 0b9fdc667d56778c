"""What of a cost is secret, as numbers: by shapes alone, so that the same can be invented.

    a cost   = records of one kind
    a record = so many real numbers (features, a label that is a number), and after them what is discrete: a class

Whether the sums of a run determine records is asked at *invented* records of the same shape
(`tacit.certificates.determined`): no private number takes part in the question, nor in its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tacit.typing import Array

if TYPE_CHECKING:
    from tacit.costs.family import Family

SMOOTH, KINKED = 1e-3, 1e-6
Noun = Literal["record", "cost", "unit", "demand"]
Guess = Callable[[np.random.Generator, Array], Array]
"""Invents labels for scores aᵀw."""


class Labels(NamedTuple):
    """Labels y that enter a cost through −Aᵀy alone, beside features A that affine masks leave in the open."""

    rows: Array
    """A without records of weight 0, or shortened to what has the same AᵀA (`alone`)."""
    records: int
    """Those with a weight: others are no part of any sum, and hide nobody."""
    bits: float | None
    """How much there is to know of one label; None where it is a real number."""
    alone: int | None = None
    """How many records are at the top of shortened *rows*; None where all rows are records."""
    some: Array | None = None
    """Some rows of A, where *rows* were shortened."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The records of one cost: how many, of how many numbers, and how to invent costs of one record each."""

    records: int
    numbers: int
    """Real numbers in a record: the first columns of an invented one. What follows them is discrete."""
    key: tuple[Any, ...]
    """Records with the same key are of one kind, at whatever agent."""
    invent: Callable[[np.random.Generator, int, float], Array]
    """Return so many records, (count, numbers and more), with labels that follow a model of that strength."""
    of_rows: Callable[[Array, Array], Family]
    """Return as many agents as there are rows, with one record and that penalty each, as one object."""
    penalty: Array
    """The public penalty of the whole cost."""
    noun: Noun = "record"
    degree: int = 0
    """How many neighbours the agents with these records have, where an algorithm asks."""
    step: float = SMOOTH
    """By how much an invented number is moved to see what changes: less where a cost has kinks."""

    @property
    def hidden(self) -> int:
        """How many numbers are secret in all."""
        return self.records * self.numbers

    def costs(self, rows: Array) -> Family:
        """Return agents with one record each, and an equal part of the penalty; each says that it has one."""
        costs = self.of_rows(rows, self.penalty / max(self.records, 1))
        costs.facts = np.ones((len(rows), 1))
        return costs

    def at(self, degree: int) -> Secrets:
        """Return the same records, as a kind of their own among those of agents with so many neighbours."""
        return replace(self, degree=degree, key=(*self.key, degree))

    def joined(self, others: Sequence[Secrets]) -> Secrets:
        """Return the records of several costs of one kind, as those of one."""
        records = self.records + sum(other.records for other in others)
        return replace(self, records=records, penalty=self.penalty + sum(other.penalty for other in others))


def regression(
    kind: type[Any],
    *,
    records: int,
    unknowns: int,
    intercept: bool,
    labels: Guess,
    real: bool,
    penalty: Array,
    costs: Callable[[Array, Array, Array], Family],
    kinks: bool = False,
) -> Secrets:
    """Return the secrets of a regression: features, and a label that is a *real* number or discrete.

    Records are invented in standard units; *costs* takes designs (count, 1, unknowns), labels (count,), and the
    penalty of each.
    """
    p = unknowns - intercept

    def invent(rng: np.random.Generator, count: int, strength: float) -> Array:
        features = rng.normal(size=(count, p))
        scores = features @ rng.normal(size=p) * (strength / np.sqrt(max(p, 1)))
        return np.column_stack([features, labels(rng, scores)])

    def make(rows: Array, each: Array) -> Family:
        design = np.concatenate([rows[:, :p], np.ones((len(rows), int(intercept)))], axis=1)
        return costs(design[:, None, :], rows[:, p], np.tile(each, (len(rows), 1)))

    step = KINKED if kinks else SMOOTH
    return Secrets(records, p + real, (kind, unknowns, intercept), invent, make, penalty, step=step)
