"""Numbers that records are counted by: one row for every record, and their sum.

h(x) = (Σ_j v_j)ᵀx        v_j the numbers of record j, such as a 1 to count it

What counts, means and histograms with noise are made of: a row is shortened to a public limit, so that one record
moves the sum by no more than that.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tacit.costs.affine import Affine
from tacit.costs.sensitivity import RecordLimits, Sensitivity, shortened_rows
from tacit.typing import Array


class RecordTotals(Affine):
    """The sum of the rows, (N, p), of one agent's records."""

    def __init__(self, rows: Array) -> None:
        super().__init__(np.asarray(rows, dtype=np.float64).sum(axis=0))
        self._table = rows

    def sensitivity(self, limits: RecordLimits) -> Sensitivity:
        """Return that one row moves the sum by its length."""
        return Sensitivity(slope=limits.clip, bend=0.0, label=2.0 * limits.clip, quadratic=True)

    def clipped(self, limits: RecordLimits) -> Self:
        """Return the sum of shorter rows."""
        cost = type(self)(shortened_rows(self._table, limits))
        cost.kept = limits
        return cost
