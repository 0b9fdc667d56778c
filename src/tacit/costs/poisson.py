"""Poisson regression with the logarithmic link.

    h(x) = Σ_j exp(aⱼᵀx) − yⱼ aⱼᵀx + ½ Σ l2_k x_k²        α = −Aᵀy

The gradient is not Lipschitz: algorithms that need a step size from the smoothness refuse this
family, and those that work through `prox` (ADMM) take it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.family import one_per_row
from tacit.costs.rows import RowSum
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.later import later
from tacit.typing import Array

if TYPE_CHECKING:
    from scipy import special
else:
    special = later("scipy.special")


class Poisson(RowSum):
    """Negative log-likelihood of counts y with mean exp(Ax), plus ½ l2 |x|²."""

    affine_part = AffinePart(
        "the counts y (they enter only through Aᵀy)", open=("the features A",), parts=("affine", "labels")
    )
    steepest: ClassVar[float] = np.inf
    label_bits: ClassVar[float | None] = 2.0  # of rare events: mostly 0, 1, 2 or 3

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
        if (y < 0).any():
            raise CostError("the counts of a Poisson cost must not be negative.")
        self._label(y)

    def _label(self, y: Array) -> None:
        self.affine = -((y if self.weight is None else self.weight * y) @ self.A)
        best = y - special.xlogy(y, y)  # every row at its own best rate
        if self.weight is None or self.offset is None:
            self._lowest = np.asarray((best - 1.0).sum())
        else:
            self._lowest = np.asarray(self.weight @ (best + y * self.offset - np.exp(self.offset)))

    @staticmethod
    def guess(rng: np.random.Generator, scores: Array) -> Array:
        """Return counts of mean eᶻ, with z not above 3."""
        return np.asarray(rng.poisson(np.exp(np.minimum(scores, 3.0))), dtype=np.float64)

    def rho(self, z: Array) -> Array:
        """Return eᶻ − 1."""
        return np.expm1(z)

    def rho_slope_bend(self, z: Array) -> tuple[Array, Array, Array]:
        """Return all three from one exponential."""
        e = np.exp(z)
        return e - 1.0, e, e

    def slope(self, z: Array) -> Array:
        """Return eᶻ."""
        return np.exp(z)

    def bend(self, z: Array) -> Array:
        """Return eᶻ."""
        return np.exp(z)
