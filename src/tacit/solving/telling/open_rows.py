"""The open features of all agents in one table, and what a few of its rows say at once about everybody's labels.

Nearly always no label follows, and nearly always a few rows show it (`tacit.certificates.circuits`):

    an agent's own rows span everything, and none stands alone    while it is honest, nobody's label follows
    the same of all rows without those of any group of agents     no label follows for any single agent

Columns that depend on others are left out (`basis`). Where most entries are zero, as in the columns of categories,
rows are chosen so that none of these columns is left with one entry by chance, and rows that are alike are counted
(`twins`).
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
from tacit.solving.telling.basis import DEPENDENT, basis, is_definite
from tacit.solving.telling.twins import Twins, left_by
from tacit.typing import Array

_GROUPS = (8, 32)
"""Agents are left out by so many groups, one by one only where rows are short."""
_TIMES = (1, 5)
"""How many times the rows that an answer needs are looked at: at first, and again where it was not plain."""
_AT_ONCE = 160
"""Rows, about, up to which it does not matter how many are looked at."""
_LOOK, _ZEROS = 64, 0.25
"""Rows that are looked at, and the share of zeros in them beyond which zeros are worth more than that."""
_ENTRIES = 8192
"""Entries that are looked at together where order does not matter: memory that is asked for takes time."""
_WIDE = 64
"""Columns beyond which tables of one length are reduced as one array, which is faster."""
_OF_EACH = 4
"""Rows that are taken of each column where others are zero."""


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
        largest = _largest(rows, counts)
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
        if self.twins is not None:
            return self.twins.entries
        if self.rows[:-1].all():
            return np.repeat(self.counts[:, None], self.rows.shape[1], axis=1)
        has = self.counts > 0
        out = np.zeros(self.largest.shape, dtype=np.intp)
        starts = np.cumsum(self.counts) - self.counts
        out[has] = np.add.reduceat(self.rows[:-1] != 0, starts[has], axis=0, dtype=np.intp)
        return out

    @cached_property
    def is_sparse(self) -> bool:
        """Tell whether entries are often zero, by a few rows."""
        some = self.rows[: -1 : max(1, len(self.rows) // _LOOK)]
        return bool(np.count_nonzero(some) < (1.0 - _ZEROS) * some.size)

    @cached_property
    def twins(self) -> Twins | None:
        """Rows that are alike; None where few are, or where not all are here."""
        if not self.is_sparse or not self.complete.all():
            return None
        return Twins.of(self.rows[:-1], self.counts)

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """Columns that are not zero everywhere, and of those that depend on each other as many as do not."""
        columns = self._all_columns
        if not len(columns) or (self.twins is not None and self.twins.apart):
            return columns
        if self.twins is None and (len(self.rows) <= len(columns) or self._closed_over_all.any()):
            return columns
        largest = self.largest[:, columns].max(axis=0)
        for rows in (self._few(len(columns)), self.rows):
            A = _chosen(rows, columns)
            if is_definite(A.T @ A):
                return columns
            kept = basis(A, _chosen(self._every, columns), largest)
            if kept is not None:
                return np.asarray(columns[kept])
        return columns

    def _few(self, unknowns: int) -> Array:
        """Return rows that span what all of them do, mostly."""
        if self.twins is not None:
            return self.twins.rows
        if self.is_sparse:
            return np.asarray(self.rows[self._thinned(np.arange(len(self.rows) - 1))])
        return self.rows[:: max(1, len(self.rows) // _needed(unknowns))]

    @cached_property
    def closed(self) -> NDArray[np.bool_]:
        """Tell whose rows plainly span everything, with none that stands alone: beside them none does, (n,)."""
        if self.twins is not None:
            return self._closed(self.columns, but=self.twins.hold_all())
        fewer = len(self.columns) < len(self._all_columns)
        return self._closed(self.columns) if fewer else self._closed_over_all

    @cached_property
    def _all_columns(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.held.any(axis=0))

    @cached_property
    def _closed_over_all(self) -> NDArray[np.bool_]:
        return self._closed(self._all_columns)

    def _closed(self, columns: NDArray[np.intp], *, but: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Tell the same by the products of *columns*, *but* of whom it is known."""
        out = np.zeros(len(self.counts), dtype=bool) if but is None else but
        if out.all():
            return out
        able = (self.counts > len(columns)) & self.held[:, columns].all(axis=1)
        if self.is_sparse and able.any():
            able &= (self.entries[:, columns] > 1).all(axis=1)  # a row that is alone in a column stands alone
        able &= ~out
        if not able.any():
            return out
        largest = self.largest[:, columns].max(axis=0)
        if self.twins is not None:
            counts, kinds = self.twins.counts[able], _chosen(self.twins.rows, columns)
            out[able] = closed(np.where(counts[..., None] > 0, kinds, 0.0), largest, repeated=counts > 1)
            return out
        needed, most = _needed(len(columns)), int(self.counts.max())
        for width in (needed, most) if needed < most and not self.is_sparse else (most,):
            long = np.flatnonzero(able & ~out)
            if len(long):
                out[long] = closed(_chosen(self._some(long, width), columns), largest)
        return out

    def _some(self, agents: NDArray[np.intp], width: int) -> Array:
        """Return so many rows of each of these agents, (agents, width, m), and zeros for those who have fewer."""
        if len(agents) == len(self.counts) and (self.counts == width).all():
            return self.rows[:-1].reshape(len(agents), width, -1)
        starts = (np.cumsum(self.counts) - self.counts)[agents, None]
        places, size = np.arange(width), self.counts[agents, None]
        places = np.where(size > width, places * size // width, places)
        return np.asarray(self.rows[np.where(places < size, starts + places, len(self.rows) - 1)])

    @cached_property
    def leverage(self) -> Array:
        """How many combinations are told of every agent, about, (n,)."""
        columns, twins = self.columns, self.twins
        if twins is not None and twins.apart:
            return np.asarray(twins.counts @ (1.0 / twins.counts.sum(axis=0)))
        rows = _chosen(self._every, columns)
        products = rows.T @ rows if twins is None else (rows.T * twins.counts.sum(axis=0)) @ rows
        scale = 1.0 / np.sqrt(np.diag(products))
        units = np.outer(scale, scale)
        inverse = units * np.linalg.inv(products * units + DEPENDENT * np.eye(len(columns)))
        steps = range(0, len(rows), max(1, _ENTRIES // len(columns)))
        several = (rows[k : k + steps.step] for k in steps)
        shares = np.concatenate([np.einsum("rm,rm->r", some @ inverse, some) for some in several])
        if twins is not None:
            return np.asarray(twins.counts @ shares)
        owners = np.repeat(np.arange(len(self.tables)), [len(table) for table in self.tables])
        return np.asarray(np.bincount(owners, weights=shares, minlength=len(self.tables)), dtype=np.float64)

    @cached_property
    def _every(self) -> Array:
        """All rows of all tables, those that are alike once."""
        if self.twins is not None:
            return self.twins.rows
        return self.rows[:-1] if self.complete.all() else np.concatenate(self.tables)

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
            self.asked[key] = self._hide_each_other(agents)
        return self.asked[key]

    def _hide_each_other(self, agents: NDArray[np.intp]) -> bool:
        if self.twins is not None:
            kinds, repeated = self.twins.of_agents(agents)
            if len(kinds) == len(self.twins.rows) and repeated.all():
                return True
            table = _chosen(kinds, self.columns)
            return bool(closed(table[None], self._most, repeated=repeated[None]).all())
        rows = self._of(agents)
        if self.is_sparse:
            several = [self._thinned(rows), rows]
        else:
            steps = {max(1, len(rows) // max(_AT_ONCE, k * _needed(len(self.columns)))) for k in _TIMES}
            several = [rows[::step] for step in sorted(steps, reverse=True) if len(rows) > len(self.columns)]
        return any(closed(self._table(some[None]), self._most).all() for some in several)

    def tell(self, agents: NDArray[np.intp]) -> bool:
        """Tell whether, plainly, some label of these agents follows: it is alone in a column."""
        return bool(self.complete[agents].all() and (self.entries[agents].sum(axis=0) == 1).any())

    def tell_single_agents(self) -> bool:
        """Tell whether, plainly, some label follows for some single agent."""
        return bool(self.complete.all() and (self.entries.sum(axis=0) - self.entries == 1).any())

    def tell_behind(self, order: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell the same of agents order[k:], for every k."""
        tells = np.asarray((left_by(self.entries, order) == 1).any(axis=1))
        return tells & (left_by((~self.complete).astype(np.intp), order) == 0) if not self.complete.all() else tells

    def stand_alone(self, agents: NDArray[np.intp], precision: float) -> bool:
        """Tell whether, plainly, all labels of these agents follow."""
        return independent(self.rows[self._of(agents)], precision)

    @cached_property
    def _most(self) -> Array:
        return np.asarray(self.largest[:, self.columns].max(axis=0))

    def _table(self, rows: NDArray[np.intp]) -> Array:
        return _chosen(self.rows[rows], self.columns)

    def _of(self, agents: NDArray[np.intp]) -> NDArray[np.intp]:
        chosen = np.zeros(len(self.counts), dtype=bool)
        chosen[agents] = True
        return np.flatnonzero(np.repeat(chosen, self.counts))

    @cached_property
    def _pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The entries that are not zero, column by column: their columns, and their rows."""
        places = np.flatnonzero(np.ascontiguousarray((self.rows[:-1] != 0).T))
        return places // (len(self.rows) - 1), places % (len(self.rows) - 1)

    def _thinned(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return some of these rows, so many that every column has a few of its entries in them, or all it has."""
        chosen = np.zeros(len(self.rows), dtype=bool)
        chosen[rows] = True
        columns, places = self._pattern
        inside = chosen[places]
        columns, places = columns[inside], places[inside]
        counts = np.bincount(columns, minlength=self.rows.shape[1])
        rank = np.arange(len(columns)) - (np.cumsum(counts) - counts)[columns]
        step = np.maximum(1, -(-counts // _OF_EACH))
        chosen[:] = False
        chosen[places[rank % step[columns] == 0]] = True
        return np.flatnonzero(chosen)

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


def _largest(rows: Array, counts: NDArray[np.intp]) -> Array:
    """Return the largest entry of every agent's rows in each column, whatever its sign, (n, m)."""
    if rows.shape[1] > _WIDE and (counts == counts[0]).all() and counts[0]:
        each = rows[:-1].reshape(len(counts), counts[0], -1)
        return np.asarray(np.maximum(each.max(axis=1), -each.min(axis=1)))
    starts = np.cumsum(counts) - counts
    out = np.maximum(np.maximum.reduceat(rows, starts, axis=0), -np.minimum.reduceat(rows, starts, axis=0))
    out[counts == 0] = 0.0  # where reduceat takes the next row
    return np.asarray(out)


def _chosen(rows: Array, columns: NDArray[np.intp]) -> Array:
    return rows if len(columns) == rows.shape[-1] else rows.take(columns, axis=-1)


def _padded(groups: list[NDArray[np.intp]], most: int, *, blank: int) -> NDArray[np.intp]:
    """Return at most so many rows of every group, evenly spaced; the *blank* row fills up short groups."""
    width = min(most, max(len(rows) for rows in groups))
    out = np.full((len(groups), width), blank)
    for line, rows in zip(out, groups, strict=True):
        taken = rows if len(rows) <= width else rows[np.arange(width) * len(rows) // width]
        line[: len(taken)] = taken
    return out
