"""Means and variances by sums, so that no party needs the pooled records.

    n = Σ n_i,   mean = Σ_i Σ_j x_ij / n                 first sum
    var = Σ_i Σ_j (x_ij − mean)² / n                     second sum, about the mean that all then know
    how many parties have a column that is not all 0     third sum, before a model is fitted

`StandardUnits` turn records into standard units and coefficients back: models are fitted in those units, where the
public limit of secret sums fits, and the penalties keep the meaning that they have in the parties' own units.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.errors import DataError
from tacit.learning.assembly import Assembly
from tacit.learning.parties import Table
from tacit.listing import listed
from tacit.solving.solve import CollinearWarning
from tacit.stamps import Stamp
from tacit.typing import Array, Rows

_DROWNED = 2.0**20  # resolutions of a sum: squares that add up to less are known to a few digits
_SMALL = 2.0**-70  # the unit in which small columns are looked at first
_FAR = 2.0**24  # roundings of the mean: a column that varies by more is not all but constant


@dataclass(frozen=True, slots=True)
class Moments:
    """What all parties know of all columns together."""

    count: float
    mean: Array
    variance: Array

    @property
    def constant(self) -> Rows:
        """Columns that vary by no more than the rounding of their mean."""
        return np.asarray(self.variance <= (2.0 * self.mean * np.finfo(float).eps) ** 2)


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
    first = [
        np.append((w[:, None] * X).sum(axis=0, dtype=np.longdouble).astype(np.float64), len(X))
        for X, w in zip(rows, each, strict=True)
    ]
    total = assembly.total(first, "number of records, and sums of all columns", columns=[*columns, "count"])
    count = float(np.rint(total[-1]))
    mean = total[:-1] / (mass or count)
    about = mean if centred else np.zeros_like(mean)
    away = [X - about for X in rows]
    unit = _units([np.sqrt(w)[:, None] * X for X, w in zip(away, each, strict=True)], count, assembly, columns)
    second = [w @ (X / unit) ** 2 for X, w in zip(away, each, strict=True)]
    squares = assembly.total(second, "sums of squared deviations of all columns", columns=columns)
    statistics = Moments(count, mean, squares / (mass or count) * unit**2)
    small = (squares <= _DROWNED * assembly.resolution) & (unit == 1.0)
    if not small.any():
        return statistics
    deviations = [X[:, small] for X in away]
    names = [column for column, drowned in zip(columns, small, strict=True) if drowned]
    shift, variance = _enlarged(deviations, each, assembly, names, count, mass or count, centred=centred)
    mean, statistics.variance[small] = mean.copy(), variance
    mean[small] = shift + (mean[small] if centred else 0.0)
    return replace(statistics, mean=mean)


def _enlarged(
    deviations: Sequence[Array],
    weights: Sequence[Array],
    assembly: Assembly,
    names: Sequence[str],
    count: float,
    mass: float,
    *,
    centred: bool,
) -> tuple[Array, Array]:
    """Return mean and variance of columns whose squares drown in a sum's resolution, in units that they fill.

    *deviations* are from a mean that is known to that resolution only; the mean returned is theirs.
    """
    terms = [
        np.concatenate([np.abs(d).sum(axis=0), w @ d]) / _SMALL for d, w in zip(deviations, weights, strict=True)
    ]
    sums = assembly.total(terms, "deviations of small columns", columns=[*names, *names])
    sizes, mean = np.split(_SMALL * sums, 2) / np.array([[1.0], [mass]])
    gone = [name for k, name in enumerate(names) if sizes[k] == 0.0 and any(d[:, k].any() for d in deviations)]
    if gone:
        raise DataError(
            f"column(s) {listed([repr(name) for name in gone])}: the numbers are so small that secret sums lose "
            "them; use smaller units, so that the numbers grow."
        )
    if not sizes.any():
        return mean, np.zeros(len(names))
    unit = np.exp2(np.rint(np.log2(np.where(sizes > 0, sizes / count, 1.0))))
    terms = [w @ ((d - mean * centred) / unit) ** 2 for d, w in zip(deviations, weights, strict=True)]
    squares = assembly.total(terms, "sums of squared deviations of small columns", columns=names)
    return mean, np.where(sizes > 0, squares / mass * unit**2, 0.0)


def _units(away: Sequence[Array], count: float, assembly: Assembly, columns: Sequence[str]) -> Array:
    """Return one power of two for each column, in which no sum of squares exceeds the public limit.

    They are all 1 unless somebody's squares are beyond the limit; then the sums of absolute deviations say more.
    """
    ones, bound = np.ones(len(columns)), assembly.bound
    if all(((X**2).sum(axis=0) <= bound).all() for X in away):
        return ones
    sizes = assembly.total([np.abs(X).sum(axis=0) for X in away], "sums of absolute deviations", columns=columns)
    return np.asarray(np.exp2(np.rint(np.log2(np.maximum(sizes / count, 1.0)))))


def stamp_own_columns(rows: Sequence[Array], assembly: Assembly, columns: Sequence[str]) -> None:
    """Count, in secret, how many parties have each column; where it is one or two, its sums are their own.

    Who they are is not told, and not said. Of two, each takes its own part off the sum.
    """
    if assembly.privacy is None or len(rows) < 3:
        return
    has = [(X != 0).any(axis=0).astype(np.float64) for X in rows]
    held = np.rint(assembly.total(has, "how many parties have each column", columns=columns))
    for few, whose in ((1, "one party alone has"), (2, "two parties alone have")):
        own = [repr(column) for column, count in zip(columns, held, strict=True) if count == few]
        if own:
            sums = "its own" if few == 1 else "known to each other"
            sentence = (
                f"{whose} column(s) {listed(own)} other than 0, so that the sums of those columns are {sums}; "
                "leave such columns out, or join their categories."
            )
            assembly.add(Stamp(reason="own column", sentence=sentence))


@dataclass(frozen=True, slots=True)
class StandardUnits:
    """Standard units: x = centre + scale·z, and y = middle + spread·v."""

    count: int
    centre: Array
    scale: Array
    varies: Rows
    """Of all columns, those that vary; the others have no part in the model, and a coefficient of zero."""
    middle: float = 0.0
    spread: float = 1.0
    mean_target: float = 0.0

    def rows(self, X: Array) -> Array:
        """Return the columns that vary in standard units."""
        return (X[:, self.varies] - self.centre) / self.scale

    def labels(self, y: Array) -> Array:
        """Return labels in standard units."""
        return (y - self.middle) / self.spread

    def back(self, intercept: bool) -> Array:
        """Return the matrix that takes (u, b) in standard units to (w, intercept) in the parties' own."""
        p, living = len(self.varies), np.flatnonzero(self.varies)
        q = len(living)
        turn = np.zeros((p + intercept, q + intercept))
        turn[living, np.arange(q)] = self.spread / self.scale
        if intercept:
            turn[p, :q] = -self.centre * self.spread / self.scale
            turn[p, q] = self.spread
        return turn


def measure(
    table: Table, assembly: Assembly, *, intercept: bool, target: bool, mass: float | None = None
) -> StandardUnits:
    """Return the units of all columns, and of the *target*; warn of a column that is the same everywhere.

    *mass* is the sum of all records' weights, where they have any.
    """
    rows = [np.column_stack([party.X, party.y]) if target else party.X for party in table.parties]
    columns = [*table.columns, table.target] if target else list(table.columns)
    weights = None if mass is None else [party.mass for party in table.parties]
    statistics = moments(rows, assembly, columns, centred=intercept, weights=weights, mass=mass)
    stamp_own_columns([party.X for party in table.parties], assembly, table.columns)
    p = len(table.columns)
    constant = _the_same(rows, statistics, assembly, columns) if intercept else statistics.variance == 0.0
    varies = ~constant[:p]
    if not varies.any():
        raise DataError(
            f"every column is the same number in all records of every party ({_all(table)}): nothing can be learnt "
            "from that."
        )
    for column in np.flatnonzero(~varies):
        warnings.warn(
            f"column {table.columns[column]!r} is the same number in all records of every party ({_all(table)}): "
            "nothing can be learnt from it, and its coefficient is 0.",
            CollinearWarning,
            stacklevel=5,
        )
    scale = np.sqrt(statistics.variance)
    scale = np.where((scale > 0) & ~constant, scale, 1.0)
    centre = statistics.mean if intercept else np.zeros_like(statistics.mean)
    count, living = int(statistics.count), np.flatnonzero(varies)
    if not target:
        return StandardUnits(count, centre[living], scale[living], varies)
    middle, spread, mean = float(centre[p]), float(scale[p]), float(statistics.mean[p])
    return StandardUnits(count, centre[living], scale[living], varies, middle, spread, mean_target=mean)


def _the_same(rows: Sequence[Array], statistics: Moments, assembly: Assembly, columns: Sequence[str]) -> Rows:
    """Return which columns are one number in all records: one more sum, where some vary as little as rounding.

    Their deviations d, in roundings of the mean, are small whole numbers and a fraction: n Σd² = (Σd)² where all
    are equal. A column that varies by its last digit can still be what the labels follow.
    """
    near = statistics.constant
    if not near.any():
        return near
    unit = np.spacing(np.abs(statistics.mean[near]))
    away = [(X[:, near] - statistics.mean[near]) / unit for X in rows]
    names = [column for column, close in zip(columns, near, strict=True) if close]
    small = [name for k, name in enumerate(names) if any((np.abs(d[:, k]) > _FAR).any() for d in away)]
    if small:
        raise DataError(
            f"column(s) {listed([repr(name) for name in small])}: the numbers are so small that secret sums lose "
            "their squares; use smaller units, so that the numbers grow."
        )
    terms = [np.concatenate([d.sum(axis=0), (d**2).sum(axis=0)]) for d in away]
    total = assembly.total(terms, "deviations of columns that are all but constant", columns=[*names, *names])
    first, second = np.split(total, 2)
    same = near.copy()
    same[near] = statistics.count * second - first**2 <= 1e-6 * statistics.count
    return same


def _all(table: Table) -> str:
    names = [str(name) for name in table.names]
    return listed(names, most=6 if len(names) <= 6 else 5)
