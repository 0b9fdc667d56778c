"""Multinomial logistic (softmax) regression over K classes.

    h(V) = Σ_j log Σ_k exp(z_jk) − z_{j,y_j} + ½ Σ l2·V²,     z_j = B V aⱼ

Scores that rise by the same amount for all classes leave every probability as it is, so K weight vectors have one
direction too many. The columns of B, (K, K − 1), are orthonormal and add up to zero: W = B V has Σ_k w_k = 0, which
is what a squared penalty chooses among all W with the same probabilities, and |W|² = |V|². Unknowns are V, one row
of m' weights after the other. Labels enter through α = −vec(BᵀYᵀA) alone.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.family import Curvature, Family, one_per_row, penalty
from tacit.costs.rows import design, row_weights, with_weight
from tacit.costs.secrets import Labels, Secrets, regression
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.later import later
from tacit.typing import Array

if TYPE_CHECKING:
    from scipy import special
else:
    special = later("scipy.special")


class Multinomial(Family):
    """Softmax loss of labels y in 0 … classes − 1, plus ½ l2 |W|²; with an intercept, the last column goes free."""

    factored = True
    affine_part = AffinePart(
        "the labels y (they enter only through Aᵀy)", open=("the features A",), parts=("affine", "labels")
    )
    _stacks: ClassVar[tuple[str, ...]] = ("A", "l2")

    weight: Array | None = None
    """Of every row; None for ones."""

    def __init__(
        self,
        A: ArrayLike,
        y: ArrayLike,
        *,
        classes: int,
        l2: ArrayLike = 0.0,
        intercept: bool = False,
        weight: ArrayLike | None = None,
    ) -> None:
        if classes < 2:
            raise CostError(f"classes = {classes}: a choice needs at least two.")
        self.A = design(A, intercept=intercept)
        self.intercept = intercept
        y = one_per_row(y, "y", self.A)
        if not np.isin(y, np.arange(classes)).all():
            raise CostError(f"the labels of a multinomial cost must be whole numbers from 0 to {classes - 1}.")
        if weight is not None:
            self.weight = row_weights(weight, len(self.A))
        self.l2 = np.tile(penalty(l2, self.A.shape[1], intercept=intercept), classes - 1)
        self._label(y, classes)

    def _label(self, y: Array, classes: int) -> None:
        chosen = np.eye(classes)[y.astype(np.intp)] @ contrasts(classes)
        if self.weight is not None:
            chosen = self.weight[:, None] * chosen
        self.affine = -(chosen.T @ self.A).ravel()
        mass = float(len(y)) if self.weight is None else float(self.weight.sum())
        self._lowest = np.asarray(-mass * np.log(classes))

    def of_rows(self, A: Array, y: Array, weight: Array | None, offset: Array | None) -> Multinomial:
        """Return this cost without its penalty, of other records, which are known to fit."""
        cost, classes = copy.copy(self), self.classes
        cost.A, cost.l2 = A, np.zeros(self.dim)
        cost.weight = None if weight is None else row_weights(weight, len(A))
        cost._label(y, classes)
        return cost

    def _stacked_names(self) -> tuple[str, ...]:
        return self._stacks if self.weight is None else (*self._stacks, "weight")

    @property
    def _weighted_rows(self) -> Array:
        return self.A if self.weight is None else np.sqrt(self.weight)[..., None] * self.A

    @property
    def classes(self) -> int:
        """K."""
        return self.dim // int(self.A.shape[-1]) + 1

    @property
    def labels(self) -> Labels | None:
        """Beside A, once for every contrast between classes."""
        rows = with_weight(self.A, self.weight)
        return Labels(rows, len(rows), float(np.log2(self.classes)))

    @property
    def held(self) -> Array | None:
        """Tell of every column whether a record here is not zero in it."""
        return np.asarray(with_weight(self.A, self.weight).any(axis=0))

    @property
    def secrets(self) -> Secrets | None:
        """Features, and a class."""
        return regression(
            type(self),
            records=len(with_weight(self.A, self.weight)),
            unknowns=int(self.A.shape[-1]),
            intercept=self.intercept,
            labels=lambda rng, scores: rng.integers(self.classes, size=len(scores)).astype(np.float64),
            real=False,
            penalty=self.l2,
            costs=self._of_one_record,
        )

    def _of_one_record(self, A: Array, y: Array, l2: Array) -> Multinomial:
        """Return agents with one record each, (count, 1, m')."""
        cost = object.__new__(Multinomial)
        cost.A, cost.l2 = A, l2
        chosen = contrasts(self.classes)[y.astype(np.intp)]
        cost.affine = -(chosen[:, :, None] * A).reshape(len(A), self.dim)
        return cost

    def _scores(self, x: Array) -> Array:
        """Return A Vᵀ Bᵀ, (..., rows, K)."""
        V = x.reshape(*x.shape[:-1], self.classes - 1, self.A.shape[-1])
        return self.A @ np.matrix_transpose(V) @ contrasts(self.classes).T

    def curved_value(self, x: Array) -> Array:
        """Return Σ log Σ exp z − log K, and the penalty."""
        rows = special.logsumexp(self._scores(x), axis=-1) - np.log(self.classes)
        rows = rows if self.weight is None else self.weight * rows
        return np.asarray(rows.sum(axis=-1) + 0.5 * (self.l2 * x**2).sum(axis=-1))

    def curved_grad(self, x: Array) -> Array:
        """Return vec(BᵀPᵀA) + l2·x, with the probabilities P."""
        P = self._probabilities(x) @ contrasts(self.classes)
        slope = np.matrix_transpose(P) @ self.A
        return slope.reshape(*slope.shape[:-2], self.dim) + self.l2 * x

    def curved_hess(self, x: Array) -> Array:
        """Return Σ_j Bᵀ(diag(p) − ppᵀ)B ⊗ aaᵀ, and the penalty."""
        B, width = contrasts(self.classes), int(self.A.shape[-1])
        P = _softmax(self._scores(x))
        Q = P @ B
        H = np.empty((*Q.shape[:-2], self.dim, self.dim))
        for j in range(self.classes - 1):
            for k in range(j + 1):
                bend = P @ (B[:, j] * B[:, k]) - Q[..., j] * Q[..., k]
                bend = bend if self.weight is None else self.weight * bend
                block = np.matrix_transpose(self.A) @ (bend[..., None] * self.A)
                rows, columns = slice(j * width, (j + 1) * width), slice(k * width, (k + 1) * width)
                H[..., rows, columns] = H[..., columns, rows] = block
        return H + self.l2[..., None] * np.eye(self.dim)

    def _probabilities(self, x: Array) -> Array:
        """Return P, every row with its weight."""
        P = _softmax(self._scores(x))
        return P if self.weight is None else self.weight[..., None] * P

    def _scores_along(self, B: Array) -> Array:
        """Return what every column of *B* does to the scores, (..., rows, K, q)."""
        blocks = B.reshape(self.classes - 1, self.A.shape[-1], -1)
        moved = np.stack([self.A @ block for block in blocks], axis=-2)
        return np.asarray(contrasts(self.classes) @ moved)

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Σ Z'ᵀp + Bᵀ(l2·x + α), with the scores' slopes Z' along *B*."""
        P = self._probabilities(x)
        slope = (P[..., None] * self._scores_along(B)).sum(axis=(-3, -2))
        return np.asarray(slope + (self.l2 * x + self.affine) @ B)

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return Σ Z'ᵀ(diag(p) − ppᵀ)Z' + Bᵀ diag(l2) B, from Z' less its mean over the classes."""
        P, Z = _softmax(self._scores(x)), self._scores_along(B)
        Z = Z - (P[..., None] * Z).sum(axis=-2, keepdims=True)
        rows = (np.sqrt(self._probabilities(x))[..., None] * Z).reshape(*Z.shape[:-3], -1, Z.shape[-1])
        return np.asarray(np.matrix_transpose(rows) @ rows + B.T @ (self.l2[..., None] * B))

    @property
    def smoothness(self) -> Array:
        """½ λ_max(AᵀA) + the largest penalty: diag(p) − ppᵀ has no eigenvalue above ½."""
        largest = np.linalg.norm(self._weighted_rows, ord=2, axis=(-2, -1))
        return np.asarray(0.5 * largest**2 + self.l2.max(axis=-1))

    @property
    def strong_convexity(self) -> Array:
        """The smallest penalty."""
        return self.l2.min(axis=-1)

    def total_curvature(self) -> Curvature:
        """Between the penalty alone and ½ I ⊗ AᵀA with it."""
        below = np.diag(self.l2.reshape(-1, self.dim).sum(axis=0))
        rows = self._weighted_rows.reshape(-1, self.A.shape[-1])
        return Curvature(below=below, above=below + 0.5 * np.kron(np.eye(self.classes - 1), rows.T @ rows))

    def stacking_key(self) -> tuple[Any, ...]:
        """The same classes, and rows within a factor of two of each other."""
        return (*super().stacking_key(), self.classes, self.weight is None, (self.A.shape[-2] - 1).bit_length())


def _softmax(z: Array) -> Array:
    """Return eᶻ over its sum along the last axis, with the largest z taken off first."""
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@lru_cache(maxsize=16)
def contrasts(classes: int) -> Array:
    """Return B, (K, K − 1): orthonormal columns that add up to zero."""
    from scipy.linalg import helmert  # heavy, and only multinomial models need it

    return np.ascontiguousarray(helmert(classes).T)
