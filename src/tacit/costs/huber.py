"""Robust regression with Huber's loss.

    h(x) = Σ_j H(aⱼᵀx − bⱼ) + ½ Σ l2_k x_k²,   H(u) = ½u² for |u| ≤ δ, δ|u| − ½δ² beyond

Here the labels are not affine: h is split at the public point 0, α = ∇h(0) = −Aᵀclip(b), so masks
hide the gradient at that point and nothing else.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.family import one_per_row
from tacit.costs.rows import RowSum
from tacit.costs.secrets import Labels
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.typing import Array


class Huber(RowSum):
    """Huber loss of Ax − b with threshold delta, plus ½ l2 |x|²."""

    affine_part = AffinePart(
        "nothing of the labels b, which the kinks of the cost tell", open=("the features A", "the kinks"), parts=()
    )
    splits_exactly = False
    steepest: ClassVar[float] = 1.0
    kinks: ClassVar[bool] = True
    _stacks: ClassVar[tuple[str, ...]] = ("A", "l2", "b", "delta")

    def __init__(
        self,
        A: ArrayLike,
        b: ArrayLike,
        *,
        delta: float = 1.35,
        l2: ArrayLike = 0.0,
        intercept: bool = False,
    ) -> None:
        super().__init__(A, l2=l2, intercept=intercept)
        self.b = one_per_row(b, "b", self.A)
        if not delta > 0:
            raise CostError(f"delta = {delta} must be positive: it is where the loss turns linear.")
        self.delta = np.array([delta])
        self.affine = -(self._clip(self.b) @ self.A)
        self._lowest = np.asarray(-self._huber(self.b).sum())

    @property
    def labels(self) -> Labels | None:
        """None: they shape the curved part too, which affine masks leave in the open."""
        return None

    @staticmethod
    def guess(rng: np.random.Generator, scores: Array) -> Array:
        """Return the scores with noise."""
        return scores + rng.normal(size=len(scores))

    def _of_one_record(self, A: Array, y: Array, l2: Array) -> Self:
        cost = super()._of_one_record(A, y, l2)
        cost.b, cost.delta = y[:, None], np.tile(self.delta, (len(A), 1))
        cost.affine = -cost._clip(cost.b) * A[:, 0]
        return cost

    def _clip(self, u: Array) -> Array:
        return np.clip(u, -self.delta, self.delta)

    def _huber(self, u: Array) -> Array:
        inside = self._clip(u)
        return 0.5 * inside**2 + self.delta * (np.abs(u) - np.abs(inside))

    def rho(self, z: Array) -> Array:
        """Return H(z − b) − H(b) − H'(−b)·z."""
        return self._huber(z - self.b) - self._huber(self.b) + self._clip(self.b) * z

    def slope(self, z: Array) -> Array:
        """Return H'(z − b) − H'(−b)."""
        return self._clip(z - self.b) + self._clip(self.b)

    def bend(self, z: Array) -> Array:
        """Return 1 inside the threshold, 0 beyond it."""
        return (np.abs(z - self.b) <= self.delta).astype(np.float64)
