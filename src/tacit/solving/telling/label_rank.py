"""Which labels follow from Aᵀy, where features are open: for single agents, and for coalitions.

The labels of agent i are determined iff the rows of A_i are independent of all other rows in A_H
(`tacit.certificates.determined`). Where all agents but any two have far more rows than there are unknowns, rows
depend on each other and no label follows, unless a column is zero in nearly all rows: then its sums belong to the
few that are left. The test asks a few rows first (`open_rows`), which nearly always answer for all. Where they do
not, it looks at such columns, and at the rest of the linear algebra where records are few.

A stranger is an agent whose affine part is hidden and no sum of labels: m unknown numbers, which hide everything
from whoever is not that agent. So every onlooker that counts is, or has with it, all strangers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.certificates.determined import Knowledge, knowledge, whole
from tacit.costs.rare import Rare, bases, rare
from tacit.costs.secrets import Labels
from tacit.solving.telling.open_rows import OpenRows
from tacit.typing import Array

_PLENTY = 2
"""Rows per unknown, beside the two largest agents, from which on rows in general position leave nothing to ask."""


class LabelVerdict(NamedTuple):
    """What the answer tells of labels to the best informed single agent."""

    hidden: int
    """Labels of all agents but the one with the most, and the affine parts of all strangers but one."""
    rank: int
    """Combinations of them that are told."""
    determined: tuple[int, ...]
    """How many labels of each agent some single other agent can compute."""
    own_columns: tuple[tuple[int, int], ...]
    """(column, agent): a column that is zero at all others, or at all others but one, who then knows its sums."""
    coalition: int | None
    """The size of a coalition to which labels or sums of an agent follow, n − 2 at most; None if none is known."""


def labels_told(
    labels: Sequence[Labels], *, precision: float, strangers: int = 0, table: OpenRows | None = None
) -> LabelVerdict:
    """Return what follows from the answer, by the open features of every agent."""
    test = _Test(labels, OpenRows.of(labels) if table is None else table, precision, strangers)
    counts = np.array([part.records for part in labels])
    m, n = labels[0].rows.shape[1], len(labels)
    hidden = int(counts.sum() - counts.max()) if not strangers else int(counts.sum()) + (strangers - 1) * m
    holders = test.table.held.sum(axis=0)
    own = tuple(
        (int(column), int(agent))
        for column in np.flatnonzero((holders > 0) & (holders + strangers <= min(2, n + strangers - 1)))
        for agent in np.flatnonzero(test.table.held[:, column])
    )
    rank, told = test.singles() if strangers <= 1 else (m, (0,) * n)
    if any(told):
        return LabelVerdict(hidden, min(rank, hidden), told, own, 1)
    # who holds a column, all but one, knows the sums of that one
    least = max(1, int((holders[holders > 0] + strangers - 1).min(initial=n + strangers)))
    least = test.rare(test.largest(least))
    return LabelVerdict(hidden, min(rank, hidden), told, own, least if least < n + strangers - 1 else None)


@dataclass(frozen=True)
class _Test:
    """The questions, in the order of what they cost."""

    labels: Sequence[Labels]
    table: OpenRows
    precision: float
    strangers: int

    @cached_property
    def records(self) -> NDArray[np.intp]:
        return np.array([part.records for part in self.labels])

    @cached_property
    def full(self) -> _Full:
        return _Full.of(self.labels, self.precision)

    @cached_property
    def few(self) -> _Few:
        return _Few.of(self.labels)

    @cached_property
    def is_rare(self) -> NDArray[np.bool_]:
        """Tell whether some column can be rare in the eyes of so many agents, whoever they are, (n,)."""
        counts = bases(self.table.rows[:-1], self.table.counts).others
        for i, part in enumerate(self.labels):
            if part.few is not None:
                counts[i] = part.few.counts
        counts = np.sort(counts, axis=0)[:, counts.any(axis=0)]  # columns with fewest rows at first
        left = np.cumsum(counts, axis=0)[::-1]  # in the eyes of those who have most of a column
        return np.asarray((left <= len(self.table.largest)).any(axis=1))

    def singles(self) -> tuple[int, tuple[int, ...]]:
        """Return the rank of what is told, and how many labels of each agent follow for some single agent."""
        counts, m = self.records, self.table.rows.shape[1]
        if self.table.hide_all():
            return len(self.table.columns), (0,) * len(counts)
        if counts.sum() <= m and self.table.stand_alone(np.arange(len(counts)), self.precision):
            return int(counts.sum()), tuple(map(int, counts))
        onlookers: list[list[int]] = [[]] if self.strangers else [[c] for c in range(len(counts))]
        told, rank = np.zeros(len(counts), dtype=np.intp), m
        if self.is_rare[len(onlookers[0])]:
            told = np.max([self.few.told(each, self.precision) for each in onlookers], axis=0)
        if counts.sum() - np.sort(counts)[-2:].sum() < _PLENTY * m:
            told, rank = np.maximum(told, self.full.told(onlookers)), self.full.known.rank
        return rank, tuple(map(int, told))

    def largest(self, least: int) -> int:
        """Return the size, below *least*, of a coalition of those with most records to which labels follow."""
        m = self.table.rows.shape[1]
        order = np.argsort(-self.records, kind="stable")
        left = self.records.sum() - np.concatenate([[0], np.cumsum(self.records[order])])
        sizes = self._sizes(least)
        many = [size for size in sizes if left[size] > len(self.table.columns)]
        if many and self.table.hide_each_other(order[many[-1] :]):
            sizes = sizes[len(many) :]
        if sizes and self.table.stand_alone(order[sizes[0] :], self.precision):
            return sizes[0] + self.strangers
        for size in sizes:
            if left[size] <= _PLENTY * m and self.full.told([order[:size].tolist()]).any():
                return size + self.strangers
        return least

    def rare(self, least: int) -> int:
        """Return the size, below *least*, of a coalition of those with most rows in rare columns that reads others."""
        for size in self._sizes(least):
            if self.is_rare[size] and self.few.told(self.few.order[:size], self.precision).any():
                return size + self.strangers
        return least

    def _sizes(self, least: int) -> range:
        """Return how many beside the strangers are in a coalition of at least two, and fewer than *least*."""
        end = min(least, len(self.records) + self.strangers - 1)
        return range(max(2, self.strangers) - self.strangers, end - self.strangers)


class _Full(NamedTuple):
    """The linear algebra of all rows; those of an agent with very many by a factor, which spans the same."""

    known: Knowledge
    blocks: list[NDArray[np.intp]]
    whole: list[bool]

    @classmethod
    def of(cls, labels: Sequence[Labels], precision: float) -> _Full:
        most = _PLENTY * labels[0].rows.shape[1] + 8
        rows = [np.linalg.qr(part.rows, mode="r") if len(part.rows) > most else part.rows for part in labels]
        ends = np.cumsum([len(part) for part in rows])
        blocks = [np.arange(end - len(part), end) for part, end in zip(rows, ends, strict=True)]
        exact = [part.records == len(block) for part, block in zip(labels, blocks, strict=True)]
        return cls(knowledge(np.concatenate(rows).T, precision=precision), blocks, exact)

    def told(self, coalitions: Iterable[Sequence[int]]) -> NDArray[np.intp]:
        """Return how many labels of every agent follow for one of *coalitions*."""
        told = self.known.singles
        for coalition in () if told.all() else coalitions:
            if not coalition:
                continue
            inside = np.concatenate([self.blocks[c] for c in coalition])
            others = np.ones(len(told), dtype=bool)
            others[inside] = False
            told = told | (whole(self.known.leverage_given(inside)) & others)
        return np.array(
            [int(told[b].sum()) if exact else 0 for b, exact in zip(self.blocks, self.whole, strict=True)]
        )


class _Few(NamedTuple):
    """Columns that are zero in nearly all rows, and the rows that are left."""

    parts: list[Rare]
    order: list[int]
    """Agents, those with most such rows first."""

    @classmethod
    def of(cls, labels: Sequence[Labels]) -> _Few:
        parts = [rare(part.rows) if part.few is None else part.few for part in labels]
        return cls(parts, sorted(range(len(parts)), key=lambda i: -len(parts[i].rows)))

    def told(self, coalition: Sequence[int], precision: float) -> NDArray[np.intp]:
        """Return how many labels of every agent follow for *coalition* from the sums of rare columns."""
        found, honest = np.zeros(len(self.parts), dtype=np.intp), set(range(len(self.parts))) - set(coalition)
        if not honest:
            return found
        parts = [self.parts[i] for i in sorted(honest)]
        counts, base = np.sum([part.counts for part in parts], axis=0), parts[0].base
        m = len(base)
        columns = np.flatnonzero((counts <= m) & np.all([part.base == base for part in parts], axis=0))
        if not len(columns) or not counts[columns].any():
            return found
        rows: list[Array] = [part.rows[:, columns] for part in parts]
        rows = [part[part.any(axis=1)] for part in rows]
        singles = knowledge(np.concatenate(rows).T, precision=precision).singles
        ends = np.cumsum([len(part) for part in rows])
        for i, part in zip(sorted(honest), np.split(singles, ends[:-1]), strict=True):
            found[i] = int(part.sum())
        return found
