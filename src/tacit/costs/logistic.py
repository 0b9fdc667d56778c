"""Logistic regression.

    h(x) = Σ_j log(1 + exp(aⱼᵀx)) − yⱼ aⱼᵀx + ½ Σ l2_k x_k²        α = −Aᵀy

The labels y enter through α alone, so affine masks hide the labels when the features are public.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.family import one_per_row
from tacit.costs.rows import RowSum
from tacit.costs.sensitivity import RecordLimits, Sensitivity, shortened_rows, unbounded, without_records
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.later import later
from tacit.typing import Array

if TYPE_CHECKING:
    from scipy import special
else:
    special = later("scipy.special")


class Logistic(RowSum):
    """Logistic loss of labels y in {0, 1} (or {−1, 1}) plus ½ l2 |x|²."""

    affine_part = AffinePart(
        "the labels y (they enter only through Aᵀy)", open=("the features A",), parts=("affine", "labels")
    )
    steepest: ClassVar[float] = 0.25
    label_bits: ClassVar[float | None] = 1.0

    def __init__(
        self,
        A: ArrayLike,
        y: ArrayLike,
        *,
        l2: ArrayLike = 0.0,
        intercept: bool = False,
        weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        super().__init__(A, l2=l2, intercept=intercept, weight=weight, offset=offset)
        y = one_per_row(y, "y", self.A)
        if not (np.isin(y, (0.0, 1.0)).all() or np.isin(y, (-1.0, 1.0)).all()):
            raise CostError("the labels of a logistic cost must be 0 and 1, or −1 and 1.")
        self._marks = (y > 0).astype(np.float64)
        self._label(self._marks)

    def _label(self, y: Array) -> None:
        self.affine = -((y if self.weight is None else self.weight * y) @ self.A)
        if self.weight is None or self.offset is None:
            self._lowest = np.asarray(-len(y) * np.log(2.0))
        else:  # every row at its own best score
            self._lowest = np.asarray(-self.weight @ (np.logaddexp(0.0, self.offset) - y * self.offset))

    def sensitivity(self, limits: RecordLimits) -> Sensitivity:
        """Return that slopes are between 0 and 1 and bends at most ¼; there are no weights."""
        if self.weight is not None:
            raise unbounded()
        R = limits.clip
        return Sensitivity(slope=R, bend=0.25 * R**2, label=R, quadratic=False, response="logistic")

    def clipped(self, limits: RecordLimits) -> Self:
        """Return the cost of shorter rows."""
        self.sensitivity(limits)
        if "_marks" not in self.__dict__:
            raise without_records()
        cost = type(self)(shortened_rows(self.A, limits), self._marks)
        cost.l2, cost.intercept, cost.kept = self.l2, self.intercept, limits
        return cost

    @staticmethod
    def guess(rng: np.random.Generator, scores: Array) -> Array:
        """Return coins, 1 with probability 1 / (1 + e⁻ᶻ)."""
        return np.asarray(rng.random(len(scores)) < special.expit(scores), dtype=np.float64)

    def rho(self, z: Array) -> Array:
        """Return log(1 + eᶻ) − log 2."""
        return np.logaddexp(0.0, z) - np.log(2.0)

    def rho_slope_bend(self, z: Array) -> tuple[Array, Array, Array]:
        """Return all three from one exponential, e⁻|ᶻ|, which never overflows."""
        e = np.exp(-np.abs(z))
        over = 1.0 / (1.0 + e)
        slope = np.where(z >= 0, over, e * over)
        return np.log1p(e) + np.maximum(z, 0.0) - np.log(2.0), slope, e * over * over

    def slope(self, z: Array) -> Array:
        """Return 1 / (1 + e⁻ᶻ)."""
        return special.expit(z)

    def bend(self, z: Array) -> Array:
        """Return s(1 − s)."""
        return special.expit(z) * special.expit(-z)
