"""Columns that are zero in nearly all rows: whatever is told of them is told of the few rows that are left.

Beside a constant column, "zero" may be any value v that most rows share: the column less v times the constant one
is told as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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


def rare(rows: Array) -> Rare:
    """Return the rare columns of one agent's design: no more than m rows each."""
    m = rows.shape[1]
    constant = len(rows) > 1 and bool((rows[:, -1] == rows[0, -1]).all() and rows[0, -1])
    base = np.zeros(m)
    counts = np.count_nonzero(rows, axis=0).astype(np.float64)
    if constant:
        some = rows[:: max(1, len(rows) // _LOOKS), :-1]
        base[:-1] = np.sort(some, axis=0)[len(some) // 2]  # which is what most rows have, if they have one value
        base[counts <= m] = 0.0
        counts = np.where(counts <= m, counts, np.count_nonzero(rows - base, axis=0))
    counts[counts > m] = np.inf
    order, kept = np.argsort(counts, kind="stable"), np.zeros(len(rows), dtype=bool)
    for place, k in enumerate(order):
        more = kept if not np.isfinite(counts[k]) else kept | (rows[:, k] != base[k])
        if not np.isfinite(counts[k]) or more.sum() > _KEPT * m:
            counts[order[place:]] = np.inf
            break
        kept = more
    return Rare(base, counts, rows[kept] - base)
