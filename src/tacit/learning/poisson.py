"""Poisson regression with the logarithmic link.

1/n Σ exp(aⱼᵀw + c) − yⱼ(aⱼᵀw + c) + ½ α|w|²
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score

from tacit.costs import Poisson
from tacit.errors import DataError
from tacit.learning.assembly import Assembly
from tacit.learning.inference import Summary, named
from tacit.learning.model import Fit, PrivateModel, Shrinkage
from tacit.learning.parties import Party, Table
from tacit.learning.standardising import StandardUnits
from tacit.typing import Array


class PrivatePoissonRegressor(RegressorMixin, PrivateModel):
    """`PoissonRegressor` by secret sums; alpha = 0 for the maximum likelihood, and statsmodels' standard errors."""

    _scaled_target = False

    def __init__(
        self,
        *,
        alpha: float = 1.0,
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

    def predict(self, X: Any) -> Array:
        """Return the expected counts exp(Xw + c)."""
        return np.asarray(np.exp(self.predict_rows(X) @ self.coef_ + self.intercept_))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return D², the share of the deviance that the model explains, as scikit-learn's does."""
        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))

    def _prepared(self, table: Table, assembly: Assembly) -> Table:
        for party in table.parties:
            if party.of_labels(lambda p: np.array([np.count_nonzero(p.y < 0)]))[0] > 0:
                raise DataError(f"party {party.name}, column {table.target!r}: has negative counts.")
        terms = [party.of_labels(lambda p: np.array([p.mass @ p.y])) for party in table.parties]
        self._counted = float(assembly.total(terms, "sum of the counts", columns=[table.target])[0])
        if not self._counted > 0:
            raise DataError(f"column {table.target!r}: every count of every party is zero; no rate fits that.")
        self._exposed = 0.0
        if not self.fit_intercept or not any(party.has_offsets for party in table.parties):
            return table
        terms = [
            party.of_labels(lambda p: np.array([p.mass.sum(), p.mass @ np.exp(p.shift)])) for party in table.parties
        ]
        mass, exposed = assembly.total(terms, "sum of the exposures")
        self._exposed = float(
            np.log(exposed / mass)
        )  # the offset is then about zero, and the intercept takes the rest
        exposed = self._exposed
        moved = [
            party.changed(lambda p: replace(p, offset=p.shift - exposed), has_offsets=True)
            for party in table.parties
        ]
        return replace(table, parties=tuple(moved))

    def _cost(self, Z: Array, y: Array, l2: Array, **extras: Array) -> Poisson:
        return Poisson(Z, y, l2=l2, intercept=self.fit_intercept, **extras)

    def _weights(self, units: StandardUnits) -> Shrinkage:
        return Shrinkage(np.zeros(len(units.scale)), self._weight_of(units) * self.alpha / units.scale**2)

    def _start(self, units: StandardUnits, unknowns: int) -> Array:
        start = np.zeros(unknowns)
        if self.fit_intercept:
            start[-1] = np.log(self._counted / self._weight_of(units))
        return start

    def _facts(self, party: Party, Z: Array, y: Array, x: Array) -> Array:
        """Return the log-likelihood, and Σ y log y − y for the deviance."""
        z = Z @ x[: Z.shape[1]] + (x[-1] if self.fit_intercept else 0.0) + party.shift
        logs = gammaln(y + 1)
        return np.array([party.mass @ (y * z - np.exp(z) - logs), party.mass @ (xlogy(y, y) - y - logs)])

    def _finish(self, fit: Fit, table: Table, columns: tuple[str, ...]) -> None:
        p, turn = len(columns), fit.units.back(self.fit_intercept)
        own, errors = turn @ fit.x, fit.curvature.deviations(turn, 1.0)
        own[p:] -= self._exposed
        del self._counted, self._exposed
        self.coef_, self.intercept_ = own[:p], float(own[p]) if self.fit_intercept else 0.0
        self.standard_errors_ = errors[:p]
        self.intercept_standard_error_ = float(errors[p]) if self.fit_intercept else 0.0
        likelihood, saturated = fit.facts
        facts = (("log-likelihood", float(likelihood)), ("deviance", float(2.0 * (saturated - likelihood))))
        self.summary_ = Summary(
            model=f"{type(self).__name__} (Poisson, logarithmic link)",
            names=named(columns, intercept=self.fit_intercept), coefficients=own, standard_errors=errors,
            freedom=np.inf, observations=fit.units.count, parties=len(table.parties), facts=facts,
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
