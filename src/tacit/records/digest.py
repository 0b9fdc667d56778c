"""Digests of columns that are too long to be sorted: of all their values, in the order of the records.

    digest = SHA-256(canonical bytes of the values, one after the other)        (words: with their lengths)
    of a column that is one value everywhere: SHA-256(that value, how many)

They depend on the records and their order, and not on how they are cut into batches, row groups or files. Unkeyed,
they never leave the process that made them: `tacit.solving.versions` puts them under a key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.records.dataset import Batch, Dataset

LOADED = 100_000
"""Records up to which a dataset is loaded where its digests are asked for: they are then those of any table."""


class ColumnDigest(NamedTuple):
    """The digest of one column, and whether it has more than one value."""

    digest: bytes
    varies: bool


@dataclass(frozen=True, slots=True)
class LongColumns:
    """The digests of all columns of a long dataset, by name."""

    columns: Mapping[str, ColumnDigest]
    records: int


class _Running:
    """One column while it is read."""

    def __init__(self) -> None:
        self.hash, self.first, self.varies, self.count = hashlib.sha256(), b"", False, 0

    def take(self, values: NDArray[Any]) -> None:
        if not len(values):
            return
        if values.dtype.kind in "biuf":
            numbers = np.asarray(values, dtype="<f8") + 0.0  # −0 becomes 0
            first, data, same = numbers[:1].tobytes(), numbers.tobytes(), bool((numbers == numbers[0]).all())
        else:
            words = [str(word).encode() for word in values.tolist()]
            first, data = words[0], b"".join(len(word).to_bytes(4, "big") + word for word in words)
            same = all(word == first for word in words)
        self.first = self.first if self.count else first
        self.varies |= not same or first != self.first
        self.hash.update(data)
        self.count += len(values)

    @property
    def result(self) -> ColumnDigest:
        if self.varies:
            return ColumnDigest(self.hash.digest(), True)
        return constant(self.first, self.count)


def constant(value: bytes, count: int) -> ColumnDigest:
    """Return the digest of a column that is one value everywhere."""
    return ColumnDigest(hashlib.sha256(b"constant\0" + value + b"\0" + str(count).encode()).digest(), False)


def columns_of(dataset: Dataset, *, target: bool) -> dict[str, NDArray[Any]] | LongColumns:
    """Return the columns of a dataset by name, or their digests where these are long; without weights of 0."""
    if dataset.count() > LOADED:
        return _read(dataset, target=target)
    parts: list[dict[str, NDArray[Any]]] = []
    _in_order(dataset, lambda batch: parts.append(_columns(dataset, batch, target=target)))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _read(dataset: Dataset, *, target: bool) -> LongColumns:
    running: dict[str, _Running] = {}

    def take(batch: Batch) -> None:
        for name, values in _columns(dataset, batch, target=target).items():
            running.setdefault(name, _Running()).take(values)

    _in_order(dataset, take)
    count = max((column.count for column in running.values()), default=0)
    return LongColumns({name: column.result for name, column in running.items()}, count)


def _in_order(dataset: Dataset, take: Any) -> None:
    def part(batch: Batch) -> int:
        take(batch)
        return len(batch)

    replace(dataset, workers=1, spread=None).joined(part, lambda a, b: a + b)


def _columns(dataset: Dataset, batch: Batch, *, target: bool) -> dict[str, NDArray[Any]]:
    ones = np.ones(len(batch))
    columns: dict[str, NDArray[Any]] = {
        "(weight)": ones if batch.weight is None else batch.weight,
        "(offset)": 0.0 * ones if batch.offset is None else batch.offset,
        **dict(zip(dataset.features, batch.columns, strict=True)),
    }
    columns |= {dataset.target: batch.labels} if target else {}
    if batch.weight is None:
        return columns
    here = batch.weight > 0
    return {name: values[here] for name, values in columns.items()}
