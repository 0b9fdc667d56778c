"""The open features of all agents in one table, and what a few of its rows say at once about everybody's labels.

Nearly always no label follows, and nearly always a few rows show it (`tacit.certificates.circuits`):

    an agent's own rows span everything, and none stands alone    while it is honest, nobody's label follows
    the same of all rows without those of any group of agents     no label follows for any single agent

Columns that depend on others, as the categories of a variable beside a constant, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.certificates.circuits import closed, closed_without_any, independent
from tacit.costs.alone import sampled
from tacit.costs.secrets import Labels
from tacit.typing import Array

_GROUPS = (8, 32)
"""Agents are left out by so many groups, one by one only where rows are short."""
_TIMES = (1, 5)
"""How many times the rows that an answer needs are looked at: at first, and again where it was not plain."""
_AT_ONCE = 160
"""Rows, about, up to which it does not matter how many are looked at."""
_DEPENDENT = 1e-12
"""Of a column: what may be left of it where it depends on others."""


@dataclass(frozen=True)
class OpenRows:
    """Rows of all agents, one agent after the other: all of them, or some from all over a long table."""

    tables: Sequence[Array]
    """What each agent has, or what has the same AᵀA."""
    rows: Array
    """(N + 1, m), with a last row of zeros."""
    counts: NDArray[np.intp]
    """How many of them each agent has, (n,)."""
    complete: NDArray[np.bool_]
    """Whether these are all of its records, (n,)."""
    largest: Array
    """What no entry of an agent's records exceeds, (n, m)."""
    sizes: Array
    """The largest entry of each agent's table, (n,)."""
    asked: dict[bytes, bool] = field(default_factory=dict, repr=False)
    """Answers of `hide_each_other`."""

    @classmethod
    def of(cls, labels: Sequence[Labels]) -> OpenRows:
        """Put rows of all agents under each other."""
        tables = [part.rows for part in labels]
        shown = [
            sampled(rows) if part.some is None else part.some for part, rows in zip(labels, tables, strict=True)
        ]
        counts = np.array([len(rows) for rows in shown])
        complete = counts == [
            len(rows) if part.some is None else -1 for part, rows in zip(labels, tables, strict=True)
        ]
        rows = np.concatenate([*shown, np.zeros((1, shown[0].shape[1]))])
        starts = np.cumsum(counts) - counts
        largest = np.maximum(np.maximum.reduceat(rows, starts, axis=0), -np.minimum.reduceat(rows, starts, axis=0))
        largest[counts == 0] = 0.0  # where reduceat takes the next row
        sizes = largest.max(axis=1)
        for i in np.flatnonzero(~complete).tolist():
            largest[i] = np.abs(tables[i]).max(axis=0)
            sizes[i] = largest[i].max()
            if labels[i].some is not None:  # the length of a column bounds its entries
                largest[i] = np.sqrt((tables[i] ** 2).sum(axis=0))
        return cls(tables, rows, counts, complete, largest, sizes)

    @property
    def held(self) -> NDArray[np.bool_]:
        """Whose records are not all zero in which column, (n, m)."""
        return self.largest > 0

    @cached_property
    def entries(self) -> NDArray[np.intp]:
        """How many rows of each agent are not zero in which column, (n, m); at least so many of a long table."""
        has = self.counts > 0
        out = np.zeros(self.largest.shape, dtype=np.intp)
        starts = np.cumsum(self.counts) - self.counts
        out[has] = np.add.reduceat(self.rows[:-1] != 0, starts[has], axis=0, dtype=np.intp)
        return out

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """Columns that are not zero everywhere, and of those that depend on each other as many as do not."""
        columns = self._all_columns
        if not len(columns) or len(self.rows) <= len(columns) or self._closed_over_all.any():
            return columns
        some = self.rows[:: max(1, len(self.rows) // _needed(len(columns)))]
        if _is_definite((some.T @ some)[np.ix_(columns, columns)]):
            return columns
        A = self.rows[:, columns]
        lengths = np.sqrt((A**2).sum(axis=0))
        if not lengths.all():
            return columns
        A = A / lengths
        if _is_definite(A.T @ A):
            return columns
        from scipy.linalg import qr  # heavy, and columns seldom depend on each other

        R, order = qr(A, mode="r", pivoting=True, check_finite=False)
        rank = int((np.abs(np.diag(R)) > _DEPENDENT * abs(R[0, 0])).sum())
        kept, gone = columns[order[:rank]], columns[order[rank:]]
        combination = np.linalg.lstsq(A[:, order[:rank]], A[:, order[rank:]], rcond=None)[0]
        combination *= lengths[order[rank:]] / lengths[order[:rank], None]
        every = np.concatenate(self.tables)
        rest = np.abs(every[:, gone] - every[:, kept] @ combination).max(axis=0)
        return np.sort(kept) if (rest <= _DEPENDENT * self.largest[:, gone].max(axis=0)).all() else columns

    @cached_property
    def closed(self) -> NDArray[np.bool_]:
        """Tell whose rows plainly span everything, with none that stands alone: beside them none does, (n,)."""
        fewer = len(self.columns) < len(self._all_columns)
        return self._closed(self.columns) if fewer else self._closed_over_all

    @cached_property
    def _all_columns(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.held.any(axis=0))

    @cached_property
    def _closed_over_all(self) -> NDArray[np.bool_]:
        return self._closed(self._all_columns)

    def _closed(self, columns: NDArray[np.intp]) -> NDArray[np.bool_]:
        out = np.zeros(len(self.counts), dtype=bool)
        starts, largest = np.cumsum(self.counts) - self.counts, self.largest[:, columns].max(axis=0)
        needed, most = _needed(len(columns)), int(self.counts.max())
        able = (self.counts > len(columns)) & self.held[:, columns].all(axis=1)
        for width in (needed, most) if needed < most else (most,):
            long = np.flatnonzero(able & ~out)
            if len(long):
                places, size = np.arange(width), self.counts[long, None]
                places = np.where(size > width, places * size // width, places)
                rows = np.where(places < size, starts[long, None] + places, len(self.rows) - 1)
                out[long] = closed(self.rows[rows][..., columns], largest)
        return out

    @cached_property
    def leverage(self) -> Array:
        """How many combinations are told of every agent, about, (n,)."""
        columns = self.columns
        grams = np.array([table.T @ table for table in (rows[:, columns] for rows in self.tables)])
        scale = np.sqrt(np.einsum("kii->i", grams))
        inverse = np.linalg.inv(grams.sum(axis=0) / np.outer(scale, scale) + _DEPENDENT * np.eye(len(columns)))
        return np.einsum("kij,ij->k", grams, inverse / np.outer(scale, scale))

    def hide_all(self) -> bool:
        """Tell whether, plainly, no label follows for any single agent."""
        needed, order = _needed(len(self.columns)), np.argsort(-self.counts, kind="stable")
        half = np.flatnonzero(np.cumsum(self.counts[order[::-1]])[::-1] > len(self.columns))[-1:].sum()
        if self.hide_each_other(order[half:]) and self.hide_each_other(order[:half]):
            return True  # a single agent is in one of them, and the other answers for all
        if self.hide_each_other(order[::2]) and self.hide_each_other(order[1::2]):
            return True
        groups = self._groups(needed) or self._groups(len(self.columns) + 1)
        if groups is None:
            return False
        several = (_padded(groups, -(-k * needed // (len(groups) - 1)), blank=len(self.rows) - 1) for k in _TIMES)
        return any(closed_without_any(self._table(rows), self._most) for rows in several)

    def hide_each_other(self, agents: NDArray[np.intp]) -> bool:
        """Tell whether, plainly, none of these agents' labels follows, nor any where more agents are honest."""
        key = agents.tobytes()
        if key not in self.asked:
            rows = self._of(agents)
            steps = {max(1, len(rows) // max(_AT_ONCE, k * _needed(len(self.columns)))) for k in _TIMES}
            several = (rows[None, ::step] for step in sorted(steps, reverse=True) if len(rows) > len(self.columns))
            self.asked[key] = any(closed(self._table(some), self._most).all() for some in several)
        return self.asked[key]

    def tell(self, agents: NDArray[np.intp]) -> bool:
        """Tell whether, plainly, some label of these agents follows: it is alone in a column."""
        return bool(self.complete[agents].all() and (self.entries[agents].sum(axis=0) == 1).any())

    def stand_alone(self, agents: NDArray[np.intp], precision: float) -> bool:
        """Tell whether, plainly, all labels of these agents follow."""
        return independent(self.rows[self._of(agents)], precision)

    @cached_property
    def _most(self) -> Array:
        return np.asarray(self.largest[:, self.columns].max(axis=0))

    def _table(self, rows: NDArray[np.intp]) -> Array:
        table = self.rows[rows]
        return table if len(self.columns) == table.shape[-1] else np.asarray(table[..., self.columns])

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


def _is_definite(G: Array) -> bool:
    """Tell whether, plainly, no column depends on others."""
    try:
        return bool((np.diag(np.linalg.cholesky(G)) > 1e-5 * np.sqrt(np.diag(G))).all())
    except np.linalg.LinAlgError:
        return False


def _padded(groups: list[NDArray[np.intp]], most: int, *, blank: int) -> NDArray[np.intp]:
    """Return at most so many rows of every group, evenly spaced; the *blank* row fills up short groups."""
    width = min(most, max(len(rows) for rows in groups))
    out = np.full((len(groups), width), blank)
    for line, rows in zip(out, groups, strict=True):
        taken = rows if len(rows) <= width else rows[np.arange(width) * len(rows) // width]
        line[: len(taken)] = taken
    return out
