"""Which labels follow from Aᵀy, where features are open: for single agents, and for coalitions.

The labels of agent i are determined iff the rows of A_i are independent of all other rows in A_H
(`tacit.certificates.determined`). A few rows nearly always answer for all, one way or the other (`open_rows`).
Where they do not, singular values do, of tables that are no longer than they need be (`tacit.costs.alone`).

Which coalition of a given size is told the most would take a search. Those with most records are asked, and where
some columns are mostly zero, those with most leverage: the coalition that is named is told something, and a smaller
one may be.

A stranger is an agent whose affine part is hidden and no sum of labels: m unknown numbers, which hide everything
from whoever is not that agent. So every onlooker that counts is, or has with it, all strangers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.certificates.determined import Knowledge, knowledge, whole
from tacit.costs.alone import shortened
from tacit.costs.secrets import Labels
from tacit.solving.telling.open_rows import OpenRows
from tacit.solving.telling.twins import left_by
from tacit.typing import Array

_ALIKE = 12
"""Digits up to which agents are told the same: then they are asked in their order."""


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
    counts, held = test.records, test.table.held
    m, n = held.shape[1], len(labels)
    hidden = int(counts.sum() - counts.max()) if not strangers else int(counts.sum()) + (strangers - 1) * m
    holders = held.sum(axis=0)
    own = tuple(
        (int(column), int(agent))
        for column in np.flatnonzero((holders > 0) & (holders + strangers <= min(2, n + strangers - 1)))
        for agent in np.flatnonzero(held[:, column])
    )
    # who holds a column, all but one, knows the sums of that one
    least = max(1, int((holders[holders > 0] + strangers - 1).min(initial=n + strangers)))
    rank, determined = test.singles(least) if strangers <= 1 else (m, (0,) * n)
    if any(determined):
        return LabelVerdict(hidden, min(rank, hidden), determined, own, 1)
    least = test.coalition(least)
    return LabelVerdict(hidden, min(rank, hidden), determined, own, least if least < n + strangers - 1 else None)


@dataclass(frozen=True)
class _Test:
    """The questions, in the order of what they cost."""

    labels: Sequence[Labels]
    table: OpenRows
    precision: float
    strangers: int
    sizes: dict[tuple[bytes, int], tuple[NDArray[np.intp], range]] = field(default_factory=dict, repr=False)
    """Answers of `_sizes`."""

    @cached_property
    def records(self) -> NDArray[np.intp]:
        return np.array([part.records for part in self.labels])

    @cached_property
    def exact(self) -> _Exact:
        return _Exact.of(self.short, self.precision)

    @cached_property
    def short(self) -> list[tuple[Array, int]]:
        """Shortened tables, and how many of their rows are records."""
        return [shortened(part.rows)[:2] if part.alone is None else (part.rows, part.alone) for part in self.labels]

    def singles(self, least: int) -> tuple[int, tuple[int, ...]]:
        """Return the rank of what is told, and how many labels of each agent follow for some single agent.

        What is learnt on the way about coalitions of fewer than *least* agents is not asked twice.
        """
        everybody, counts = np.arange(len(self.records)), self.records
        if self._hides_from_single_agents(least):
            return len(self.table.columns), (0,) * len(counts)
        if self.table.stand_alone(everybody, self.precision):
            return int(counts.sum()), tuple(map(int, counts))
        determined = self.exact.determined(() if self.strangers else [[c] for c in range(len(counts))])
        return self.exact.known.rank, tuple(map(int, determined))

    def _hides_from_single_agents(self, least: int) -> bool:
        """Tell whether, plainly, no label follows for any single agent."""
        table = self.table
        if table.twins is not None and table.twins.hide_all():
            return True
        if table.closed.sum() + self.strangers >= 2:
            return True
        if table.is_sparse:
            if not self.strangers and table.tell_single_agents():
                return False
            order, sizes = self._sizes(self._by_records, least)
            if sizes and table.hide_each_other(order[sizes[-1] :]) and table.hide_each_other(order[: sizes[-1]]):
                return True  # a single agent is in one of them, and the other answers for all
        return table.hide_all()

    @cached_property
    def _by_records(self) -> NDArray[np.intp]:
        return np.argsort(-self.records, kind="stable")

    def coalition(self, least: int) -> int:
        """Return the size, below *least*, of a coalition to which labels follow; *least* if there is none."""
        if self.table.closed.all():
            return least
        least = self._along(self._by_records, least)
        if not self._is_uneven(least):
            return least
        return self._along(np.argsort(-self.table.leverage.round(_ALIKE), kind="stable"), least)

    def _along(self, order: NDArray[np.intp], least: int) -> int:
        """Return the same of the first agents in this order, behind those who hide everything while honest."""
        order, sizes = self._sizes(order, least)
        least, unclear = sizes.stop + self.strangers, list(sizes)
        if unclear and self.table.twins is not None:
            hides = self.table.twins.hide_behind(order)
            unclear = [size for size in unclear if not hides[size]]
        if not unclear:
            return least
        left = left_by(self.table.counts, order)
        many = [size for size in unclear if left[size] > len(self.table.columns)]
        hidden = _last(many, lambda size: self.table.hide_each_other(order[size:]))
        for size in unclear[hidden:]:
            if self._is_told(order[size:]):
                return size + self.strangers
        return least

    def _sizes(self, order: NDArray[np.intp], least: int) -> tuple[NDArray[np.intp], range]:
        """Return agents in order, closed ones first, and how many of them are not plainly told a label.

        The range ends before *least*, before those who leave one agent, or before the first who are told one.
        """
        key = (order.tobytes(), least)
        if key not in self.sizes:
            self.sizes[key] = self._sizes_anew(order, least)
        return self.sizes[key]

    def _sizes_anew(self, order: NDArray[np.intp], least: int) -> tuple[NDArray[np.intp], range]:
        closed = self.table.closed[order]
        if closed.any():
            order = np.concatenate([order[closed], order[~closed]])
        end = min(least, len(order) + self.strangers - 1) - self.strangers
        sizes = range(max(2 - self.strangers, int(closed.sum()), 0), end)
        if not self.table.is_sparse or not sizes:
            return order, sizes
        tells = self.table.tell_behind(order)[sizes.start : end]
        return order, sizes[: int(tells.argmax())] if tells.any() else sizes

    def _is_told(self, honest: NDArray[np.intp]) -> bool:
        """Tell whether any label of these agents follows for all others together."""
        if self.table.tell(honest) or self.table.stand_alone(honest, self.precision):
            return True
        return bool(_Exact.of([self.short[i] for i in honest], self.precision).determined(()).any())

    def _is_uneven(self, least: int) -> bool:
        """Tell whether fewer than *least* agents, whoever they are, can leave a column with few records."""
        table, n = self.table, len(self.records)
        rest = n - min(least - 1 - self.strangers, n - 2)  # those that they leave, all of them not closed
        if (table.counts > len(table.columns))[~table.closed].any():
            return True
        counts = np.sort(table.entries[~table.closed], axis=0)[:rest]
        return bool((counts.sum(axis=0) <= len(table.columns))[counts.any(axis=0)].any())


def _last(sizes: Sequence[int], holds: Callable[[int], bool]) -> int:
    """Return how many of *sizes* it holds for, if for all up to one of them: the last is tried first."""
    low, high, middle = 0, len(sizes), len(sizes)
    while low < high:
        low, high = (middle, high) if holds(sizes[middle - 1]) else (low, middle - 1)
        middle = (low + high + 1) // 2
    return low


class _Exact(NamedTuple):
    """The singular values of all rows, long tables shortened."""

    known: Knowledge
    blocks: list[NDArray[np.intp]]
    records: NDArray[np.bool_]
    """Which rows are records, and no part of a factor."""

    @classmethod
    def of(cls, parts: Sequence[tuple[Array, int]], precision: float) -> _Exact:
        ends = np.cumsum([len(rows) for rows, _ in parts])
        blocks = [np.arange(end - len(rows), end) for (rows, _), end in zip(parts, ends, strict=True)]
        records = np.concatenate([np.arange(len(rows)) < alone for rows, alone in parts])
        return cls(knowledge(np.concatenate([rows for rows, _ in parts]).T, precision=precision), blocks, records)

    def determined(self, coalitions: Iterable[Sequence[int]]) -> NDArray[np.intp]:
        """Return how many labels of every agent follow for everybody, or for one of *coalitions*."""
        singles = self.known.singles & self.records
        for coalition in () if singles[self.records].all() else coalitions:
            inside = np.concatenate([self.blocks[c] for c in coalition])
            others = self.records.copy()
            others[inside] = False
            singles = singles | (whole(self.known.leverage_given(inside)) & others)
        return np.array([int(singles[block].sum()) for block in self.blocks])
