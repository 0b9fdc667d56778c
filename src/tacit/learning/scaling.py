"""Columns in standard units, by means and variances that come from secret sums."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.learning.assembly import Assembly
from tacit.learning.parties import read
from tacit.learning.standardising import moments
from tacit.learning.transforming import PartyTransformer
from tacit.typing import Array


class PrivateStandardScaler(PartyTransformer):
    """`StandardScaler` whose means and variances come from secret sums over the parties.

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
    ) -> None:
        self.with_mean, self.with_std = with_mean, with_std
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn means and variances; *groups* names the party of every row, as in the models."""
        table = read(self, X, None, groups)
        assembly = Assembly.of(self, table, target=False)
        statistics, _ = moments(table.parties, assembly, table.columns)
        self.mean_, self.var_, self.n_samples_seen_ = statistics.mean, statistics.variance, int(statistics.count)
        self.scale_ = np.where(statistics.constant, 1.0, np.sqrt(statistics.variance)) if self.with_std else None
        return self._learnt(assembly)

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
