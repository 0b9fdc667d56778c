"""Costs of records that stay in files or databases: the columns of a design, batch by batch.

A data dictionary is kept as far as numbers go: its columns, their order and limits, the levels of a target, what
becomes of gaps. Words become numbers in the database, by a query, and not here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.costs import RowBatch
from tacit.costs.family import HUGE
from tacit.errors import DataError, MismatchError
from tacit.records import Batch, Dataset, RecordSource
from tacit.records.digest import LongColumns, columns_of
from tacit.solving.facts import facts_of
from tacit.spelling import did_you_mean
from tacit.tables import Column, Dictionary
from tacit.typing import Array


@dataclass(frozen=True)
class OutsideRows:
    """A dataset as the design and the labels of a cost."""

    dataset: Dataset = field(repr=False)
    intercept: bool = False
    dictionary: Dictionary | None = None

    @classmethod
    def of(
        cls, source: RecordSource, target: str | None, dictionary: Dictionary | None, *, intercept: bool
    ) -> OutsideRows:
        """Return the rows of a source; its last column is the target unless another is named."""
        if dictionary is None:
            return cls(Dataset.of(source, source.label, target or source.schema.names[-1]), intercept)
        names = [column.name for column in dictionary.features]
        _refuse_words(source.label, dictionary)
        words = dictionary.explained.type == "factor"
        try:
            dataset = Dataset.of(
                source, source.label, dictionary.target, columns=names, gaps=dictionary.gaps, words=words
            )
        except DataError as error:
            raise MismatchError(str(error)) from None
        return cls(replace(dataset, features=tuple(names)), intercept, dictionary)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the design, without an intercept."""
        return self.dataset.features

    def with_columns(self, names: tuple[str, ...], target: str, whose: str) -> OutsideRows:
        """Return the rows with the same columns in another order; refuse others than those of somebody else."""
        here = {*self.dataset.features, self.dataset.target}
        for name in (*names, target):
            if name not in here:
                raise DataError(
                    f"{self.dataset.label} has no column {name!r}, which {whose} has; all agents need the same "
                    f"columns.{did_you_mean(name, sorted(here))}"
                )
        further = sorted(here - {*names, target})
        if further:
            raise DataError(
                f"{self.dataset.label} has a column {further[0]!r}, which {whose} has not; all agents need the "
                "same columns."
            )
        return replace(self, dataset=replace(self.dataset, features=names, target=target))

    def added_up(self, part: Callable[[RowBatch], Array]) -> Array:
        """Return the sum of what all batches give."""
        return self.dataset.added_up(lambda batch: part(self._rows(batch)))

    def joined(self, part: Callable[[RowBatch], Any], join: Callable[[Any, Any], Any]) -> Any:
        """Return what all batches give, joined in their order."""
        return self.dataset.joined(lambda batch: part(self._rows(batch)), join)

    def levels(self, refuse: Callable[[Array], object]) -> Array:
        """Return the labels that there are; *refuse* looks at those of every batch, so that they are never many."""

        def part(batch: Batch) -> set[float]:
            labels = np.unique(self._labels(batch))
            refuse(labels)
            return set(labels.tolist())

        def join(a: set[float], b: set[float]) -> set[float]:
            return a | b

        levels: set[float] = self.dataset.without_features().joined(part, join)
        return np.array(sorted(levels))

    def facts(self, family: str) -> Array:
        """Return what a table of the regression needs, by a pass over the labels."""
        return self.dataset.without_features().added_up(
            lambda batch: facts_of(family, self._labels(batch), dropped=batch.left_out)
        )

    def left_out(self) -> int:
        """Return how many records have gaps."""
        return self.dataset.left_out()

    def columns(self) -> dict[str, NDArray[Any]] | LongColumns:
        """Return the columns by name, or their digests where these are long: as those of any other table."""
        columns, target = columns_of(self.dataset, target=True), self.dataset.target
        if isinstance(columns, LongColumns):
            return replace(columns, columns={name: columns.columns[name] for name in (*self.names, target)})
        return {name: columns[name] for name in self.names} | {target: self._numbered(columns[target])}

    def _rows(self, batch: Batch) -> RowBatch:
        A = np.empty((len(batch.columns) + self.intercept, len(batch)))
        A[len(batch.columns) :] = 1.0
        for k, (row, values) in enumerate(zip(A, batch.columns, strict=False)):
            row[:] = values
            self._refuse(self.names[k], row)
        return RowBatch(A.T, self._labels(batch))

    def _refuse(self, name: str, values: Array) -> None:
        """Refuse gaps, and what is beyond the limits of the dictionary."""
        low, high = values.min(initial=np.inf), values.max(initial=-np.inf)  # NaN, where one is in it
        if not (low >= -HUGE and high <= HUGE) and len(values):
            raise DataError(
                f"{self.dataset.label}, column {name!r}: has values that are missing, infinite or beyond {HUGE:g}; "
                "fill or drop those records."
            )
        if self.dictionary is not None:
            column = next(each for each in self.dictionary.columns if each.name == name)
            least, most = (
                -np.inf if column.low is None else column.low,
                np.inf if column.high is None else column.high,
            )
            if low < least or high > most:
                raise MismatchError(
                    f"{self.dataset.label}, column {name!r}: has values beyond the limits in the dictionary; "
                    "mend or leave out those records."
                )

    def _labels(self, batch: Batch) -> Array:
        labels = self._numbered(batch.labels)
        if self.dictionary is not None and self.dictionary.explained.type != "factor":
            self._refuse(self.dataset.target, labels)
        return labels

    def _numbered(self, labels: NDArray[Any]) -> Array:
        """Return labels as numbers: of a factor the number of its level, 0 for the reference."""
        if self.dictionary is None or self.dictionary.explained.type != "factor":
            return np.asarray(labels, dtype=np.float64)
        explained: Column = self.dictionary.explained
        places = {level: float(place) for place, level in enumerate((explained.base, *explained.others))}
        words, at = np.unique(labels.astype(str), return_inverse=True)
        if not all(str(word) in places for word in words):
            raise MismatchError(
                f"{self.dataset.label}, column {explained.name!r}: has labels that are no levels of the dictionary."
            )
        return np.asarray(np.array([places[str(word)] for word in words])[at])


def _refuse_words(label: str, dictionary: Dictionary) -> None:
    """Refuse what a dictionary says that only texts can have."""
    for column in dictionary.features:
        if column.type != "number":
            raise MismatchError(
                f"{label}, column {column.name!r}: is a {column.type}, and records that stay in files or databases "
                "have numbers there; let a query of the database make numbers of it, or give a .csv file."
            )
    codes = {*dictionary.missing, *(code for column in dictionary.columns for code in column.missing)}
    numeric = sorted(code for code in codes if code.replace(".", "", 1).lstrip("-").isdigit())
    if numeric:
        raise MismatchError(
            f"{label}: the dictionary has codes for missing values that are numbers; let a query of the database "
            "make NULL of them, or give a .csv file."
        )
