"""Costs that are a sum over the rows of a design matrix A: one scalar function of aⱼᵀx each.

    φ(x) = Σ_j ρ_j(aⱼᵀx) + ½ Σ_k l2_k x_k²,  ρ_j(0) = 0
    with weights w and offsets o: w_j (ρ_j(o_j + aⱼᵀx) − ρ_j(o_j)) in the place of ρ_j(aⱼᵀx)
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

_ROWS = 1024  # of a design matrix, weighted and multiplied at a time


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

    weight: Array | None = None
    """Of every row; None for ones. A row that only fills up a stack has none."""
    offset: Array | None = None
    """What is added to aⱼᵀx; there is one wherever there is a weight."""

    def __init__(
        self,
        A: ArrayLike,
        *,
        l2: ArrayLike,
        intercept: bool,
        weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        self.A = design(A, intercept=intercept)
        self.intercept = intercept
        if weight is not None or offset is not None:
            self.weight = row_weights(weight, len(self.A))
            self.offset = row_offsets(offset, len(self.A))
        self.l2 = penalty(l2, self.A.shape[1], intercept=intercept)

    def _stacked_names(self) -> tuple[str, ...]:
        return self._stacks if self.weight is None else (*self._stacks, "weight", "offset")

    @abstractmethod
    def rho(self, z: Array) -> Array:
        """Return ρ(z)."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """Return ρ'(z)."""

    @abstractmethod
    def bend(self, z: Array) -> Array:
        """Return ρ''(z)."""

    def rho_slope_bend(self, z: Array) -> tuple[Array, Array, Array]:
        """Return ρ, ρ' and ρ'' of z, where all three are wanted."""
        return self.rho(z), self.slope(z), self.bend(z)

    def _label(self, y: Array) -> None:
        """Set α and the lowest value from labels that are known to fit."""
        raise CostError("this family of costs cannot read its records in batches; load them.")

    def of_rows(self, A: Array, y: Array, weight: Array | None, offset: Array | None) -> Self:
        """Return this cost without its penalty, of other records, which are known to fit."""
        cost = copy.copy(self)
        cost.A, cost.l2 = A, np.zeros(A.shape[-1])
        cost.weight = cost.offset = None
        if weight is not None or offset is not None:
            cost.weight, cost.offset = row_weights(weight, len(A)), row_offsets(offset, len(A))
        cost._label(y)
        return cost

    def look(self, x: Array, *, last: bool = False) -> Array:
        """Return φ, ∇φ and ∇²φ at x by one reading of the rows."""
        z = self.A @ x if self.offset is None else self.A @ x + self.offset
        rho, slope, bend = self.rho_slope_bend(z)
        if self.weight is not None and self.offset is not None:
            rho, slope, bend = self.weight * (rho - self.rho(self.offset)), self.weight * slope, self.weight * bend
        value, grad = rho.sum() + 0.5 * (self.l2 * x**2).sum(), self.A.T @ slope + self.l2 * x
        columns = self.A.T  # contiguous, where A was read column by column
        columns = np.multiply(columns, np.sqrt(bend), out=columns if last else None)
        gram = columns @ columns.T + np.diag(self.l2)  # a product with its own transpose takes half the time
        return np.concatenate([[value], grad, gram.ravel()])

    @property
    def labels(self) -> Labels | None:
        """Beside A."""
        rows = with_weight(self.A, self.weight)
        return Labels(rows, len(rows), self.label_bits)

    @staticmethod
    @abstractmethod
    def guess(rng: np.random.Generator, scores: Array) -> Array:
        """Return invented labels."""

    @property
    def secrets(self) -> Secrets | None:
        """Features and labels."""
        return regression(
            type(self),
            records=len(with_weight(self.A, self.weight)),
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
        cost.weight = cost.offset = None
        cost.A, cost.l2 = A, l2
        cost.affine = -y[:, None] * A[:, 0]
        return cost

    def curved_value(self, x: Array) -> Array:
        """Return Σ ρ(Ax) + ½ Σ l2·x²."""
        penalty = 0.5 * (self.l2 * x**2).sum(axis=-1)
        if self.weight is None or self.offset is None:
            return self.rho(matvec(self.A, x)).sum(axis=-1) + penalty
        rows = self.weight * (self.rho(self._scores(x)) - self.rho(self.offset))
        return np.asarray(rows.sum(axis=-1) + penalty)

    def curved_grad(self, x: Array) -> Array:
        """Return Aᵀρ'(Ax) + l2·x."""
        return vecmat(self._slopes(x), self.A) + self.l2 * x

    def _scores(self, x: Array) -> Array:
        """Return Ax, and the offset."""
        scores = matvec(self.A, x)
        return scores if self.offset is None else scores + self.offset

    def _slopes(self, x: Array) -> Array:
        """Return ρ' of every row, with its weight."""
        slope = self.slope(self._scores(x))
        return slope if self.weight is None else self.weight * slope

    def _bends(self, x: Array) -> Array:
        """Return ρ'' of every row, with its weight."""
        bend = self.bend(self._scores(x))
        return bend if self.weight is None else self.weight * bend

    @property
    def _weighted_rows(self) -> Array:
        """√w A: its square is what bounds the curvature."""
        return self.A if self.weight is None else np.sqrt(self.weight)[..., None] * self.A

    def curved_hess(self, x: Array) -> Array:
        """Return Aᵀ diag(ρ''(Ax)) A + diag(l2)."""
        gram = np.matrix_transpose(self.A) @ (self._bends(x)[..., None] * self.A)
        return gram + self.l2[..., None] * np.eye(self.dim)

    def hess_rows(self, x: Array, start: int, stop: int) -> Array:
        """Return some rows of ∇²φ(x)."""
        gram = np.matrix_transpose(self.A[..., start:stop]) @ (self._bends(x)[..., None] * self.A)
        return with_diagonal(gram, self.l2, start)

    def total_hess(self, x: Array) -> Array:
        """Return the sum over the agents: one product of all their rows."""
        return weighted_gram(self.A, self._bends(x)) + np.diag(self.l2.reshape(-1, self.dim).sum(axis=0))

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return (AB)ᵀρ'(Ax) + Bᵀ(l2·x + α)."""
        return vecmat(self._slopes(x), self.A @ B) + (self.l2 * x + self.affine) @ B

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return (AB)ᵀ diag(ρ''(Ax)) AB + Bᵀ diag(l2) B."""
        return gram_along(self.A, self._bends(x), self.l2, B)

    @property
    def smoothness(self) -> Array:
        """Sup ρ'' · λ_max(AᵀA) + the largest penalty."""
        largest = np.linalg.norm(self._weighted_rows, ord=2, axis=(-2, -1))
        return np.asarray(self.steepest * largest**2 + self.l2.max(axis=-1))

    @property
    def strong_convexity(self) -> Array:
        """The smallest penalty: the rows alone promise nothing."""
        return self.l2.min(axis=-1)

    def total_curvature(self) -> Curvature:
        """Between the penalty alone and sup ρ''·AᵀA with it."""
        below = np.diag(self.l2.reshape(-1, self.dim).sum(axis=0))
        rows = self._weighted_rows.reshape(-1, self.dim)
        above = below + self.steepest * (rows.T @ rows) if np.isfinite(self.steepest) else below + np.inf
        return Curvature(below=below, above=above)

    def stacking_key(self) -> tuple[Any, ...]:
        """Rows within a factor of two of each other: padding then at most doubles the work."""
        return (*super().stacking_key(), self.weight is None, (self.A.shape[-2] - 1).bit_length())


def with_diagonal(rows: Array, diagonal: Array, start: int) -> Array:
    """Return some rows of a matrix, from *start* on, with this diagonal added in their place."""
    place = np.arange(rows.shape[-2])
    rows[..., place, start + place] += diagonal[..., start : start + len(place)]
    return rows


def weighted_gram(A: Array, weight: Array) -> Array:
    """Return Σ_j w_j aⱼaⱼᵀ over all rows of all agents, some rows at a time: nothing as large as A is made."""
    rows, weights = A.reshape(-1, A.shape[-1]), np.broadcast_to(weight, A.shape[:-1]).reshape(-1)
    total = np.zeros((A.shape[-1],) * 2)
    for start in range(0, len(rows), _ROWS):
        part = rows[start : start + _ROWS]
        total += part.T @ (weights[start : start + _ROWS, None] * part)
    return total


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


def row_weights(weight: ArrayLike | None, rows: int) -> Array:
    """Return one weight per row; ones unless given."""
    if weight is None:
        return np.ones(rows)
    weights = finite(weight, "weight", ndim=1)
    if len(weights) != rows or (weights < 0).any():
        raise CostError(f"weight needs a number for each of the {rows} rows, zero or positive.")
    return weights


def with_weight(A: Array, weight: Array | None) -> Array:
    """Return the rows that are part of a sum at all."""
    return A if weight is None or weight.all() else A[weight > 0]


def row_offsets(offset: ArrayLike | None, rows: int) -> Array:
    """Return one offset per row; zeros unless given."""
    if offset is None:
        return np.zeros(rows)
    offsets = finite(offset, "offset", ndim=1)
    if len(offsets) != rows:
        raise CostError(f"offset needs a number for each of the {rows} rows.")
    return offsets
