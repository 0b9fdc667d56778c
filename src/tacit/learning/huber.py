"""Huber's robust regression, with the scale σ of the residuals estimated beside the coefficients.

Σ σ + σ H((yⱼ − aⱼᵀw − c)/σ) + α|w|²,   jointly convex in (w, c, σ)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tacit.costs import ConcomitantHuber, LeastSquares
from tacit.coverage import MASKS
from tacit.errors import InputError, ProtectionError
from tacit.learning.assembly import Assembly, mechanism
from tacit.learning.curvature import FitCurvature
from tacit.learning.inference import Summary, named
from tacit.learning.model import Fit, PrivateModel, Shrinkage, shifted
from tacit.learning.parties import Table
from tacit.learning.standardising import StandardUnits
from tacit.solving import Answer
from tacit.typing import Array

_LEAST_SCALE = 1e-8  # of the deviation of y


class PrivateHuberRegressor(RegressorMixin, PrivateModel):
    """`HuberRegressor` by secret sums. Which records are outliers stays with the parties: only sums are told."""

    _has_errors = False
    _takes_datasets = False

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        alpha: float = 0.0001,
        fit_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 1000,
        privacy: Any = "sums",
        network: Any = "auto",
        runtime: str = "stacked",
        any: int = 1,
        ledger: Any = None,
        accept_changes: Any = (),
    ) -> None:
        self.epsilon, self.alpha = epsilon, alpha
        self.fit_intercept, self.tol, self.max_iter = fit_intercept, tol, max_iter
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes

    def predict(self, X: Any) -> Array:
        """Return Xw + c."""
        return np.asarray(self.predict_rows(X) @ self.coef_ + self.intercept_)

    def _refuse_settings(self) -> None:
        super()._refuse_settings()
        if not self.epsilon >= 1.0:
            raise InputError(f"epsilon = {self.epsilon} must be at least 1, in deviations.")
        masks = mechanism(self.privacy)
        if masks is not None and masks.kind != "sums":  # before the least squares that it starts from are released
            raise ProtectionError(
                f"{MASKS[masks.kind]} hide {ConcomitantHuber.affine_part.holds}; fit this model by secret sums."
            )

    def _prepared(self, table: Table, assembly: Assembly) -> Table:
        return shifted(table)

    def _cost(self, Z: Array, y: Array, l2: Array, **extras: Array) -> ConcomitantHuber:
        return ConcomitantHuber(Z, y, epsilon=self.epsilon, l2=l2, intercept=self.fit_intercept, **extras)

    def _weights(self, units: StandardUnits) -> Shrinkage:
        """Return α|w|² per unit of σ: the loss is in units of y, the penalty in units of w²."""
        return Shrinkage(np.zeros(len(units.scale)), 2.0 * self.alpha * units.spread / units.scale**2)

    def _start(self, units: StandardUnits, unknowns: int) -> Array:
        return np.array(self._least_squares)

    def _fitted(self, table: Table, assembly: Assembly, units: StandardUnits) -> tuple[Answer, Fit]:
        """Start from the least squares, which one sum gives; end there if they leave no residual at all."""
        records = [(units.rows(party.X), units.labels(party.y)) for party in table.here]
        extras = [party.extras for party in table.here]
        costs = [
            LeastSquares(Z, y, intercept=self.fit_intercept, **more)
            for (Z, y), more in zip(records, extras, strict=True)
        ]
        start = np.zeros(costs[0].dim)
        answer = assembly.solve(costs, "least squares, to start from", x0=start, tol=self.tol, max_iter=1)
        x, p = answer.x, len(units.scale)
        residuals = [y - Z @ x[:p] - (x[p] if self.fit_intercept else 0.0) for Z, y in records]
        squared = [np.array([party.mass @ r**2]) for party, r in zip(table.here, residuals, strict=True)]
        squares = assembly.total(squared, "squared residuals")
        scale = float(np.sqrt(max(squares[0], 0.0) / self._weight_of(units)))
        x = np.append(x, scale - 1.0)
        if scale <= _LEAST_SCALE:
            return answer, Fit(x, FitCurvature.unknown(len(x)), np.zeros(0), units)
        self._least_squares = x
        try:
            return super()._fitted(table, assembly, units)
        finally:
            del self._least_squares

    def _finish(self, fit: Fit, table: Table, columns: tuple[str, ...]) -> None:
        units, p = fit.units, len(columns)
        own = units.back(self.fit_intercept) @ fit.x[:-1]
        if self.fit_intercept:
            own[p] += units.middle
        self.coef_, self.intercept_ = own[:p], float(own[p]) if self.fit_intercept else 0.0
        self.scale_ = float((1.0 + fit.x[-1]) * units.spread)
        self.summary_ = Summary(
            model=f"{type(self).__name__} (Huber's loss, epsilon = {self.epsilon:g})",
            names=named(columns, intercept=self.fit_intercept), coefficients=own,
            standard_errors=np.full(len(own), np.nan), freedom=np.inf, observations=units.count,
            parties=len(table.parties), facts=(("scale", self.scale_),),
        )  # fmt: skip
