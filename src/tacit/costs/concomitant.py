"""Huber's regression with its scale σ as one more unknown.

    h(w, σ) = Σ_j σ + σ H((bⱼ − aⱼᵀw)/σ) + ½ Σ l2_k w_k²,    H(u) = u² for |u| ≤ ε, 2ε|u| − ε² beyond

Jointly convex in (w, σ) for σ > 0, and equivariant: other units of b change w and σ alike, so that the threshold ε
is a number of deviations and not of units. The last unknown is t = σ − 1: the public point 0 is w = 0, σ = 1. There
h is split into α = ∇h(0) and the rest, so masks on the affine part hide that gradient and nothing else.

Huber, *Robust Statistics*, 1981, 7.7; Owen, *A robust hybrid of lasso and ridge regression*, 2007.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.batched import matvec, vecdot, vecmat
from tacit.costs.family import Curvature, Family, one_per_row, penalty
from tacit.costs.rows import design, row_weights
from tacit.costs.secrets import Secrets, regression
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.typing import Array

_BEYOND = 1e12  # h where σ ≤ 0: far above anything near the optimum, and a number that can be added up


class ConcomitantHuber(Family):
    """Huber's loss of b − Aw and its scale σ = 1 + t, with unknowns (w, t); h is huge where σ ≤ 0."""

    affine_part = AffinePart(
        "nothing of the labels b, which the kinks of the cost tell", open=("the features A", "the kinks"), parts=()
    )
    splits_exactly = False
    factored = True
    _stacks: ClassVar[tuple[str, ...]] = ("A", "l2", "b", "here", "epsilon", "_at_start")

    def __init__(
        self,
        A: ArrayLike,
        b: ArrayLike,
        *,
        epsilon: float = 1.35,
        l2: ArrayLike = 0.0,
        intercept: bool = False,
        weight: ArrayLike | None = None,
    ) -> None:
        self.A = design(A, intercept=intercept)
        self.intercept = intercept
        self.b = one_per_row(b, "b", self.A)
        if not epsilon >= 1:
            raise CostError(f"epsilon = {epsilon} must be at least 1: below it no scale fits.")
        self.l2 = np.append(penalty(l2, self.A.shape[1], intercept=intercept), 0.0)
        self.here = row_weights(weight, len(self.b))  # 0 for the rows that only fill up a stack
        self.epsilon = np.array([epsilon])
        start = np.zeros(len(self.l2))
        self._at_start = np.atleast_1d(self._whole(start))
        self.affine = self._slope(start)
        self._lowest = -self._at_start[0]  # h is nowhere negative

    @property
    def held(self) -> Array | None:
        """Tell of every column whether a record here is not zero in it."""
        return np.asarray((self.here[:, None] * self.A).any(axis=0))

    @property
    def secrets(self) -> Secrets | None:
        """Features and labels."""
        return regression(
            type(self),
            records=int(np.count_nonzero(self.here)),
            unknowns=int(self.A.shape[-1]),
            intercept=self.intercept,
            labels=lambda rng, scores: scores + rng.normal(size=len(scores)),
            real=True,
            penalty=self.l2,
            costs=self._of_one_record,
            kinks=True,
        )

    def _of_one_record(self, A: Array, y: Array, l2: Array) -> ConcomitantHuber:
        """Return agents with one record each, (count, 1, m')."""
        cost, start = object.__new__(ConcomitantHuber), np.zeros(self.dim)
        cost.A, cost.b, cost.here = A, y[:, None], np.ones((len(A), 1))
        cost.l2, cost.epsilon = l2, np.tile(self.epsilon, (len(A), 1))
        cost._at_start = cost._whole(start)[:, None]
        cost.affine = cost._slope(start)
        return cost

    def _parts(self, x: Array) -> tuple[Array, Array, Array]:
        """Return σ (1 where it is not positive), the residuals in units of it, and those within the threshold."""
        scale = 1.0 + x[..., -1:]
        scale = np.where(scale > 0, scale, 1.0)
        u = (self.b - matvec(self.A, x[..., :-1])) / scale
        return scale, u, np.clip(u, -self.epsilon, self.epsilon)

    def _whole(self, x: Array) -> Array:
        scale, u, inside = self._parts(x)
        loss = inside**2 + 2.0 * self.epsilon * (np.abs(u) - np.abs(inside))
        total = (self.here * scale * (1.0 + loss)).sum(axis=-1) + 0.5 * (self.l2 * x**2).sum(axis=-1)
        return np.asarray(np.where(x[..., -1] > -1.0, total, _BEYOND))

    def _slope(self, x: Array) -> Array:
        _, _, inside = self._parts(x)
        along = (self.here * (1.0 - inside**2)).sum(axis=-1)
        towards = vecmat(-2.0 * inside * self.here, self.A)
        return np.concatenate([towards, along[..., None]], axis=-1) + self.l2 * x

    def curved_value(self, x: Array) -> Array:
        """Return h(x) − h(0) − αᵀx, with α of this cost before any mask."""
        return self._whole(x) - self._at_start[..., 0] - vecdot(self._slope(np.zeros(self.dim)), x)

    def curved_grad(self, x: Array) -> Array:
        """Return ∇h(x) − ∇h(0)."""
        return self._slope(x) - self._slope(np.zeros(self.dim))

    def curved_hess(self, x: Array) -> Array:
        """Return 2/σ Σ (a, u)(a, u)ᵀ over the residuals within the threshold, and the penalty."""
        scale, u, _ = self._parts(x)
        within = self.here * (np.abs(u) <= self.epsilon) * 2.0 / scale
        A = np.broadcast_to(self.A, (*u.shape, self.A.shape[-1]))
        rows = np.concatenate([A, u[..., None]], axis=-1)
        gram = np.matrix_transpose(rows) @ (within[..., None] * rows)
        return np.asarray(gram + self.l2[..., None] * np.eye(self.dim))

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ∇h(x), with the rows along *B* multiplied out first."""
        _, _, inside = self._parts(x)
        along = (self.here * (1.0 - inside**2)).sum(axis=-1)
        rows = vecmat(-2.0 * inside * self.here, self.A @ B[:-1])
        masks = self.affine - self._slope(np.zeros(self.dim))
        return rows + along[..., None] * B[-1] + (self.l2 * x + masks) @ B

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return 2/σ Σ (AB, u)ᵀ(AB, u) over the residuals within the threshold, and the penalty."""
        scale, u, _ = self._parts(x)
        within = self.here * (np.abs(u) <= self.epsilon) * 2.0 / scale
        rows = self.A @ B[:-1] + u[..., None] * B[-1]
        return np.asarray(np.matrix_transpose(rows) @ (within[..., None] * rows) + B.T @ (self.l2[..., None] * B))

    @property
    def smoothness(self) -> Array:
        """Infinite: near σ = 0 the cost bends without bound."""
        return np.full(self.affine.shape[:-1], np.inf)

    @property
    def strong_convexity(self) -> Array:
        """0: the scale has no penalty."""
        return np.zeros(self.affine.shape[:-1])

    def total_curvature(self) -> Curvature:
        """From the penalty alone to no bound."""
        below = np.diag(self.l2.reshape(-1, self.dim).sum(axis=0))
        return Curvature(below=below, above=below + np.inf)

    def stacking_key(self) -> tuple[Any, ...]:
        """Rows within a factor of two of each other: padding then at most doubles the work."""
        return (*super().stacking_key(), (self.A.shape[-2] - 1).bit_length())
