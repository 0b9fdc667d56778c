"""Records that no combination of an agent's other records gives.

Only they can follow from sums, whoever else takes part: a record that depends on others at home depends on them in
every larger table. Of a table with m columns at most m records stand alone, so that they and a triangular factor of
the rest say all there is to say about long tables.

    A = QR,  leverage of record r: |Q_r|² = 1        it stands alone
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.typing import Array

_IN_SPAN = 1e-8
"""As near to 1 as `tacit.certificates.determined` asks."""


class Shortened(NamedTuple):
    """A table with the same AᵀA, and no more than 2m rows."""

    rows: Array
    """Records that stand alone, and below them a factor of the others."""
    alone: int
    """How many records are at the top."""
    factor: Array
    """The factor of all of them, no more than m rows."""


def shortened(rows: Array) -> Shortened:
    """Return the records that can follow from sums, and a factor of the rest; all of them where there are few."""
    if len(rows) <= rows.shape[1]:
        return Shortened(rows, len(rows), rows)
    Q, R = np.linalg.qr(rows)
    alone = (Q**2).sum(axis=1) > 1.0 - _IN_SPAN  # of dependent columns Q makes more, which is no harm
    if not alone.any():
        return Shortened(R, 0, R)
    rest = np.linalg.qr(rows[~alone], mode="r") if len(rows) - alone.sum() > rows.shape[1] else rows[~alone]
    return Shortened(np.concatenate([rows[alone], rest]), int(alone.sum()), R)


def sampled(rows: Array) -> Array:
    """Return rows from all over a table: all, or at least three times as many as it has columns."""
    step = len(rows) // (3 * rows.shape[1] + 12)
    return rows[::step] if step > 1 else rows
