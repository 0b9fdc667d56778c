"""The open features of all agents in one table, and what a few of its rows say at once about everybody's labels.

Nearly always no label follows, and nearly always a few rows of every agent show it (`tacit.certificates.circuits`):
rows that depend on each other even without any one group of agents answer for all rows, and for every onlooker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.certificates.circuits import independent, intertwined
from tacit.costs.secrets import Labels
from tacit.typing import Array

_GROUPS = (8, 32)
"""Agents are left out by so many groups, one by one only where rows are short."""
_TIMES = (1, 5)
"""How many times the rows that an answer needs are looked at: at first, and again where it was not plain."""


class OpenRows(NamedTuple):
    """The rows of all agents, one agent after the other; of those that keep a factor, some rows."""

    rows: Array
    """(N + 1, m), with a last row of zeros."""
    counts: NDArray[np.intp]
    """How many of them each agent has, (n,)."""
    largest: Array
    """What no entry of any record exceeds, (m,)."""
    held: NDArray[np.bool_]
    """Whose records are not all zero in which column, (n, m)."""
    sizes: Array
    """The largest entry of each agent, (n,)."""

    @classmethod
    def of(cls, labels: Sequence[Labels]) -> OpenRows:
        """Put the rows of all agents under each other."""
        shown = [part.rows if part.some is None else part.some for part in labels]
        counts = np.array([len(rows) for rows in shown])
        rows = np.concatenate([*shown, np.zeros((1, shown[0].shape[1]))])
        entries = np.abs(rows)
        most = np.maximum.reduceat(entries, np.cumsum(counts) - counts, axis=0)
        most[counts == 0] = 0.0  # where reduceat takes the next row
        sizes = most.max(axis=1)
        for i, part in enumerate(labels):
            if part.some is not None:
                most[i], sizes[i] = np.sqrt((part.rows**2).sum(axis=0)), np.abs(part.rows).max(initial=0.0)
        return cls(rows, counts, most.max(axis=0), most > 0, sizes)

    @property
    def columns(self) -> NDArray[np.intp]:
        """Columns in which somebody has something."""
        return np.flatnonzero(self.largest)

    def hide_all(self) -> bool:
        """Tell whether, plainly, no label follows for any single agent."""
        needed = _needed(len(self.columns))
        groups = self._groups(needed) or self._groups(len(self.columns) + 1)
        if groups is None:
            return False
        for k in _TIMES:
            rows = _padded(groups, -(-k * needed // (len(groups) - 1)), blank=len(self.rows) - 1)
            if self._are_intertwined(rows.ravel(), np.arange(rows.size).reshape(rows.shape)):
                return True
        return False

    def hide_each_other(self, agents: NDArray[np.intp]) -> bool:
        """Tell whether, plainly, none of these agents' labels follows, nor any where more agents are honest."""
        rows, nobody = self._of(agents), np.zeros((1, 0), dtype=np.intp)
        steps = [max(1, len(rows) // (k * _needed(len(self.columns)))) for k in _TIMES]
        return any(self._are_intertwined(rows[::step], nobody) for step in sorted(set(steps), reverse=True))

    def stand_alone(self, agents: NDArray[np.intp], precision: float) -> bool:
        """Tell whether, plainly, all labels of these agents follow."""
        return independent(self.rows[self._of(agents)], precision)

    def _are_intertwined(self, rows: NDArray[np.intp], blocks: NDArray[np.intp]) -> bool:
        columns = self.columns
        return intertwined(self.rows[np.ix_(rows, columns)], blocks, self.largest[columns])

    def _of(self, agents: NDArray[np.intp]) -> NDArray[np.intp]:
        chosen = np.zeros(len(self.counts), dtype=bool)
        chosen[agents] = True
        return np.flatnonzero(np.repeat(chosen, self.counts))

    def _groups(self, needed: int) -> list[NDArray[np.intp]] | None:
        """Return the rows of groups of agents, so that all groups but any one have the *needed* number together."""
        n, total = len(self.counts), int(self.counts.sum())
        order = np.argsort(-self.counts, kind="stable")
        for k in sorted({min(k, n) for k in (*_GROUPS, n)}):
            group = np.empty(n, dtype=np.int16)
            group[order] = np.arange(n) % k
            sizes = np.bincount(group, weights=self.counts, minlength=k).astype(np.intp)
            if total - sizes.max() >= needed:
                rows = np.argsort(np.repeat(group, self.counts), kind="stable")
                return np.split(rows, np.cumsum(sizes)[:-1])
        return None


def _needed(unknowns: int) -> int:
    """Return how many rows in general position depend on each other so plainly that digits do not matter."""
    return unknowns + unknowns // 4 + 8


def _padded(groups: list[NDArray[np.intp]], most: int, *, blank: int) -> NDArray[np.intp]:
    """Return at most so many rows of every group, evenly spaced; short groups are filled up with the *blank* row."""
    width = min(most, max(len(rows) for rows in groups))
    out = np.full((len(groups), width), blank)
    for line, rows in zip(out, groups, strict=True):
        taken = rows if len(rows) <= width else rows[np.arange(width) * len(rows) // width]
        line[: len(taken)] = taken
    return out
