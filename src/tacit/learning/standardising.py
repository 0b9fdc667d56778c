"""Means and variances by sums, so that no party needs the pooled records.

    n = Σ n_i,   mean = Σ_i Σ_j x_ij / n                 first sum
    var = Σ_i Σ_j (x_ij − mean)² / n                     second sum, about the mean that all then know
    how many parties have a column that is not all 0     third sum, before a model is fitted

`StandardUnits` turn records into standard units and coefficients back: models are fitted in those units, where the
public limit of secret sums fits, and the penalties keep the meaning that they have in the parties' own units.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacit.errors import DataError
from tacit.learning.assembly import Assembly
from tacit.learning.parties import OutsideParty, Party, Table
from tacit.listing import listed
from tacit.solving.solve import CollinearWarning
from tacit.stamps import Stamp
from tacit.typing import Array, Rows

_DROWNED = 2.0**20  # resolutions of a sum: squares that add up to less are known to a few digits
_SMALL = 2.0**-70  # the unit in which small columns are looked at first
_FAR = 2.0**24  # roundings of the mean: a column that varies by more is not all but constant


class Measured(NamedTuple):
    """Moments, and of every party which columns are not zero in all its records."""

    moments: Moments
    held: list[Rows]


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


RowsOf = Callable[[Party], Array]
"""The rows of some records that are measured."""


def moments(
    parties: Sequence[Party | OutsideParty],
    assembly: Assembly,
    columns: Sequence[str],
    *,
    rows: RowsOf | None = None,
    centred: bool = True,
    mass: float | None = None,
) -> Measured:
    """Return the moments of all parties' *rows*, X unless given, by two secret sums; about zero if not *centred*.

    *mass* is the sum of all records' weights, where they have any.
    """
    look, width = rows or _features, len(columns)
    looks = [party.added_up(lambda p: _first_look(p, look(p))) for party in parties]
    for party, here in zip(parties, looks, strict=True):
        party.refuse_gaps(here[:width])
    first = [here[: width + 1] for here in looks]
    total = assembly.total(first, "number of records, and sums of all columns", columns=[*columns, "count"])
    count = float(np.rint(total[-1]))
    mean = total[:-1] / (mass or count)
    about = mean if centred else np.zeros_like(mean)

    def squares_in(unit: Array) -> list[Array]:
        def squares(p: Party) -> Array:
            X = look(p)
            if X.flags.f_contiguous:  # a batch: column by column, which stay in the cache
                return np.array([_square(x, m, u, p.weight) for x, m, u in zip(X.T, about, unit, strict=True)])
            return np.asarray(p.mass @ ((X - about) / unit) ** 2)

        return [party.added_up(squares) for party in parties]

    unit, second = np.ones(width), squares_in(np.ones(width))
    if not all((each <= assembly.bound).all() for each in second):
        unit = _units(parties, lambda p: np.sqrt(p.mass)[:, None] * (look(p) - about), count, assembly, columns)
        second = squares_in(unit)
    squares = assembly.total(second, "sums of squared deviations of all columns", columns=columns)
    statistics = Moments(count, mean, squares / (mass or count) * unit**2)
    held = [here[width + 1 :] > 0 for here in looks]
    small = (squares <= _DROWNED * assembly.resolution) & (unit == 1.0)
    if not small.any():
        return Measured(statistics, held)
    names = [column for column, drowned in zip(columns, small, strict=True) if drowned]
    shift, variance = _enlarged(
        parties, lambda p: (look(p) - about)[:, small], assembly, names, count, mass or count, centred=centred
    )
    mean, statistics.variance[small] = mean.copy(), variance
    mean[small] = shift + (mean[small] if centred else 0.0)
    return Measured(replace(statistics, mean=mean), held)


def _square(x: Array, about: float, unit: float, weight: Array | None) -> float:
    """Return Σ w ((x − about)/unit)² of one column."""
    d = x - about
    d = d if unit == 1.0 else d / unit
    return float(d @ d if weight is None else d @ (weight * d))


def _features(party: Party) -> Array:
    return party.X


def _first_look(party: Party, X: Array) -> Array:
    """Return the sums of all columns, the number of records, and of every column whether it is not all zero."""
    weighted = X if party.weight is None else party.weight[:, None] * X
    sums = weighted.sum(axis=0, dtype=np.longdouble).astype(np.float64)  # so that a constant column is seen as one
    return np.concatenate([sums, [float(len(X))], (X != 0).any(axis=0)])


def _enlarged(
    parties: Sequence[Party | OutsideParty],
    deviations: RowsOf,
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

    def sizes_of(p: Party) -> Array:
        d = deviations(p)
        return np.concatenate([np.abs(d).sum(axis=0), p.mass @ d]) / _SMALL

    sums = assembly.total(
        [party.added_up(sizes_of) for party in parties], "deviations of small columns", columns=[*names, *names]
    )
    sizes, mean = np.split(_SMALL * sums, 2) / np.array([[1.0], [mass]])
    gone = []
    if not sizes.all():
        moved = [party.added_up(lambda p: np.asarray(deviations(p).any(axis=0), np.float64)) for party in parties]
        gone = [name for k, name in enumerate(names) if sizes[k] == 0.0 and any(each[k] > 0 for each in moved)]
    if gone:
        raise DataError(
            f"column(s) {listed([repr(name) for name in gone])}: the numbers are so small that secret sums lose "
            "them; use smaller units, so that the numbers grow."
        )
    if not sizes.any():
        return mean, np.zeros(len(names))
    unit = np.exp2(np.rint(np.log2(np.where(sizes > 0, sizes / count, 1.0))))
    terms = [
        party.added_up(lambda p: np.asarray(p.mass @ ((deviations(p) - mean * centred) / unit) ** 2))
        for party in parties
    ]
    squares = assembly.total(terms, "sums of squared deviations of small columns", columns=names)
    return mean, np.where(sizes > 0, squares / mass * unit**2, 0.0)


def _units(
    parties: Sequence[Party | OutsideParty], away: RowsOf, count: float, assembly: Assembly, columns: Sequence[str]
) -> Array:
    """Return one power of two for each column, in which no sum of squares exceeds the public limit.

    Somebody's squares are beyond it; the sums of absolute deviations say more.
    """
    terms = [party.added_up(lambda p: np.abs(away(p)).sum(axis=0)) for party in parties]
    sizes = assembly.total(terms, "sums of absolute deviations", columns=columns)
    return np.asarray(np.exp2(np.rint(np.log2(np.maximum(sizes / count, 1.0)))))


def stamp_own_columns(held: Sequence[Rows], assembly: Assembly, columns: Sequence[str]) -> None:
    """Count, in secret, how many parties have each column; where it is one or two, its sums are their own.

    *held* says of every party which columns are not zero in all its records. Who they are is not told, and not
    said. Of two, each takes its own part off the sum.
    """
    if assembly.privacy is None or len(held) < 3:
        return
    has = [each.astype(np.float64) for each in held]
    holders = np.rint(assembly.total(has, "how many parties have each column", columns=columns))
    for few, whose in ((1, "one party alone has"), (2, "two parties alone have")):
        own = [repr(column) for column, count in zip(columns, holders, strict=True) if count == few]
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
    parties, p, look = table.parties, len(table.columns), _with_labels if target else _features
    columns = [*table.columns, table.target] if target else list(table.columns)
    statistics, held = moments(parties, assembly, columns, rows=look, centred=intercept, mass=mass)
    stamp_own_columns([each[:p] for each in held], assembly, table.columns)
    constant = _the_same(parties, look, statistics, assembly, columns) if intercept else statistics.variance == 0.0
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


def _with_labels(party: Party) -> Array:
    return np.column_stack([party.X, party.y])


def _the_same(
    parties: Sequence[Party | OutsideParty],
    look: RowsOf,
    statistics: Moments,
    assembly: Assembly,
    columns: Sequence[str],
) -> Rows:
    """Return which columns are one number in all records: one more sum, where some vary as little as rounding.

    Their deviations d, in roundings of the mean, are small whole numbers and a fraction: n Σd² = (Σd)² where all
    are equal. A column that varies by its last digit can still be what the labels follow.
    """
    near = statistics.constant
    if not near.any():
        return near
    unit = np.spacing(np.abs(statistics.mean[near]))
    names = [column for column, close in zip(columns, near, strict=True) if close]

    def sums_of(p: Party) -> Array:
        d = (look(p)[:, near] - statistics.mean[near]) / unit
        return np.concatenate([d.sum(axis=0), (d**2).sum(axis=0), (np.abs(d) > _FAR).any(axis=0)])

    looks = [party.added_up(sums_of) for party in parties]
    small = [name for k, name in enumerate(names) if any(each[2 * len(names) + k] > 0 for each in looks)]
    if small:
        raise DataError(
            f"column(s) {listed([repr(name) for name in small])}: the numbers are so small that secret sums lose "
            "their squares; use smaller units, so that the numbers grow."
        )
    terms = [each[: 2 * len(names)] for each in looks]
    total = assembly.total(terms, "deviations of columns that are all but constant", columns=[*names, *names])
    first, second = np.split(total, 2)
    same = near.copy()
    same[near] = statistics.count * second - first**2 <= 1e-6 * statistics.count
    return same


def _all(table: Table) -> str:
    names = [str(name) for name in table.names]
    return listed(names, most=6 if len(names) <= 6 else 5)
