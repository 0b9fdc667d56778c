"""Quadratic costs.

h(x) = ½ xᵀPx + qᵀx        φ = ½ xᵀPx,  α = q
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.batched import matvec, vecdot, vecmat
from tacit.costs.family import Curvature, Family, finite
from tacit.costs.packed import pack, packed_size, unpack
from tacit.costs.secrets import Secrets
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.typing import Array


class Quadratic(Family):
    """h(x) = ½ xᵀPx + qᵀx, with P symmetric. P need not be positive: the sum of all P must be.

    >>> import numpy as np
    >>> h = Quadratic([[2.0]], [-6.0])          # (x − 3)², without its constant
    >>> float(h.grad(np.array([3.0]))[0])
    0.0
    """

    affine_part = AffinePart("the linear coefficients q", open=("the curvature P",))
    _stacks: ClassVar[tuple[str, ...]] = ("_P",)

    def __init__(self, P: ArrayLike, q: ArrayLike) -> None:
        self.affine = finite(q, "q", ndim=1)
        self._P = finite(P, "P", ndim=2)
        m = len(self.affine)
        if self._P.shape != (m, m):
            raise CostError(f"P has shape {self._P.shape} and q has {m} entries; P must be ({m}, {m}).")
        if not np.allclose(self._P, self._P.T, rtol=1e-12, atol=0):
            raise CostError("P is not symmetric; use (P + P.T) / 2, which gives the same cost.")

    @property
    def P(self) -> Array:
        """The curvature, (..., m, m)."""
        return self._P

    @property
    def secrets(self) -> Secrets | None:
        """P and q: a quadratic cost is one record of numbers."""
        m, size = self.dim, packed_size(self.dim)

        def invent(rng: np.random.Generator, count: int, strength: float) -> Array:
            roots, q = rng.normal(size=(count, m, m)), rng.normal(size=(count, m))
            return np.concatenate([pack(roots @ np.matrix_transpose(roots) / m + np.eye(m)), q], axis=1)

        def costs(rows: Array, penalty: Array) -> Quadratic:
            return Quadratic.of(unpack(rows[:, :size], m), rows[:, size:])

        return Secrets(1, size + m, (Quadratic, m), invent, costs, np.zeros(m), noun="cost")

    @classmethod
    def of(cls, P: Array, q: Array) -> Quadratic:
        """Return the quadratic cost of one agent or of many at once, from arrays that are known to fit."""
        cost = object.__new__(Quadratic)
        cost._P, cost.affine = P, q
        return cost

    @classmethod
    def distance(cls, point: ArrayLike) -> Quadratic:
        """Return |x − point|², the cost of the paper's illustration."""
        point = finite(point, "point", ndim=1)
        return cls(2.0 * np.eye(len(point)), -2.0 * point)

    def curved_value(self, x: Array) -> Array:
        """Return ½ xᵀPx."""
        return 0.5 * vecdot(x, matvec(self.P, x))

    def curved_grad(self, x: Array) -> Array:
        """Return Px."""
        return matvec(self.P, x)

    def curved_hess(self, x: Array) -> Array:
        """Return P."""
        return self.P

    def curved_prox(self, v: Array, t: Array | float) -> Array:
        """Return (P + I/t)⁻¹ v/t, through one eigendecomposition for all calls."""
        values, vectors = self._eigen
        weight = 1.0 / t
        return matvec(vectors, vecmat(weight * v, vectors) / (values + weight))

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.P)
        return values, vectors

    @property
    def smoothness(self) -> Array:
        """Largest |eigenvalue| of P."""
        return np.abs(self._eigen[0]).max(axis=-1)

    @property
    def strong_convexity(self) -> Array:
        """Smallest eigenvalue of P."""
        return self._eigen[0].min(axis=-1)

    def total_curvature(self) -> Curvature:
        """ΣP, exactly."""
        total = self.P.reshape(-1, self.dim, self.dim).sum(axis=0)
        return Curvature(below=total, above=total)
