"""Least squares and ridge regression.

    h(x) = ½ |Ax − b|² + ½ Σ l2_k x_k²        φ = ½ |Ax|² + penalty,  α = −Aᵀb
    with weights w: √w A and √w b

More than m rows are replaced by the triangular factor of A = QR, which has the same AᵀA.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.alone import Shortened, sampled, shortened
from tacit.costs.batched import matvec, vecmat
from tacit.costs.columns import Columns
from tacit.costs.family import Curvature, one_per_row, penalty
from tacit.costs.passes import Passes, RowBatch
from tacit.costs.quadratic import Quadratic
from tacit.costs.rows import design, gram_along, row_weights, with_diagonal
from tacit.costs.secrets import Labels, Secrets, regression
from tacit.costs.sensitivity import RecordLimits, Sensitivity, label_limit, shortened_rows, without_records
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.typing import Array


class LeastSquares(Columns, Quadratic):
    """½ |Ax − b|² + ½ l2 |x|²; with an intercept, x has one more entry, the last, without penalty."""

    factored = True
    affine_part = AffinePart(
        "the labels b (they enter only through Aᵀb)", open=("the features A",), parts=("affine", "labels")
    )
    _stacks: ClassVar[tuple[str, ...]] = ("A", "l2")

    def __init__(
        self,
        A: ArrayLike,
        b: ArrayLike,
        *,
        l2: ArrayLike = 0.0,
        intercept: bool = False,
        weight: ArrayLike | None = None,
    ) -> None:
        rows = design(A, intercept=intercept)
        self.records, self.intercept = len(rows), intercept
        b = one_per_row(b, "b", rows)
        m = rows.shape[1]
        if weight is not None:
            root = np.sqrt(row_weights(weight, len(rows)))
            rows, b = root[root > 0, None] * rows[root > 0], (root * b)[root > 0]
            self.records = len(rows)
            rows, b = (rows, b) if len(rows) else (np.zeros((1, m)), np.zeros(1))
        self.affine = -(b @ rows)
        self._table = rows, b  # to be clipped, where the answer is to be differentially private
        self._some = sampled(rows).copy() if len(rows) > m else None
        self._short: Shortened | None = shortened(rows)
        self.A: Array = self._short.factor
        self.l2 = penalty(l2, m, intercept=intercept)
        self._lowest = np.asarray(-0.5 * (b @ b))

    @classmethod
    def of_factor(
        cls, factor: Array, cross: Array, square: float, records: int, *, l2: Array, intercept: bool
    ) -> LeastSquares:
        """Return the cost of so many records, of which a factor of A, Aᵀb and |b|² are left: they stay outside."""
        cost = object.__new__(cls)
        cost.A, cost.affine, cost._lowest = factor, -cross, np.asarray(-0.5 * square)
        cost.records, cost.intercept, cost.l2 = records, intercept, l2
        cost.outside, cost._short, cost._some = True, None, None
        return cost

    def over(self, passes: Passes) -> LeastSquares:
        """Return this cost of all records of *passes*, by one: A = QR batch by batch, and the factors again."""
        total = passes.joined(_squares, _squares_of_both)
        return LeastSquares.of_factor(*total, l2=self.l2, intercept=self.intercept)

    @property
    def labels(self) -> Labels | None:
        """Beside A."""
        if self._short is None:
            return None
        return Labels(self._short.rows, self.records, None, self._short.alone, self._some)

    @property
    def secrets(self) -> Secrets | None:
        """Features and labels."""
        return regression(
            type(self),
            records=self.records,
            unknowns=self.dim,
            intercept=self.intercept,
            labels=lambda rng, scores: scores + rng.normal(size=len(scores)),
            real=True,
            penalty=self.l2,
            costs=self._of_one_record,
        )

    def sensitivity(self, limits: RecordLimits) -> Sensitivity:
        """Return what (AᵀA, Aᵀb) makes of rows and labels within the limits."""
        R, B = limits.clip, label_limit(limits)
        return Sensitivity(slope=R * B, bend=R**2, label=2.0 * R * B, quadratic=True)

    def clipped(self, limits: RecordLimits) -> Self:
        """Return the cost of shorter rows and smaller labels; with weights, of the weighted ones."""
        if self.outside:
            raise CostError(
                "records that stay in a file or a database cannot be clipped here; load them, as arrays."
            )
        B = label_limit(limits)
        if "_table" not in self.__dict__:
            raise without_records()
        rows, b = self._table
        cost = type(self)(shortened_rows(rows, limits), np.clip(b, -B, B))
        cost.l2, cost.intercept, cost.kept = self.l2, self.intercept, limits
        return cost

    def _of_one_record(self, A: Array, y: Array, l2: Array) -> LeastSquares:
        """Return agents with one record each, (count, 1, m)."""
        cost = object.__new__(LeastSquares)
        cost.A, cost.l2 = A, l2
        cost.affine = -y[:, None] * A[:, 0]
        return cost

    @cached_property
    def P(self) -> Array:
        """AᵀA + diag(l2)."""
        return np.matrix_transpose(self.A) @ self.A + self.l2[..., None] * np.eye(self.dim)

    def hess_rows(self, x: Array, start: int, stop: int) -> Array:
        """Return some rows of P, and make no more of it than that."""
        gram = np.matrix_transpose(self.A[..., start:stop]) @ self.A
        return with_diagonal(gram, self.l2, start)

    def total_hess(self, x: Array) -> Array:
        """Return ΣAᵀA and the penalties."""
        return self.total_curvature().below

    @cached_property
    def _singular(self) -> Array:
        """The singular values of A, largest first: far cheaper than the eigenvalues of P where A has few rows."""
        return np.asarray(np.linalg.svd(self.A, compute_uv=False), dtype=np.float64)

    @property
    def smoothness(self) -> Array:
        """Largest eigenvalue of AᵀA, and the largest penalty."""
        return self._singular[..., 0] ** 2 + self.l2.max(axis=-1)

    @property
    def strong_convexity(self) -> Array:
        """Smallest eigenvalue of AᵀA, which is zero with fewer rows than unknowns, and the smallest penalty."""
        least = self._singular[..., -1] ** 2 if self.A.shape[-2] >= self.dim else 0.0
        return least + self.l2.min(axis=-1)

    def total_curvature(self) -> Curvature:
        """ΣAᵀA and the penalties, exactly."""
        rows = self.A.reshape(-1, self.dim)
        total = rows.T @ rows + np.diag(self.l2.reshape(-1, self.dim).sum(axis=0))
        return Curvature(below=total, above=total)

    def curved_value(self, x: Array) -> Array:
        """Return ½|Ax|² and the penalty: through P, large terms would cancel."""
        return 0.5 * (matvec(self.A, x) ** 2).sum(axis=-1) + 0.5 * (self.l2 * x**2).sum(axis=-1)

    def curved_grad(self, x: Array) -> Array:
        """Return Aᵀ(Ax) + l2·x."""
        return vecmat(matvec(self.A, x), self.A) + self.l2 * x

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return (AB)ᵀ(Ax) + Bᵀ(l2·x + α)."""
        return vecmat(matvec(self.A, x), self.A @ B) + (self.l2 * x + self.affine) @ B

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return (AB)ᵀAB + Bᵀ diag(l2) B."""
        return gram_along(self.A, np.ones(self.A.shape[:-1]), self.l2, B)


class _Squares(NamedTuple):
    """What is left of records: a factor of A, Aᵀb, |b|² and how many there are."""

    factor: Array
    cross: Array
    square: float
    records: int


def _squares(rows: RowBatch) -> _Squares:
    A, b, records = rows.A, rows.y, len(rows.y)
    if rows.weight is not None:
        root = np.sqrt(rows.weight)
        A, b, records = root[:, None] * A, root * b, int(np.count_nonzero(root))
    return _Squares(_factor(A), b @ A, float(b @ b), records)


def _squares_of_both(a: _Squares, b: _Squares) -> _Squares:
    factor = _factor(np.concatenate([a.factor, b.factor]))
    return _Squares(factor, a.cross + b.cross, a.square + b.square, a.records + b.records)


def _factor(A: Array) -> Array:
    return A if len(A) <= A.shape[1] else np.asarray(np.linalg.qr(A, mode="r"))
