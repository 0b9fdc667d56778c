"""Linear models: least squares, ridge, lasso and elastic net. One sum of XᵀX and Xᵀy says all.

    LinearRegression   ½|y − Xw − c|²
    Ridge              ½|y − Xw − c|² + ½ α|w|²
    ElasticNet         1/(2n)|y − Xw − c|² + α l1_ratio |w|₁ + ½ α(1 − l1_ratio)|w|²
    Lasso              the same with l1_ratio = 1

Penalties are on w in the parties' own units; in standard units, w = spread·u/scale, they become weights of their
own for every column.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from tacit.costs import LeastSquares
from tacit.learning.assembly import Assembly
from tacit.learning.curvature import FitCurvature
from tacit.learning.inference import Summary, named
from tacit.learning.model import Fit, PrivateModel, Shrinkage, shifted
from tacit.learning.parties import Party, Table
from tacit.learning.promised import close, errors_of, fitted, promise_of, score_noise
from tacit.learning.standardising import StandardUnits
from tacit.typing import Array

_AS_WELL = 1e-9  # of what a fit explains: two fits that differ by less are as good as each other


class LinearModel(RegressorMixin, PrivateModel):
    """y ≈ Xw + c with squared residuals."""

    _family: ClassVar[str] = "least squares"

    def predict(self, X: Any) -> Array:
        """Return Xw + c."""
        return np.asarray(self.predict_rows(X) @ self.coef_ + self.intercept_)

    def _prepared(self, table: Table, assembly: Assembly) -> Table:
        return shifted(table)

    def _cost(self, Z: Array, y: Array, l2: Array, **extras: Array) -> LeastSquares:
        return LeastSquares(Z, y, l2=l2, intercept=self.fit_intercept, **extras)

    def _facts(self, party: Party, Z: Array, y: Array, x: Array) -> Array:
        """Return Σ residual² in standard units; where records have weights, their Σ wv and Σ wv² beside it."""
        residual = y - Z @ x[: Z.shape[1]] - (x[-1] if self.fit_intercept else 0.0)
        if self._mass is None:
            return np.array([residual @ residual])
        return np.array([party.mass @ residual**2, party.mass @ y, party.mass @ y**2])

    def _finish(self, fit: Fit, table: Table, columns: tuple[str, ...]) -> None:
        units, p = fit.units, len(columns)
        turn = units.back(self.fit_intercept)
        own = turn @ fit.x + np.append(np.zeros(p), [units.middle] * self.fit_intercept)
        self.coef_, self.intercept_ = own[:p], float(own[p]) if self.fit_intercept else 0.0
        facts: list[tuple[str, float]] = []
        errors, freedom = np.full(len(own), np.nan), np.inf
        if self._has_errors:
            errors, facts, freedom = self._errors(fit, turn)
        self.standard_errors_ = errors[:p]
        self.intercept_standard_error_ = float(errors[p]) if self.fit_intercept else 0.0
        self.summary_ = Summary(
            model=f"{type(self).__name__} ({self._family})", names=named(columns, intercept=self.fit_intercept),
            coefficients=own, standard_errors=errors, freedom=freedom, observations=units.count,
            parties=len(table.parties), facts=tuple(facts),
        )  # fmt: skip

    def _errors(self, fit: Fit, turn: Array) -> tuple[Array, list[tuple[str, float]], float]:
        """Return standard errors, R² and σ̂ (by the residual variance), and the degrees of freedom."""
        n, squares = fit.units.count, float(fit.facts[0])
        facts = [("R²", 1.0 - squares / self._about(fit))] if self.fit_intercept else []
        if not fit.curvature.is_known:
            return np.full(len(turn), np.nan), facts, np.inf
        freedom = n - fit.curvature.used
        if not freedom > 1e-9:
            return np.full(len(turn), np.nan), facts, np.inf
        variance = squares / freedom
        errors = fit.curvature.deviations(turn, variance)
        return errors, [*facts, ("residual std err", float(np.sqrt(variance)) * fit.units.spread)], freedom

    def _about(self, fit: Fit) -> float:
        """Return Σ (v − mean)² in standard units, with the records' weights."""
        if self._mass is None:
            return float(fit.units.count)
        return float(fit.facts[2] - fit.facts[1] ** 2 / self._mass)


class PrivateLinearRegression(LinearModel):
    """`LinearRegression` by secret sums: the same coefficients, and nobody's records.

    >>> X, y = [[1.0], [2.0], [4.0], [7.0]], [3.1, 4.9, 9.2, 14.8]
    >>> model = PrivateLinearRegression().fit(X, y, groups=["north", "south", "west", "west"])
    >>> model.coef_.round(4).tolist(), round(model.intercept_, 4)
    ([1.9667], 1.1167)
    """

    def __init__(
        self,
        *,
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
        self.fit_intercept, self.tol, self.max_iter = fit_intercept, tol, max_iter
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes

    def _weights(self, units: StandardUnits) -> Shrinkage:
        return Shrinkage(np.zeros(len(units.scale)), np.zeros(len(units.scale)))

    def _shortest(self, x: Array, curvature: FitCurvature, units: StandardUnits) -> Array:
        """Return, of all fits with the same residuals, that with the shortest w in the parties' own units."""
        q, lost = len(units.scale), curvature.lost
        if not lost.shape[1]:
            return x
        own = lost[:q] / units.scale[:, None]
        length = np.linalg.norm(own, axis=0)
        by = np.linalg.lstsq(own / length, x[:q] / units.scale)[0] / length
        return np.asarray(x - lost @ by)  # along lost directions in standard units: whatever *by* is, the fit stays

    def _fits_as_well(self, facts: Array, others: Array, units: StandardUnits) -> bool:
        explained = max(self._weight_of(units) - float(others[0]), 0.0)
        return float(facts[0]) <= float(others[0]) + _AS_WELL * explained


class PrivateRidge(LinearModel):
    """`Ridge` by secret sums: ½|y − Xw − c|² + ½ alpha |w|².

    With *epsilon*, *delta*, *clip*, the public limit on a row's length with its 1 for the intercept, and *labels*,
    that on a label's size, the answer is differentially private for every record, in the units that columns come
    in.
    """

    _family = "ridge"
    _makes_promises = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 1000,
        privacy: Any = "sums",
        network: Any = "auto",
        runtime: str = "stacked",
        any: int = 1,
        ledger: Any = None,
        accept_changes: Any = (),
        epsilon: float | None = None,
        delta: float | None = None,
        clip: float | None = None,
        labels: float | None = None,
        records: int | None = None,
    ) -> None:
        self.alpha, self.fit_intercept, self.tol, self.max_iter = alpha, fit_intercept, tol, max_iter
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes
        self.epsilon, self.delta, self.clip, self.labels, self.records = epsilon, delta, clip, labels, records

    def _promised(self, table: Table) -> None:
        """Fit with noise that keeps (ε, δ) for every record."""
        promise, share = promise_of(self), self.alpha / len(table.parties)
        costs = [LeastSquares(party.X, party.y, l2=share, intercept=self.fit_intercept) for party in table.here]
        answer = fitted(self, table, costs, promise)
        p = len(table.columns)
        self.coef_ = answer.x[:p]
        self.intercept_ = float(answer.x[p]) if self.fit_intercept else 0.0
        close(self, answer, table)
        errors = errors_of(answer)
        self.standard_errors_ = errors[:p]
        self.intercept_standard_error_ = float(errors[p]) if self.fit_intercept else 0.0

    def score_noise(self, X: Any, y: Any, *, draws: int = 200, seed: int | None = None) -> float:
        """Return the deviation that noise gives R² on these records."""
        return score_noise(self, X, y, draws=draws, seed=seed)

    def _weights(self, units: StandardUnits) -> Shrinkage:
        return Shrinkage(np.zeros(len(units.scale)), self.alpha / units.scale**2)


class PrivateElasticNet(LinearModel):
    """`ElasticNet` by secret sums: 1/(2n)|y − Xw − c|² + alpha·(l1_ratio |w|₁ + ½ (1 − l1_ratio) |w|²)."""

    _family = "elastic net"
    _has_errors = False

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
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
        self.alpha, self.l1_ratio = alpha, l1_ratio
        self.fit_intercept, self.tol, self.max_iter = fit_intercept, tol, max_iter
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes

    def _weights(self, units: StandardUnits) -> Shrinkage:
        return self._mixed(units, self.l1_ratio)

    def _mixed(self, units: StandardUnits, ratio: float) -> Shrinkage:
        weight = self._weight_of(units) * self.alpha
        return Shrinkage(weight * ratio / (units.scale * units.spread), weight * (1.0 - ratio) / units.scale**2)


class PrivateLasso(PrivateElasticNet):
    """`Lasso` by secret sums: 1/(2n)|y − Xw − c|² + alpha |w|₁."""

    _family = "lasso"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
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
        self.alpha, self.fit_intercept, self.tol, self.max_iter = alpha, fit_intercept, tol, max_iter
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes

    def _weights(self, units: StandardUnits) -> Shrinkage:
        return self._mixed(units, 1.0)
