"""Costs that are a sum over the rows of a design matrix A: one scalar function of aⱼᵀx each.

    φ(x) = Σ_j ρ_j(aⱼᵀx) + ½ Σ_k l2_k x_k²,  ρ_j(0) = 0
    ∇φ   = Aᵀρ'(Ax) + l2·x
    ∇²φ  = Aᵀ diag(ρ''(Ax)) A + diag(l2)

Agents with fewer rows are padded with rows of zeros, which add nothing to any of the three.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.batched import matvec, vecmat
from tacit.costs.columns import Columns
from tacit.costs.family import Curvature, Family, finite, penalty
from tacit.costs.secrets import Labels, Secrets, regression
from tacit.errors import CostError
from tacit.typing import Array


class RowSum(Columns, Family):
    """φ(x) = Σ_j ρ_j(aⱼᵀx) + ½ Σ_k l2_k x_k². A subclass gives ρ, ρ', ρ'' and the bound of ρ''."""

    factored = True
    steepest: ClassVar[float]
    """The supremum of ρ''; its infimum is 0."""
    kinks: ClassVar[bool] = False
    """Whether ρ'' jumps."""
    label_bits: ClassVar[float | None] = None
    """How much there is to know of one label; None where it is a real number."""

    _stacks: ClassVar[tuple[str, ...]] = ("A", "l2")

    def __init__(self, A: ArrayLike, *, l2: ArrayLike, intercept: bool) -> None:
        self.A = design(A, intercept=intercept)
        self.intercept = intercept
        self.l2 = penalty(l2, self.A.shape[1], intercept=intercept)

    @abstractmethod
    def rho(self, z: Array) -> Array:
        """Return ρ(z)."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """Return ρ'(z)."""

    @abstractmethod
    def bend(self, z: Array) -> Array:
        """Return ρ''(z)."""

    @property
    def labels(self) -> Labels | None:
        """Beside A."""
        return Labels(self.A, len(self.A), self.label_bits)

    @staticmethod
    @abstractmethod
    def guess(rng: np.random.Generator, scores: Array) -> Array:
        """Return invented labels."""

    @property
    def secrets(self) -> Secrets | None:
        """Features and labels."""
        return regression(
            type(self),
            records=len(self.A),
            unknowns=self.dim,
            intercept=self.intercept,
            labels=self.guess,
            real=self.label_bits is None,
            penalty=self.l2,
            costs=self._of_one_record,
            kinks=self.kinks,
        )

    def _of_one_record(self, A: Array, y: Array, l2: Array) -> Self:
        """Return agents with one record each, (count, 1, m)."""
        cost = copy.copy(self)
        cost.A, cost.l2 = A, l2
        cost.affine = -y[:, None] * A[:, 0]
        return cost

    def curved_value(self, x: Array) -> Array:
        """Return Σ ρ(Ax) + ½ Σ l2·x²."""
        return self.rho(matvec(self.A, x)).sum(axis=-1) + 0.5 * (self.l2 * x**2).sum(axis=-1)

    def curved_grad(self, x: Array) -> Array:
        """Return Aᵀρ'(Ax) + l2·x."""
        return vecmat(self.slope(matvec(self.A, x)), self.A) + self.l2 * x

    def curved_hess(self, x: Array) -> Array:
        """Return Aᵀ diag(ρ''(Ax)) A + diag(l2)."""
        bend = self.bend(matvec(self.A, x))
        gram = np.matrix_transpose(self.A) @ (bend[..., None] * self.A)
        return gram + self.l2[..., None] * np.eye(self.dim)

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return (AB)ᵀρ'(Ax) + Bᵀ(l2·x + α)."""
        return vecmat(self.slope(matvec(self.A, x)), self.A @ B) + (self.l2 * x + self.affine) @ B

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return (AB)ᵀ diag(ρ''(Ax)) AB + Bᵀ diag(l2) B."""
        return gram_along(self.A, self.bend(matvec(self.A, x)), self.l2, B)

    @property
    def smoothness(self) -> Array:
        """Sup ρ'' · λ_max(AᵀA) + the largest penalty."""
        largest = np.linalg.norm(self.A, ord=2, axis=(-2, -1))
        return np.asarray(self.steepest * largest**2 + self.l2.max(axis=-1))

    @property
    def strong_convexity(self) -> Array:
        """The smallest penalty: the rows alone promise nothing."""
        return self.l2.min(axis=-1)

    def total_curvature(self) -> Curvature:
        """Between the penalty alone and sup ρ''·AᵀA with it."""
        below = np.diag(self.l2.reshape(-1, self.dim).sum(axis=0))
        rows = self.A.reshape(-1, self.dim)
        above = below + self.steepest * (rows.T @ rows) if np.isfinite(self.steepest) else below + np.inf
        return Curvature(below=below, above=above)

    def stacking_key(self) -> tuple[Any, ...]:
        """Rows within a factor of two of each other: padding then at most doubles the work."""
        return (*super().stacking_key(), (self.A.shape[-2] - 1).bit_length())


def gram_along(A: Array, weights: Array, l2: Array, B: Array) -> Array:
    """Return (AB)ᵀ diag(weights) AB + Bᵀ diag(l2) B: a small |Ab| is squared after it was found, not before."""
    rows = A @ B
    return np.asarray(np.matrix_transpose(rows) @ (weights[..., None] * rows) + B.T @ (l2[..., None] * B))


def design(A: ArrayLike, *, intercept: bool) -> Array:
    """Return the design matrix, with a last column of ones for an intercept."""
    rows = finite(A, "A", ndim=2)
    if not rows.size:
        raise CostError(f"A has shape {rows.shape}: an agent needs at least one record and one column.")
    return np.column_stack([rows, np.ones(len(rows))]) if intercept else rows
