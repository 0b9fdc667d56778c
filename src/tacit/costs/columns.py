"""The columns of a design, in other units: x = T u.

    w_k = u_k / s_k,   b = v − Σ_k c_k u_k / s_k          centre c_k and scale s_k of a column; intercept b last
    A T                columns (a_k − c_k)/s_k, beside the ones
    α ← Tᵀα,   l2_k ← l2_k / s_k²,   l1_k ← l1_k / s_k    the same cost, of u

In standard units no sum of a regression exceeds a few times the number of records, whatever units people use.
Without an intercept every c_k is zero.
"""

from __future__ import annotations

import copy
from typing import NamedTuple, Self

import numpy as np

from tacit.errors import CostError
from tacit.typing import Array


class Units(NamedTuple):
    """Centre and scale of every column; the last unknown is an intercept if there is one more than scales."""

    centre: Array
    scale: Array

    def back(self, u: Array) -> Array:
        """Return T u."""
        p = len(self.scale)
        w = u[:p] / self.scale
        return np.concatenate([w, u[p:] - self.centre @ w])

    def into(self, x: Array) -> Array:
        """Return T⁻¹ x."""
        p = len(self.scale)
        return np.concatenate([x[:p] * self.scale, x[p:] + self.centre @ x[:p]])

    def matrix(self, unknowns: int) -> Array:
        """Return T."""
        return np.column_stack([self.back(unit) for unit in np.eye(unknowns)])

    def own_hessian(self, H: Array) -> Array:
        """Return T⁻ᵀ H T⁻¹: the Hessian in the units of x, from that in the units of u."""
        inverse = np.column_stack([self.into(unit) for unit in np.eye(len(H))])
        return np.asarray(inverse.T @ H @ inverse)


OF_RECORDS = ("kept", "_marks", "_table")
"""What a cost keeps of its records, to clip them; it does not hold of another affine part, or of other units."""


class Columns:
    """A cost with a design A, affine part α and penalties l2: what least squares and sums over rows share."""

    A: Array
    l2: Array
    affine: Array
    weight: Array | None = None
    """Of every record, where they do not all count alike."""

    def column_sums(self) -> Array:
        """Return Σ a_k of every column but the last, which is an intercept."""
        return np.asarray((self.A[..., :-1] * self.A[..., -1:]).sum(axis=-2))

    def columns_held(self, columns: int) -> Array:
        """Return 1 for each of so many columns that is not zero in all records here, and 0 for the others."""
        return np.asarray((self.A[..., :columns] != 0).any(axis=-2), dtype=np.float64)

    @property
    def held(self) -> Array | None:
        """Tell of every column whether a record here is not zero in it."""
        return np.asarray((self.A if self.weight is None else self.weight[:, None] * self.A).any(axis=0))

    def column_squares(self, centre: Array) -> Array:
        """Return Σ (a_k − c_k)² of as many columns as there are centres."""
        p = len(centre)
        about = self.A[..., :p] - centre * self.A[..., -1:] if p < self.A.shape[-1] else self.A
        return np.asarray((about**2).sum(axis=-2))

    def in_units(self, units: Units) -> Self:
        """Return the same cost as a function of u."""
        centre, scale = units
        p, turned = len(scale), copy.copy(self)
        for name in ("P", "_singular", *OF_RECORDS):
            turned.__dict__.pop(name, None)  # computed from the former columns
        A, affine, l2 = self.A.copy(), self.affine.copy(), self.l2.copy()
        if p < A.shape[-1]:
            A[..., :p] -= centre * A[..., -1:]
            affine[..., :p] -= centre * affine[..., -1:]
        A[..., :p] /= scale
        affine[..., :p] /= scale
        l2[..., :p] /= scale**2
        turned.A, turned.affine, turned.l2 = A, affine, l2
        return turned


def refuse_units(what: str = "a cost") -> CostError:
    """Return the error of a cost that has no columns."""
    return CostError(f"{what} has no columns that could be put in standard units; use 'newton' or 'lbfgs'.")
