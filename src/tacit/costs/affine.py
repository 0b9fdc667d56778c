"""Affine costs: the smooth part of a cost that is otherwise rough.

h(x) = qᵀx        φ = 0,  α = q
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.family import Curvature, Family, finite
from tacit.coverage import AffinePart
from tacit.typing import Array


class Affine(Family):
    """h(x) = qᵀx."""

    affine_part = AffinePart("everything: the coefficients q are all there is", parts=("whole",))
    separable = True
    _stacks: ClassVar[tuple[str, ...]] = ()

    def __init__(self, q: ArrayLike) -> None:
        self.affine = finite(q, "q", ndim=1)

    @classmethod
    def of(cls, q: Array) -> Affine:
        """Return the affine cost of one agent or of many at once, from an array that is known to fit."""
        cost = object.__new__(Affine)
        cost.affine = q
        return cost

    def curved_value(self, x: Array) -> Array:
        """Return 0."""
        return np.zeros(x.shape[:-1])

    def curved_grad(self, x: Array) -> Array:
        """Return 0."""
        return np.zeros_like(x)

    def curved_hess(self, x: Array) -> Array:
        """Return 0."""
        return np.zeros((*np.broadcast_shapes(x.shape, self.affine.shape), self.dim))

    def curved_prox(self, v: Array, t: Array | float) -> Array:
        """Return v."""
        return v

    @property
    def smoothness(self) -> Array:
        """Zero."""
        return np.zeros(self.affine.shape[:-1])

    @property
    def strong_convexity(self) -> Array:
        """Zero."""
        return np.zeros(self.affine.shape[:-1])

    def total_curvature(self) -> Curvature:
        """Zero."""
        zero = np.zeros((self.dim, self.dim))
        return Curvature(below=zero, above=zero)
