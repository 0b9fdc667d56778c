"""Counts, means, variances and histograms with noise: what parties may tell of their records, once each.

    u = (x − middle)/half, cut off at ±1          by public limits of every column, which nobody's records decide
    v = (1, u, u² − ½)  a record                  |v|² ≤ 1 + 5p/4: one noisy sum of 1 + 2p numbers
    v = e_k             a record of class k       |v| = 1: one noisy sum of as many numbers as classes

Means and variances follow from the sums, and their errors from the public deviation s of the noise, to first order:

    var(mean) = half² s²(1 + ū²)/n̂²        var(variance) = half⁴ s²(1 + 4ū² + (½ − mean(u²) + 2ū²)²)/n̂²

A number of records that is public anyway takes the place of n̂, and one number less is told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.differential import AnswerGuarantee, DifferentialPrivacy
from tacit.errors import DataError, InputError
from tacit.learning.parties import members, named_columns
from tacit.learning.party_network import connected
from tacit.showing import Readable, frame
from tacit.solving.total import noisy_total
from tacit.typing import Array

ColumnRanges = Sequence[tuple[float, float]] | Mapping[str, tuple[float, float]]
"""The least and the largest value of every column, in their order or by name: public."""


@dataclass(frozen=True, slots=True)
class Description(Readable):
    """What all records together look like, with noise: public."""

    columns: tuple[str, ...]
    count: float
    """About how many records there are; a whole number where it was declared."""
    mean: Array
    variance: Array
    count_error: float
    """The deviation of the noise; zero where the number was declared."""
    mean_errors: Array
    variance_errors: Array
    guarantee: AnswerGuarantee | None

    def to_frame(self) -> Any:
        """Return every column's mean and deviation, with the noise in the mean, as a table of pandas."""
        rows = zip(self.columns, self.mean, np.sqrt(self.variance), self.mean_errors, strict=True)
        return frame(
            [dict(zip(("column", "mean", "deviation", "noise"), row, strict=True)) for row in rows], "column"
        )

    def __str__(self) -> str:
        noise = f", give or take {self.count_error:.3g}" if self.count_error else ""
        lines = [f"About {self.count:.6g} records{noise}; noise in brackets."]
        columns = zip(self.columns, self.mean, self.mean_errors, np.sqrt(self.variance), strict=True)
        return "\n".join([*lines, *(f"{n}: mean {m:.4g} (± {e:.2g}), deviation {d:.4g}" for n, m, e, d in columns)])


@dataclass(frozen=True, slots=True)
class Histogram(Readable):
    """How many records are of every class, or between every two edges, with noise: public."""

    labels: tuple[Any, ...]
    """The classes, or the lower edges."""
    counts: Array
    """With noise, and so neither whole nor always positive."""
    error: float
    """The deviation of the noise in every one of them."""
    guarantee: AnswerGuarantee | None

    def to_frame(self) -> Any:
        """Return the counts as a table of pandas."""
        rows = zip(self.labels, self.counts, strict=True)
        return frame(
            [{"label": label, "count": float(count), "noise": self.error} for label, count in rows], "label"
        )

    def __str__(self) -> str:
        counts = (f"{label}: {count:.4g}" for label, count in zip(self.labels, self.counts, strict=True))
        return "\n".join([f"Every count has noise of deviation {self.error:.3g}.", *counts])


def describe(
    X: Any,
    groups: Any,
    *,
    limits: ColumnRanges,
    epsilon: float,
    delta: float,
    any: int = 1,
    records: int | None = None,
    network: Any = "auto",
    runtime: str = "stacked",
) -> Description:
    """Return the number of records, and every column's mean and variance, with noise for every record.

    *limits* is the public range of every column; values beyond it count as its ends, and gaps as its middle: with a
    promise nothing that depends on a record's value is refused. *groups* names the party of
    every row. *records* is a number of records that is public anyway.
    """
    table, columns = _numbers(X)
    low, high = ranges(limits, columns)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    u = np.clip(np.nan_to_num((table - middle) / half, nan=0.0), -1.0, 1.0)
    counted = np.ones((len(table), int(records is None)))
    rows = np.concatenate([counted, u, u**2 - 0.5], axis=1)
    promise = DifferentialPrivacy(
        epsilon=epsilon, delta=delta, clip=math.sqrt(counted.shape[1] + 1.25 * len(columns)), any=any,
        records=records,
    )  # fmt: skip
    answer = _added_up(rows, groups, promise, network=network, runtime=runtime)
    s = float(answer.noise[0]) if answer.noise is not None else 0.0
    first, second = np.split(answer.x[counted.shape[1] :], 2)
    known = records is not None
    n = max(float(records) if records is not None else float(answer.x[0]), 1.0)
    about, squares = np.clip(first / n, -1.0, 1.0), np.clip(second / n + 0.5, 0.0, 1.0)
    spread = np.clip(squares - about**2, s / n, 1.0)  # noise may leave nothing, and nothing is no scale
    free = 0.0 if known else 1.0
    return Description(
        columns=columns,
        count=n,
        mean=middle + half * about,
        variance=half**2 * spread,
        count_error=0.0 if known else s,
        mean_errors=half * s * np.sqrt(1.0 + free * about**2) / n,
        variance_errors=half**2
        * s
        * np.sqrt(1.0 + 4.0 * about**2 + free * (0.5 - squares + 2.0 * about**2) ** 2)
        / n,
        guarantee=answer.guarantee,
    )


def histogram(
    values: Any,
    groups: Any,
    *,
    classes: Sequence[Any] | None = None,
    edges: ArrayLike | None = None,
    epsilon: float,
    delta: float,
    any: int = 1,
    network: Any = "auto",
    runtime: str = "stacked",
) -> Histogram:
    """Return how many records are of every one of the *classes*, or between *edges*, with noise for every record.

    Both are declared, never read off records. A value that is of no class counts nowhere; one beyond the edges,
    or a gap, in the first or the last place.
    """
    if (classes is None) == (edges is None):
        raise InputError("a histogram needs classes or edges that are declared beforehand: one of the two.")
    values = np.asarray(values)
    if values.ndim != 1:
        raise InputError(f"a histogram takes one value a record, and these have {values.ndim} axes.")
    rows, labels = _of_classes(values, list(classes)) if classes is not None else _between(values, edges)
    promise = DifferentialPrivacy(epsilon=epsilon, delta=delta, clip=1.0, any=any)
    answer = _added_up(rows, groups, promise, network=network, runtime=runtime)
    error = float(answer.noise[0]) if answer.noise is not None else 0.0
    return Histogram(labels=labels, counts=answer.x, error=error, guarantee=answer.guarantee)


def _of_classes(values: NDArray[Any], classes: list[Any]) -> tuple[Array, tuple[Any, ...]]:
    if len(set(map(str, classes))) < len(classes) or not classes:
        raise InputError("the classes of a histogram are a list of different values.")
    rows = np.stack([np.asarray(values == each, dtype=np.float64) for each in classes], axis=1)
    return rows, tuple(classes)


def _between(values: NDArray[Any], edges: ArrayLike | None) -> tuple[Array, tuple[Any, ...]]:
    ends = np.asarray(edges, dtype=np.float64)
    if ends.ndim != 1 or len(ends) < 2 or not (np.diff(ends) > 0).all() or not np.isfinite(ends).all():
        raise InputError("the edges of a histogram are two or more numbers that grow.")
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("edges are for numbers, and these values are not; give classes.") from None
    place = np.clip(np.searchsorted(ends, numbers, side="right") - 1, 0, len(ends) - 2)
    return np.eye(len(ends) - 1)[place], tuple(ends[:-1].tolist())


def _numbers(X: Any) -> tuple[Array, tuple[str, ...]]:
    """Return a table as numbers, and the names of its columns; shows none of them."""
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("some column is not numeric; encode it as numbers first.") from None
    if table.ndim != 2 or not table.size:
        raise DataError(f"records have {table.ndim} axes; rows and columns are needed.")
    return table, named_columns(X) or tuple(f"x{k}" for k in range(table.shape[1]))


def ranges(limits: ColumnRanges | None, columns: Sequence[str]) -> tuple[Array, Array]:
    """Return the public limits of all columns; refuse a column without."""
    if limits is None:
        raise InputError("limits is missing: without a public range of every column no noise hides a record.")
    if isinstance(limits, Mapping):
        missing = [name for name in columns if name not in limits]
        if missing:
            raise InputError(f"limits has no range for column {missing[0]!r}: every column needs one.")
        limits = [limits[name] for name in columns]
    try:
        pairs = np.asarray(limits, dtype=np.float64)
    except (TypeError, ValueError):
        pairs = np.zeros(0)
    if pairs.shape != (len(columns), 2):
        raise InputError(f"limits needs a least and a largest value for each of the {len(columns)} column(s).")
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise InputError("limits: the least value of every column is below the largest, and both are numbers.")
    return pairs[:, 0], pairs[:, 1]


def _added_up(rows: Array, groups: Any, promise: DifferentialPrivacy, *, network: Any, runtime: str) -> Any:
    if groups is None:
        raise InputError("epsilon needs parties: name the party of every row, as groups.")
    names, member = members(groups, len(rows))
    promise.refuse_few(len(names))
    parts = [rows[member == k] for k in range(len(names))]
    return noisy_total(connected(names, network, any=promise.any), parts, promise, runtime=runtime)
