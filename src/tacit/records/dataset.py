"""A party's records, as the columns that a model takes, in batches.

Numbers become float64, one contiguous row for every column, because that is how files have them and what products
take. What cannot be a number is refused with the name of its column, and without what stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.records.extra import arrow
from tacit.records.opening import open_source
from tacit.records.passing import PieceMap, RecordSource, one_pass
from tacit.spelling import did_you_mean
from tacit.typing import Array

T = TypeVar("T")


class Batch(NamedTuple):
    """Some records. Never shown."""

    columns: tuple[NDArray[Any], ...]
    """Every feature by itself: numbers of any type, where they lie."""
    labels: NDArray[Any]
    weight: Array | None = None
    offset: Array | None = None
    left_out: int = 0
    """Records with gaps that were dropped."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def matrix(self) -> Array:
        """(records, p), every column contiguous."""
        matrix = np.empty((len(self.columns), len(self)))
        for row, column in zip(matrix, self.columns, strict=True):
            row[:] = column
        return matrix.T


class Gathered(NamedTuple):
    """All labels of a dataset, as far as they differ."""

    labels: NDArray[Any]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Some columns of a source. Holds no record."""

    source: RecordSource = field(repr=False)
    label: str
    """Whose records they are, for sentences."""
    features: tuple[str, ...]
    target: str
    words: bool = False
    """Whether labels may be words."""
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    """A column whose logarithm is the offset."""
    gaps: str = "refuse"
    """refuse, or drop: records with a missing value are left out."""
    workers: int | None = None
    """Threads; as many as there are cores unless given."""
    spread: PieceMap | None = field(repr=False, default=None)
    """Goes through the pieces of the source instead of threads: on a cluster, say."""

    @classmethod
    def of(
        cls,
        source: RecordSource,
        label: str,
        target: str,
        *,
        columns: Sequence[str] = (),
        drop: Sequence[str] = (),
        **settings: Any,
    ) -> Dataset:
        """Return the dataset of these features, all columns unless named; refuse columns that are no numbers."""
        names = list(source.schema.names)
        aside = [settings[key] for key in ("weight", "offset", "exposure") if settings.get(key) is not None]
        for name in (target, *columns, *drop, *aside):
            if name not in names:
                raise DataError(
                    f"{label} has no column {name!r}; it has {', '.join(names)}.{did_you_mean(name, names)}"
                )
        features = [
            name
            for name in names
            if name != target and name not in aside and name not in drop and (not columns or name in columns)
        ]
        if not features:
            raise DataError("no column is left to explain anything with.")
        dataset = cls(source, label, tuple(features), target, **settings)
        dataset.refuse_types()
        if source.count() == 0:
            raise DataError(f"{label} has no records; leave it out.")
        return dataset

    @classmethod
    def at(cls, data: Any, target: str, **settings: Any) -> Dataset:
        """Return the records at a path, with the column that is to be explained; *settings* as in `of`.

        Nothing is read but the names and types of the columns.
        """
        return cls.of(open_source(data), str(data), target, **{"words": True, **settings})

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (*self.features, self.target, *self._aside)

    @property
    def _aside(self) -> tuple[str, ...]:
        return tuple(name for name in (self.weight, self.offset, self.exposure) if name is not None)

    def joined(self, part: Callable[[Batch], T | None], join: Callable[[T, T], T]) -> T:
        """Return what all batches give together, by one pass."""

        def read(batch: Any) -> T | None:
            records = self._batch(batch)
            return part(records) if len(records) or records.left_out else None

        result = one_pass(self.source, self.used, read, join, workers=self.workers, spread=self.spread)
        if result is None:
            raise DataError(f"{self.label} has no records; leave it out.")
        return result

    def added_up(self, part: Callable[[Batch], Array]) -> Array:
        """Return the sum of what all batches give, with a long accumulator."""
        total = self.joined(lambda batch: np.asarray(part(batch), dtype=np.longdouble), np.add)
        return np.asarray(total, dtype=np.float64)

    def levels(self) -> Gathered:
        """Return the labels that there are, and how often: a pass over that column alone."""
        alone = self.without_features()

        def part(batch: Batch) -> dict[Any, int]:
            labels, counts = np.unique(batch.labels, return_counts=True)
            return dict(zip(labels.tolist(), counts.tolist(), strict=True))

        def join(a: dict[Any, int], b: dict[Any, int]) -> dict[Any, int]:
            return {label: a.get(label, 0) + b.get(label, 0) for label in {**a, **b}}

        counts = alone.joined(part, join)
        labels = sorted(counts)
        return Gathered(np.array(labels), np.array([counts[label] for label in labels]))

    def without_features(self) -> Dataset:
        """Return the labels and what goes with them alone; all, where gaps elsewhere decide who is left out."""
        return replace(self, features=()) if self.gaps == "refuse" else self

    def _batch(self, batch: Any) -> Batch:
        """Return a record batch as arrays; its gaps refused, or left out."""
        names, labels_at = self.used, len(self.features)
        gone = 0
        if self.gaps == "drop":
            batch, gone = self._without_gaps(batch)
        else:
            for k, name in enumerate(names):
                if batch.column(k).null_count:
                    raise self._gap(name)
        columns = tuple(_numbers(batch.column(k)) for k in range(len(self.features)))
        labels = self._labels(batch.column(labels_at))
        aside = {
            name: _numbers(batch.column(labels_at + 1 + k)).astype(np.float64) for k, name in enumerate(self._aside)
        }
        weight = None if self.weight is None else aside[self.weight]
        if weight is not None and not (np.isfinite(weight) & (weight >= 0)).all():
            raise DataError(
                f"{self.label}, column {self.weight!r}: weights must be zero or positive in every record."
            )
        return Batch(columns, labels, weight, self._offset(aside), gone)

    def _offset(self, aside: dict[str, Array]) -> Array | None:
        if self.exposure is None:
            return None if self.offset is None else aside[self.offset]
        if not (aside[self.exposure] > 0).all():
            raise DataError(f"{self.label}, column {self.exposure!r}: exposures must be positive in every record.")
        return np.log(aside[self.exposure])

    def _labels(self, column: Any) -> NDArray[Any]:
        if self.words and not _is_numeric(column.type):
            return np.asarray(column.cast(arrow().string()).to_numpy(zero_copy_only=False), dtype=str)
        labels = _numbers(column).astype(np.float64)
        if not np.isfinite(labels).all():
            raise self._gap(self.target)
        return labels

    def _without_gaps(self, batch: Any) -> tuple[Any, int]:
        keep = np.ones(batch.num_rows, dtype=bool)
        for k in range(batch.num_columns):
            column = batch.column(k)
            if _is_numeric(column.type):
                keep &= np.isfinite(np.asarray(_numbers(column, gaps=True)))
            elif column.null_count:
                keep &= np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
        if keep.all():
            return batch, 0
        return batch.filter(arrow().array(keep)), int((~keep).sum())

    def _gap(self, name: str) -> DataError:
        return DataError(
            f"{self.label}, column {name!r}: has values that are missing or infinite; fill or drop those records."
        )

    def refuse_gaps(self, sums: Array) -> None:
        """Refuse columns whose *sums* are no numbers: somewhere in them NaN or infinity stands."""
        bad = np.flatnonzero(~np.isfinite(sums))
        if len(bad):
            raise self._gap(self.features[bad[0]])

    def count(self) -> int:
        """Return how many records there are, gaps or not: by a pass, where the source does not know."""
        known = self.source.count()
        if known is not None:
            return known
        one = self.used[:1]
        return one_pass(self.source, one, lambda b: int(b.num_rows), lambda a, b: a + b, workers=self.workers) or 0

    def left_out(self) -> int:
        """Return how many records have gaps: a pass."""
        if self.gaps != "drop":
            return 0
        return round(float(self.added_up(lambda batch: np.array([float(batch.left_out)]))[0]))

    def refuse_types(self) -> None:
        """Refuse columns that cannot be numbers; labels that are words only where the model takes none."""
        for name in self.used:
            kind = self.source.schema.field(name).type
            if not _is_numeric(kind) and not (name == self.target and self.words):
                raise DataError(
                    f"{self.label}, column {name!r}: holds {kind}, and not numbers; encode it as numbers, or leave "
                    "it out."
                )


def _is_numeric(kind: Any) -> bool:
    types = arrow("pyarrow.types")
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    )


@cache
def _is_known_to_numpy(kind: Any) -> bool:
    types = arrow("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_float32(kind) or types.is_float64(kind))


def _numbers(column: Any, *, gaps: bool = False) -> NDArray[Any]:
    """Return a column as numbers, in the type that it has where NumPy knows it."""
    if not column.null_count and _is_known_to_numpy(column.type):
        return column.to_numpy()  # where it lies
    types, pa = arrow("pyarrow.types"), arrow()
    if types.is_boolean(column.type) or types.is_decimal(column.type) or types.is_float16(column.type):
        column = column.cast(pa.int8() if types.is_boolean(column.type) else pa.float64())
    if column.null_count and gaps:
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    return np.asarray(column.to_numpy(zero_copy_only=False))
