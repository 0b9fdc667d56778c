"""Means and variances by sums, so that no party needs the pooled records.

    n = Σ n_i,   mean = Σ_i Σ_j x_ij / n                 first sum
    var = Σ_i Σ_j (x_ij − mean)² / n                     second sum, about the mean that all then know

`Units` turns records into standard units and coefficients back: models are fitted in those units, where the public
limit of secret sums fits, and the penalties keep the meaning that they have in the parties' own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.errors import DataError
from tacit.learning.assembly import Assembly
from tacit.learning.parties import Table, joined, read
from tacit.typing import Array, Rows


@dataclass(frozen=True, slots=True)
class Moments:
    """What all parties know of all columns together."""

    count: float
    mean: Array
    variance: Array

    @property
    def constant(self) -> Rows:
        """Columns that vary by no more than rounding."""
        slack = (self.count * self.mean * np.finfo(float).eps) ** 2
        return np.asarray(self.variance <= self.count * np.finfo(float).eps * self.variance + slack)


def moments(
    rows: Sequence[Array],
    assembly: Assembly,
    columns: Sequence[str],
    *,
    centred: bool = True,
    weights: Sequence[Array] | None = None,
    mass: float | None = None,
) -> Moments:
    """Return the moments of all parties' rows, by two secret sums; about zero where *centred* is False.

    *weights* are those of the rows, and *mass* is their sum over all parties.
    """
    each = weights or [np.ones(len(X)) for X in rows]
    first = [np.append(w @ X, len(X)) for X, w in zip(rows, each, strict=True)]
    total = assembly.total(first, "number of records, and sums of all columns", columns=[*columns, "count"])
    count = float(np.rint(total[-1]))
    mean = total[:-1] / (mass or count)
    about = mean if centred else np.zeros_like(mean)
    second = [w @ (X - about) ** 2 for X, w in zip(rows, each, strict=True)]
    squares = assembly.total(second, "sums of squared deviations of all columns", columns=columns)
    return Moments(count, mean, squares / (mass or count))


@dataclass(frozen=True, slots=True)
class Units:
    """Standard units: x = centre + scale·z, and y = middle + spread·v."""

    count: int
    centre: Array
    scale: Array
    middle: float = 0.0
    spread: float = 1.0
    mean_target: float = 0.0

    def rows(self, X: Array) -> Array:
        """Return records in standard units."""
        return (X - self.centre) / self.scale

    def labels(self, y: Array) -> Array:
        """Return labels in standard units."""
        return (y - self.middle) / self.spread

    def back(self, intercept: bool) -> Array:
        """Return the matrix that takes (u, b) in standard units to (w, intercept) in the parties' own."""
        p = len(self.scale)
        turn = np.zeros((p + intercept, p + intercept))
        turn[:p, :p] = np.diag(self.spread / self.scale)
        if intercept:
            turn[p, :p] = -self.centre * self.spread / self.scale
            turn[p, p] = self.spread
        return turn


def measure(table: Table, assembly: Assembly, *, intercept: bool, target: bool, mass: float | None = None) -> Units:
    """Return the units of all columns, and of the *target*; refuse a column that is the same everywhere.

    *mass* is the sum of all records' weights, where they have any.
    """
    rows = [np.column_stack([party.X, party.y]) if target else party.X for party in table.parties]
    columns = [*table.columns, table.target] if target else list(table.columns)
    weights = None if mass is None else [party.mass for party in table.parties]
    found = moments(rows, assembly, columns, centred=intercept, weights=weights, mass=mass)
    p = len(table.columns)
    if intercept:
        for column in np.flatnonzero(found.constant[:p]):
            raise DataError(
                f"column {table.columns[column]!r} is the same number in all records of every party "
                f"({_all(table)}): nothing can be learnt from it, drop it."
            )
    scale = np.sqrt(found.variance)
    scale = np.where((scale > 0) & ~found.constant, scale, 1.0)
    centre = found.mean if intercept else np.zeros_like(found.mean)
    if not target:
        return Units(int(found.count), centre, scale)
    middle, spread = float(centre[p]), float(scale[p])
    return Units(int(found.count), centre[:p], scale[:p], middle, spread, mean_target=float(found.mean[p]))


def _all(table: Table) -> str:
    names = [str(name) for name in table.names]
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"


class PrivateStandardScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
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
        found = moments([party.X for party in table.parties], assembly, table.columns)
        self.mean_, self.var_, self.n_samples_seen_ = found.mean, found.variance, int(found.count)
        self.scale_ = np.where(found.constant, 1.0, np.sqrt(found.variance)) if self.with_std else None
        self.ledger_ = assembly.account
        self.certificate_ = assembly.certificate()
        return self

    def fit_parties(self, parties: Any) -> Self:
        """Learn from one X per party, in a list or by name."""
        X, _, groups = joined(parties)
        return self.fit(X, groups=groups)

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
