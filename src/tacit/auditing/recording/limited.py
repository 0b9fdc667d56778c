"""Made-up costs that pass for clipped records: releases with noise shares need a public limit on what one moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.costs import Affine, Quadratic
from tacit.costs.record_totals import RecordTotals
from tacit.costs.sensitivity import RecordLimits, Sensitivity
from tacit.differential import DifferentialPrivacy
from tacit.masks import Mechanism, limits_of


class LimitedAffine(Affine):
    """Affine costs of which one record moves as much as another family's."""

    moves: Sensitivity

    def sensitivity(self, limits: RecordLimits) -> Sensitivity:
        """Return what was declared."""
        return self.moves


class LimitedQuadratic(Quadratic):
    """Quadratic costs of which one record moves as much as another family's."""

    moves: Sensitivity

    def sensitivity(self, limits: RecordLimits) -> Sensitivity:
        """Return what was declared."""
        return self.moves


def limited(cost: Any, promise: DifferentialPrivacy, moves: Sensitivity) -> Any:
    """Return made-up *cost* as if it were of records that keep the promise's limits."""
    made: Any = object.__new__(LimitedQuadratic if isinstance(cost, Quadratic) else LimitedAffine)
    made.__dict__.update(vars(cost))
    made.kept, made.moves = limits_of(promise), moves
    return made


def nobodys(masks: Mechanism) -> RecordTotals | None:
    """Return a cost of no record within the limits of these masks' promise; None where they have none."""
    return None if masks.answer is None else RecordTotals(np.zeros((1, 1))).clipped(limits_of(masks.answer))
