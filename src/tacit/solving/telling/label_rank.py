"""Which labels follow from Aᵀy, where features are open: for single agents, and for coalitions.

The labels of agent i are determined iff the rows of A_i are independent of all other rows in A_H
(`tacit.certificates.determined`). Where all agents but any two have far more rows than there are unknowns, rows
depend on each other and no label follows, unless a column is zero in nearly all rows: then its sums belong to the
few that are left. The test looks at such columns always, and at the rest of the linear algebra only where records
are few; beside a run on many records it costs nothing.

A stranger is an agent whose affine part is hidden and no sum of labels: m unknown numbers, which hide everything
from whoever is not that agent. So every onlooker that counts is, or has with it, all strangers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.certificates.determined import Knowledge, knowledge, whole
from tacit.costs.rare import Rare, rare
from tacit.costs.secrets import Labels
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


def labels_told(labels: Sequence[Labels], *, precision: float, strangers: int = 0) -> LabelVerdict:
    """Return what follows from the answer, by the open features of every agent."""
    counts = np.array([part.records for part in labels])
    m, n = labels[0].rows.shape[1], len(labels)
    hidden = int(counts.sum() - counts.max()) if not strangers else int(counts.sum()) + (strangers - 1) * m
    held = np.array([part.rows.any(axis=0) for part in labels])  # (n, m)
    holders = held.sum(axis=0)
    own = tuple(
        (int(column), int(agent))
        for column in np.flatnonzero((holders > 0) & (holders + strangers <= min(2, n + strangers - 1)))
        for agent in np.flatnonzero(held[:, column])
    )
    told = np.zeros(n, dtype=np.intp)
    rank, sizes = min(m, hidden), holders[holders > 0] + strangers - 1
    least = int(
        max(1, sizes.min(initial=n + strangers))
    )  # who holds a column, all but one, knows the sums of that one
    order = np.argsort(-counts, kind="stable")
    left = counts.sum() - np.concatenate([[0], np.cumsum(counts[order])])  # labels that so many leave hidden
    few = _Few.of(labels)
    if strangers <= 1:
        singles: list[list[int]] = [[]] if strangers else [[c] for c in range(n)]
        for coalition in singles:
            told = np.maximum(told, few.told(coalition, precision))
    full = None
    if counts.sum() - np.sort(counts)[-2:].sum() < _PLENTY * m:
        full = _Full.of(labels, precision)
        rank = min(full.known.rank, hidden) if strangers <= 1 else rank
        if strangers <= 1:
            told = np.maximum(told, full.told(singles))
    if told.any():
        return LabelVerdict(hidden, rank, tuple(map(int, told)), own, 1)
    for size in range(max(2, strangers), n + strangers - 1):
        if size >= least:
            break
        with_them = size - strangers
        largest = [int(c) for c in order[:with_them]]
        if left[with_them] <= _PLENTY * m:
            full = full or _Full.of(labels, precision)
            if full.told([largest]).any():
                least = size
        if few.told([int(c) for c in few.order[:with_them]], precision).any():
            least = size
    return LabelVerdict(hidden, rank, (0,) * n, own, least if least < n + strangers - 1 else None)


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
