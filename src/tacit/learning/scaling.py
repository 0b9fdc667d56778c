"""Columns in standard units, by means and variances that come from secret sums."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.learning.assembly import Assembly
from tacit.learning.describing import describe
from tacit.learning.parties import read
from tacit.learning.promised import refuse_exact
from tacit.learning.standardising import moments
from tacit.learning.transforming import PartyTransformer
from tacit.learning.unpromised import refuse_without_epsilon
from tacit.typing import Array


class PrivateStandardScaler(PartyTransformer):
    """`StandardScaler` whose means and variances come from secret sums over the parties.

    With *epsilon*, *delta* and *limits*, the public range of every column, they have noise, and are differentially
    private for every record; *records* is a number of records that is public anyway.

    >>> import numpy as np
    >>> scaler = PrivateStandardScaler().fit([[1.0], [2.0], [6.0]], groups=["north", "south", "west"])
    >>> scaler.mean_.tolist(), scaler.var_.round(6).tolist()
    ([3.0], [4.666667])
    """

    def __init__(
        self,
        *,
        with_mean: bool = True,
        with_std: bool = True,
        privacy: Any = "sums",
        network: Any = "auto",
        runtime: str = "stacked",
        any: int = 1,
        ledger: Any = None,
        accept_changes: Any = (),
        epsilon: float | None = None,
        delta: float | None = None,
        limits: Any = None,
        records: int | None = None,
    ) -> None:
        self.with_mean, self.with_std = with_mean, with_std
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes
        self.epsilon, self.delta, self.limits, self.records = epsilon, delta, limits, records

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn means and variances; *groups* names the party of every row, as in the models."""
        if self.epsilon is not None:
            return self._with_noise(X, groups, self.epsilon)
        refuse_without_epsilon(self)
        table = read(self, X, None, groups)
        assembly = Assembly.of(self, table, target=False)
        statistics, _ = moments(table.parties, assembly, table.columns)
        self.mean_, self.var_, self.n_samples_seen_ = statistics.mean, statistics.variance, int(statistics.count)
        self.scale_ = np.where(statistics.constant, 1.0, np.sqrt(statistics.variance)) if self.with_std else None
        return self._learnt(assembly)

    def _with_noise(self, X: Any, groups: Any, epsilon: float) -> Self:
        """Learn noisy means and variances, and what is promised of them."""
        delta = refuse_exact(self)
        validate_data(self, X, dtype=np.float64, ensure_all_finite=False)
        self.description_ = describe(
            X, groups, limits=self.limits, epsilon=epsilon, delta=delta, any=self.any,
            records=self.records, network=self.network, runtime=self.runtime,
        )  # fmt: skip
        self.mean_, self.var_ = self.description_.mean, self.description_.variance
        self.n_samples_seen_ = round(self.description_.count)
        self.scale_ = np.sqrt(self.var_) if self.with_std else None
        self.guarantee_ = self.description_.guarantee
        return self

    def transform(self, X: Any) -> Array:
        """Return (x − mean)/scale: by every party for itself."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        X = X - self.mean_ if self.with_mean else X
        return np.asarray(X if self.scale_ is None else X / self.scale_)

    def inverse_transform(self, X: Any) -> Array:
        """Return mean + scale·x."""
        check_is_fitted(self)
        X = np.asarray(X, dtype=np.float64)
        X = X if self.scale_ is None else X * self.scale_
        return np.asarray(X + self.mean_ if self.with_mean else X)
