"""Gaps filled by means that come from secret sums, so that no party needs the pooled records.

mean_k = Σ_i Σ_j x_ijk / Σ_i n_ik        over the records that have a value in column k: one sum
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.errors import DataError
from tacit.learning.assembly import Assembly
from tacit.learning.parties import read
from tacit.learning.transforming import PartyTransformer
from tacit.typing import Array


class PrivateImputer(PartyTransformer):
    """`SimpleImputer` whose means come from secret sums over the parties; each fills its own gaps.

    >>> import numpy as np
    >>> imputer = PrivateImputer().fit([[1.0], [np.nan], [5.0], [6.0]], groups=["north", "south", "south", "west"])
    >>> imputer.statistics_.tolist(), imputer.transform([[np.nan]]).tolist()
    ([4.0], [[4.0]])
    """

    def __init__(
        self,
        *,
        privacy: Any = "sums",
        network: Any = "auto",
        runtime: str = "stacked",
        any: int = 1,
        ledger: Any = None,
        accept_changes: Any = (),
    ) -> None:
        self.privacy, self.network, self.runtime, self.any = privacy, network, runtime, any
        self.ledger, self.accept_changes = ledger, accept_changes

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn the means of what is there; *groups* names the party of every row, as in the models."""
        table = read(self, X, None, groups, gaps=True)
        assembly = Assembly.of(self, table, target=False)
        terms = []
        for party in table.here:
            there = ~np.isnan(party.X)
            terms.append(np.concatenate([np.where(there, party.X, 0.0).sum(axis=0), there.sum(axis=0)]))
        total = assembly.total(
            terms, "sums and numbers of the values that are there", columns=[*table.columns, *table.columns]
        )
        sums, counts = np.split(total, 2)
        empty = np.flatnonzero(np.rint(counts) == 0)
        if len(empty):
            raise DataError(f"column {table.columns[empty[0]]!r}: no party has a value in it; drop it.")
        self.statistics_ = np.asarray(sums / np.rint(counts))
        return self._learnt(assembly)

    def transform(self, X: Any) -> Array:
        """Return X with the means in its gaps: by every party for itself."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        return np.asarray(np.where(np.isnan(X), self.statistics_, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
