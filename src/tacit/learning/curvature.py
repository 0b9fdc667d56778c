"""The summed Hessian at a fit, as sharply as the records have it, and what it determines.

    A = Σ ∇²ℓ_i(x̂) + penalty            looked at in the basis that shows it (`tacit.algorithms.directions`)
    wᵀAw = 1 for every direction w kept  →  cov(x̂) = φ Σ w w' − (Σ w w') penalty (Σ w w')

Columns that say the same leave directions without any curvature: coefficients that share in them have no standard
error. Where curvature is known to a few digits only, so is a standard error, and it is left out as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.algorithms.directions import Directions, Sight
from tacit.costs import ConcomitantHuber, LeastSquares, Logistic, Multinomial, Poisson, pack, packed_size, unpack
from tacit.learning.assembly import Assembly
from tacit.typing import Array, Rows

Loss = ConcomitantHuber | LeastSquares | Logistic | Multinomial | Poisson

_SHARED = 1e-6  # of a direction's largest entry, in standard units: a coefficient with less has no part in it
_DIGITS = 1e-2  # of a variance: what may be rounding before it is left out


class FitCurvature(NamedTuple):
    """Directions in standard units, with A = 1 along those kept."""

    kept: Array
    """By columns, (m, k)."""
    lost: Array
    """By columns, (m, m − k), the largest entry 1."""
    unsure: Array
    """The share of each kept direction's curvature that may be rounding, (k,)."""
    penalty: Array

    @classmethod
    def unknown(cls, m: int) -> FitCurvature:
        """Return that of a model without standard errors."""
        return cls(np.full((m, 0), np.nan), np.zeros((m, 0)), np.zeros(0), np.zeros(m))

    @classmethod
    def of(cls, seen: Directions, penalty: Array) -> FitCurvature:
        """Return what a sum has shown."""
        keep = seen.kept & (seen.curvature > 0)
        size = seen.curvature[keep]
        lost = seen.W[:, ~keep]
        lost = lost / np.abs(lost).max(axis=0, initial=np.finfo(float).tiny)
        return cls(seen.W[:, keep] / np.sqrt(size), lost, seen.noise[keep] / size, penalty)

    @property
    def is_known(self) -> bool:
        """Whether there is a Hessian at all."""
        return bool(self.kept.shape[1])

    @property
    def used(self) -> float:
        """The degrees of freedom that the fit uses: trace of A⁻¹G."""
        return float(self.kept.shape[1] - (self.penalty[:, None] * self.kept**2).sum())

    def deviations(self, turn: Array, dispersion: float) -> Array:
        """Return the standard errors of turn·x; NaN where they are not determined."""
        if not self.is_known:
            return np.full(len(turn), np.nan)
        parts = turn @ self.kept
        held = parts @ (self.kept.T * np.sqrt(self.penalty))
        variance = (parts**2).sum(axis=1) - (held**2).sum(axis=1)
        unsure = (parts**2) @ self.unsure > _DIGITS * np.maximum(variance, np.finfo(float).tiny)
        errors = np.sqrt(np.maximum(dispersion * variance, 0.0))
        return np.where(unsure | self.shares(turn), np.nan, errors)

    def shares(self, turn: Array) -> Rows:
        """Tell of every row of turn·x whether it shares in a direction that is lost, or in nothing at all."""
        size = np.abs(turn).max(axis=1)
        return np.asarray((size == 0.0) | (np.abs(turn @ self.lost) > _SHARED * size[:, None]).any(axis=1))


def curvature(
    assembly: Assembly, costs: Sequence[Loss], x: Array, penalty: Array, facts: Sequence[Array]
) -> tuple[FitCurvature, Array]:
    """Return the curvature at x, and the sum of *facts*: one sum, and more where columns are nearly collinear."""
    m, sight = len(x), Sight.plain(len(x))
    size, total = packed_size(m), np.zeros(0)
    what = "Hessians at the fit, for standard errors"
    while True:
        bends = [pack(_bend(cost, x, sight)) for cost in costs]
        terms = [np.concatenate(each) for each in zip(bends, facts, strict=True)] if sight.is_plain else bends
        summed = assembly.total(terms, what)
        total = summed[size:] if sight.is_plain else total
        A = unpack(summed[:size], m) + sight.B.T @ (penalty[:, None] * sight.B)
        seen = sight.directions(A, assembly.resolution)
        if not seen.vague.any():
            return FitCurvature.of(seen, penalty), total
        sight = sight.next(seen)
        what = "Hessians at the fit, in a basis that shows nearly collinear columns"


def _bend(cost: Loss, x: Array, sight: Sight) -> Array:
    if sight.is_plain:
        return np.asarray(cost.hess(x) - np.diag(cost.l2))
    return np.asarray(cost.hess_along(x, sight.B) - sight.B.T @ (cost.l2[:, None] * sight.B))
