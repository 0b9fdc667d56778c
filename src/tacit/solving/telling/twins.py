"""Records that are alike, as those of one category are: how many there are of each says most of it.

    r and s are the same row, both in H      yᵣ + c and yₛ − c give the same Aᵀy: neither stands alone in H

So where every row of H has a twin in H no label follows, whatever the columns mean and however they depend on each
other. A row that is zero takes part in no sum. Rows are compared as they are: what orders them beforehand is a sum
that rows of categories give exactly, and where it does not bring two twins together they count as two of a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array

_LOOK = 64
"""Rows among which some must be alike, before all are compared."""
_AT_ONCE = 8192
"""Entries that are compared at once."""


@dataclass(frozen=True)
class Twins:
    """The different rows of all agents, and how often each agent has each of them."""

    rows: Array
    """(kinds, m), none of them zero."""
    counts: NDArray[np.intp]
    """(n, kinds)."""
    apart: bool = False
    """Whether each has one entry, in a column of its own: then it stands alone wherever it has no twin."""

    @classmethod
    def of(cls, rows: Array, counts: NDArray[np.intp]) -> Twins | None:
        """Sort the *rows* of agents who have so many each; None where rows hardly ever repeat."""
        return cls._of_categories(rows, counts) or cls._of_any(rows, counts)

    @classmethod
    def _of_categories(cls, rows: Array, counts: NDArray[np.intp]) -> Twins | None:
        """Return the same where every row has one entry, and all of them are equal."""
        if np.count_nonzero(rows[0]) != 1:
            return None
        N, m = rows.shape
        places = np.flatnonzero(rows != 0)
        if len(places) != N or (places // m != np.arange(N)).any():
            return None
        values = rows.reshape(-1)[places]
        if (values != values[0]).any():
            return None
        cells = np.repeat(np.arange(0, len(counts) * m, m), counts) + places % m
        table = np.bincount(cells, minlength=len(counts) * m).reshape(len(counts), m)
        some = np.flatnonzero(table.any(axis=0))
        return cls(values[0] * np.eye(m)[some], table if len(some) == m else table[:, some], apart=True)

    @classmethod
    def _of_any(cls, rows: Array, counts: NDArray[np.intp]) -> Twins | None:
        sums = rows @ _weights(rows.shape[1])
        few = np.sort(sums[:: max(1, len(rows) // _LOOK)])
        if not (few[1:] == few[:-1]).any():
            return None
        order = np.argsort(sums)
        starts = _differ(rows, order)
        kinds = rows[order[starts]]
        if 2 * len(kinds) > len(rows):
            return None
        kind = np.empty(len(rows), dtype=np.intp)
        kind[order] = np.cumsum(starts) - 1
        places = np.repeat(np.arange(len(counts)) * len(kinds), counts) + kind
        table = np.bincount(places, minlength=len(counts) * len(kinds)).reshape(len(counts), -1)
        some = (kinds != 0).any(axis=1)
        return cls(kinds, table) if some.all() else cls(kinds[some], table[:, some])

    def hide_all(self) -> bool:
        """Tell whether every row has a twin, and keeps one whichever single agent looks on."""
        total = self.counts.sum(axis=0)
        return bool((total != 1).all() and (total - self.counts != 1).all())

    def hold_all(self) -> NDArray[np.bool_]:
        """Tell who has every row, and a twin of it: beside them no row stands alone, (n,)."""
        return np.asarray((self.counts > 1).all(axis=1))

    def hide_behind(self, order: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell of every size whether each row has a twin where the first so many agents look on, (n,)."""
        return np.asarray((left_by(self.counts, order) != 1).all(axis=1))

    def of_agents(self, agents: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
        """Return the different rows of these agents, and which of them they have more than once."""
        counts = self.counts[agents].sum(axis=0)
        present = counts > 0
        return self.rows[present], counts[present] > 1

    @property
    def entries(self) -> NDArray[np.intp]:
        """How many rows of each agent are not zero in which column, (n, m)."""
        if self.apart and len(self.rows) == self.rows.shape[1]:
            return self.counts
        return (self.counts.astype(np.float64) @ (self.rows != 0)).astype(np.intp)


def left_by(counts: NDArray[np.intp], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return what agents order[k:] have together, for every k."""
    return np.asarray(counts[order[::-1]].cumsum(axis=0)[::-1])


def _differ(rows: Array, order: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tell which rows are not the one before them in this order, (rows,), a few at a time: memory costs time."""
    out = np.ones(len(order), dtype=bool)
    step = max(1, _AT_ONCE // rows.shape[1])
    for k in range(0, len(order), step):
        some = rows[order[k : k + step + 1]]
        out[k + 1 : k + step + 1] = (some[1:] != some[:-1]).any(axis=1)
    return out


@lru_cache(maxsize=64)
def _weights(columns: int) -> Array:
    """Return whole numbers, so that zeros and ones add up without rounding."""
    return np.random.default_rng(0).integers(1, 2**40, columns).astype(np.float64)
