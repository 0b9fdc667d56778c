"""Factors as columns of zeros and ones, by levels that are declared and not looked for in anybody's records.

    declared    every level listed has its column; nothing is added up
    present     Σ_i [party i has the level] over the levels listed: one sum, and those that occur keep their column

An encoder that reads levels off all records has pooled them. Here a party whose records have a level that is not
listed hears so, with its column, and nobody else does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import DataError, InputError
from tacit.learning.assembly import Assembly
from tacit.learning.parties import Party, Table, members, named_columns
from tacit.typing import Array


class PrivateOneHotEncoder(TransformerMixin, BaseEstimator):
    """`OneHotEncoder` by declared levels; *keep* = "present" leaves out those that no party has, by a secret sum.

    *levels* has one list for each column, or lists by the columns' names. *drop* = "first" leaves out the first
    level of each, which an intercept stands for.

    >>> encoder = PrivateOneHotEncoder([["no", "yes"]], drop="first")
    >>> encoder.fit([["no"], ["yes"], ["no"]], groups=["north", "south", "west"]).transform([["yes"]]).tolist()
    [[1.0]]
    """

    def __init__(
        self,
        levels: Any = None,
        *,
        keep: str = "declared",
        drop: str | None = None,
        privacy: Any = "sums",
        network: Any = "auto",
        runtime: str = "stacked",
        any: int = 1,
        ledger: Any = None,
        accept_changes: Any = (),
    ) -> None:
        self.levels, self.keep, self.drop = levels, keep, drop
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Check that every level is listed; *groups* names the party of every row, as in the models."""
        if self.levels is None:
            raise InputError(
                "the levels must be given, one list for each column: looked for in all records would show them."
            )
        if self.keep not in ("declared", "present") or self.drop not in (None, "first"):
            raise InputError(
                f"keep = {self.keep!r} is declared or present, and drop = {self.drop!r} None or first."
            )
        rows, self.feature_names_in_ = _table(X)
        names, member = members(groups, len(rows))
        declared = _declared(self.levels, self.feature_names_in_)
        parties = [rows[member == k] for k in range(len(names))]
        occurs = [
            _occurring(name, part, declared, self.feature_names_in_)
            for name, part in zip(names, parties, strict=True)
        ]
        self.ledger_ = self.certificate_ = None
        kept = np.ones(len(occurs[0]), dtype=bool)
        if self.keep == "present":
            each = list(zip(names, parties, strict=True))
            table = Table(
                tuple(Party(name, part.astype(str), np.zeros(len(part))) for name, part in each),
                tuple(self.feature_names_in_), "y", dealt=groups is None,
            )  # fmt: skip
            assembly = Assembly.of(self, table, target=False)
            kept = np.rint(assembly.total(occurs, "how many parties have each level that is listed")) > 0
            self.ledger_, self.certificate_ = assembly.account, assembly.certificate()
        starts = np.cumsum([0, *map(len, declared)])
        self.categories_ = [
            np.array(levels, dtype=object)[kept[start:stop]]
            for levels, start, stop in zip(declared, starts, starts[1:], strict=False)
        ]
        self.n_features_in_ = len(declared)
        return self

    def transform(self, X: Any) -> Array:
        """Return one column of zeros and ones for each level: by every party for itself."""
        check_is_fitted(self)
        rows, names = _table(X)
        if len(names) != self.n_features_in_:
            raise DataError(f"X has {len(names)} columns, and the encoder knows {self.n_features_in_}.")
        parts = []
        for k, levels in enumerate(self.categories_):
            hot = np.array([[entry == level for level in levels] for entry in rows[:, k]], dtype=np.float64)
            if not hot.any(axis=1).all():
                raise DataError(f"column {names[k]!r}: has a level that is not listed.")
            parts.append(hot[:, self.drop is not None :])
        return np.column_stack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return column_level for every column that `transform` returns."""
        check_is_fitted(self)
        pairs = zip(self.feature_names_in_, self.categories_, strict=True)
        skip = int(self.drop is not None)
        return np.array([f"{name}_{level}" for name, levels in pairs for level in levels[skip:]], dtype=object)


def _table(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    rows = np.asarray(X, dtype=object)
    if rows.ndim != 2:
        raise DataError(f"X has {rows.ndim} axes; it needs rows and columns.")
    names = named_columns(X) or tuple(f"x{k}" for k in range(rows.shape[1]))
    return rows, np.array(names, dtype=object)


def _declared(levels: Any, columns: NDArray[Any]) -> list[list[Any]]:
    if isinstance(levels, Mapping):
        missing = next((column for column in columns if column not in levels), None)
        if missing is not None:
            raise InputError(f"levels= has no list for the column {missing!r}.")
        levels = [levels[column] for column in columns]
    if len(levels) != len(columns):
        raise InputError(f"levels= has {len(levels)} list(s) for {len(columns)} column(s).")
    return [list(each) for each in levels]


def _occurring(name: Any, rows: NDArray[Any], declared: Sequence[Sequence[Any]], columns: NDArray[Any]) -> Array:
    """Return 1 for every level that a party has, 0 for others; refuse what is not listed, without showing it."""
    flags: list[float] = []
    for k, levels in enumerate(declared):
        entries = set(rows[:, k].tolist())
        if not entries <= set(levels):
            raise DataError(f"party {name}, column {columns[k]!r}: has a level that levels= does not list.")
        flags += [float(level in entries) for level in levels]
    return np.array(flags)
