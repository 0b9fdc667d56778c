"""How far one record can move a cost, once every row is at most so long: what noise must hide.

    a ← a·min(1, R/|a|),   b ← clip(b, −B, B)              every agent does that to its own records

                       slope            bend               label
    least squares      R·B              R²                 2·R·B           slope: at 0, all that is asked for
    logistic           R                R²/4               R

*slope* bounds the norm of a record's gradient, *bend* the Frobenius norm of its Hessian at 0, *label* how far α
moves where a label is replaced. They follow from public limits alone. A family that has none of these has no
bounded sensitivity: one record, however short, could move the answer anywhere.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.errors import CostError, InputError
from tacit.typing import Array, Response


class RecordLimits(NamedTuple):
    """Public limits on records."""

    clip: float
    """Of the length of a row, its 1 for an intercept included."""
    labels: float | None = None
    """Of the size of a label that is a number."""


class Sensitivity(NamedTuple):
    """By how much one record can move what agents compute from all of theirs."""

    slope: float
    bend: float
    label: float
    quadratic: bool
    """Whether slope and Hessian at 0 are all there is."""
    response: Response | None = None
    """How slopes answer to scores, where *slope* and *bend* hold everywhere; None where they hold at 0 alone."""

    @property
    def whole(self) -> float:
        """Of a whole quadratic cost, in the Frobenius norm."""
        return math.hypot(self.slope, self.bend)


def unbounded() -> CostError:
    """Return the refusal of a family whose records can move the answer anywhere."""
    return CostError(
        "these costs have no bounded sensitivity: no limit on the length of a row bounds what one record does to "
        "the answer; use least squares or logistic costs, without rough terms or weights."
    )


def without_records() -> CostError:
    """Return the refusal of a cost that is no longer that of some records."""
    return CostError("this cost holds another affine part, or other units, than its records: clip them first.")


def label_limit(limits: RecordLimits) -> float:
    """Return the public limit on labels; refuse to do without."""
    if limits.labels is None:
        raise InputError(
            "labels is missing: least squares needs a public limit on the size of a label, in its unit."
        )
    return limits.labels


def shortened_rows(rows: Array, limits: RecordLimits) -> Array:
    """Return the rows, each at most as long as the limit allows; however long it was, without a word."""
    largest = np.abs(rows).max(axis=-1, keepdims=True, initial=0.0)
    unit = rows / np.where(largest > 0.0, largest, 1.0)  # its squares are numbers, where those of a row may not be
    most = limits.clip / np.maximum(np.linalg.norm(unit, axis=-1, keepdims=True), 1.0)  # of the largest entry
    return np.asarray(np.where(largest <= most, rows, unit * most))
