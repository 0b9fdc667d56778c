"""Columns that are zero in nearly all rows: whatever is told of them is told of the few rows that are left.

Beside a constant column, "zero" may be any value v that most rows share: the column less v times the constant one
is told as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array

_KEPT = 4
"""Rows that are kept for every column of a design, at most."""
_LOOKS = 64
"""Rows, about, by which the value that most rows share is known."""


class Rare(NamedTuple):
    """The rows that are not zero in some column that most rows are zero in."""

    base: Array
    """What counts as zero, (m,)."""
    counts: Array
    """Rows that are not, (m,); infinite where there are too many to be kept."""
    rows: Array
    """Those that are kept, less *base*, (count, m)."""


class Bases(NamedTuple):
    """What counts as zero at every agent, column by column."""

    values: Array
    """(n, m)."""
    others: Array
    """How many rows of each agent have something else there, (n, m)."""


def bases(rows: Array, counts: NDArray[np.intp]) -> Bases:
    """Return what most rows of an agent share, by so many *rows* of each, one agent after the other."""
    m, starts = rows.shape[1], np.cumsum(counts) - counts
    values = np.zeros((len(counts), m))
    others = _per_agent(rows != 0, starts, counts)
    if not len(rows):
        return Bases(values, others)
    last = rows[np.minimum(starts, len(rows) - 1), -1]
    constant = _per_agent(rows[:, -1:] != np.repeat(last, counts)[:, None], starts, counts)[:, 0] == 0
    some = np.flatnonzero(constant & (last != 0) & (counts > 1) & (others > m).any(axis=1))
    if len(some):
        looks = np.arange(min(2 * _LOOKS, int(counts[some].max())))
        places = starts[some, None] + looks * counts[some, None] // len(looks)
        values[some, :-1] = np.sort(rows[places, :-1], axis=1)[:, len(looks) // 2]  # what most have, if they do
        values[others <= m] = 0.0
        others = _per_agent(rows != np.repeat(values, counts, axis=0), starts, counts)
    return Bases(values, others)


def rare(rows: Array) -> Rare:
    """Return the rare columns of one agent's design: no more than m rows each."""
    m = rows.shape[1]
    base, counts = (part[0] for part in bases(rows, np.array([len(rows)])))
    counts[counts > m] = np.inf
    order, kept = np.argsort(counts, kind="stable"), np.zeros(len(rows), dtype=bool)
    for place, k in enumerate(order):
        more = kept if not np.isfinite(counts[k]) else kept | (rows[:, k] != base[k])
        if not np.isfinite(counts[k]) or more.sum() > _KEPT * m:
            counts[order[place:]] = np.inf
            break
        kept = more
    return Rare(base, counts, rows[kept] - base)


def _per_agent(marks: NDArray[np.bool_], starts: NDArray[np.intp], counts: NDArray[np.intp]) -> Array:
    """Count the marks of every agent in each column, (n, columns)."""
    out = np.zeros((len(counts), marks.shape[1]))
    has = counts > 0
    if has.any():
        out[has] = np.add.reduceat(marks, starts[has], axis=0, dtype=np.intp)
    return out
