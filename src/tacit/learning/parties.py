"""Parties and their records: who holds which rows, and whether they can be fitted at all.

A sentence about bad records names the party and the column. It never shows a value, and neither does the error of
somebody else that it replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import validate_data

from tacit.errors import DataError, InputError
from tacit.listing import conjoined
from tacit.records import Batch, Dataset
from tacit.records.digest import LongColumns, columns_of
from tacit.typing import Array

DEALT = 5
"""Parties that rows are dealt out to, one after the other, where nobody says whose they are."""

_LARGE = 1e99  # what costs take as a number, and stands for all beyond where nothing may be refused


@dataclass(frozen=True, slots=True)
class Party:
    """One party's own records. Never shown."""

    name: Any
    X: Array = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    """Its labels; zeros where there are none."""
    weight: Array | None = field(repr=False, default=None)
    """Of its records; None for ones."""
    offset: Array | None = field(repr=False, default=None)
    """What is added to its records' linear predictors; None for zeros."""

    @property
    def mass(self) -> Array:
        """The weights, ones where there are none."""
        return np.ones(len(self.X)) if self.weight is None else self.weight

    @property
    def shift(self) -> Array:
        """The offsets, zeros where there are none."""
        return np.zeros(len(self.X)) if self.offset is None else self.offset

    @property
    def extras(self) -> dict[str, Array]:
        """Weights and offsets, where there are any, by the names that costs have for them."""
        named = {"weight": self.weight, "offset": self.offset}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def has_weights(self) -> bool:
        """Whether its records have weights."""
        return self.weight is not None

    @property
    def has_offsets(self) -> bool:
        """Whether its records have offsets."""
        return self.offset is not None

    @property
    def labels(self) -> NDArray[Any]:
        """Its labels."""
        return self.y

    def added_up(self, part: Callable[[Party], Array]) -> Array:
        """Return what its records give: all are here."""
        return part(self)

    def of_labels(self, part: Callable[[Party], Array]) -> Array:
        """Return what its labels and weights give, whatever its features."""
        return part(self)

    def changed(
        self,
        change: Callable[[Party], Party],
        *,
        has_weights: bool | None = None,
        has_offsets: bool | None = None,
    ) -> Party:
        """Return the party with its records changed; they say themselves what they then have."""
        return change(self)

    def refuse_gaps(self, sums: Array) -> None:
        """Do nothing: whoever read the records has looked for gaps."""

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True)
class OutsideParty:
    """A party whose records stay in files or a database. What is asked of them is a pass over their batches."""

    name: Any
    dataset: Dataset = field(repr=False)
    changes: tuple[Callable[[Party], Party], ...] = field(repr=False, default=())
    """What becomes of every batch after it was read."""
    has_weights: bool = False
    has_offsets: bool = False

    @classmethod
    def of(cls, name: Any, dataset: Dataset) -> OutsideParty:
        """Return the party of a dataset."""
        offsets = dataset.offset is not None or dataset.exposure is not None
        return cls(name, dataset, (), dataset.weight is not None, offsets)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The labels that there are, each a few times: by a pass over that column, before any change."""
        labels = self.dataset.levels().labels
        whole = labels.dtype.kind == "f" and (labels == np.rint(labels)).all()
        return np.repeat(labels.astype(np.int64) if whole else labels, 3)

    def added_up(self, part: Callable[[Party], Array]) -> Array:
        """Return the sum of what all batches give, each as a party with few records."""
        return self.dataset.added_up(lambda batch: part(self.seen(batch, batch.matrix)))

    def of_labels(self, part: Callable[[Party], Array]) -> Array:
        """Return what the labels and weights of all batches give: no other column is read."""
        alone = self.dataset.without_features()
        return alone.added_up(lambda batch: part(self.seen(batch, np.zeros((len(batch), 0)))))

    def changed(
        self,
        change: Callable[[Party], Party],
        *,
        has_weights: bool | None = None,
        has_offsets: bool | None = None,
    ) -> OutsideParty:
        """Return the party with its records changed whenever they are read; then it may have weights or offsets."""
        weights = self.has_weights if has_weights is None else has_weights
        offsets = self.has_offsets if has_offsets is None else has_offsets
        return replace(self, changes=(*self.changes, change), has_weights=weights, has_offsets=offsets)

    def refuse_gaps(self, sums: Array) -> None:
        """Refuse columns whose sums are no numbers."""
        self.dataset.refuse_gaps(sums)

    def seen(self, batch: Batch, X: Array) -> Party:
        """Return a batch as a party with few records, of which X is looked at."""
        party = Party(self.name, X, batch.labels, batch.weight, batch.offset)
        for change in self.changes:
            party = change(party)
        return party


@dataclass(frozen=True, slots=True)
class Table:
    """All parties' records, as far as this process holds them."""

    parties: tuple[Party | OutsideParty, ...]
    columns: tuple[str, ...]
    target: str
    dealt: bool = False
    """Whether nobody said whose the rows are, and they were dealt out."""

    @property
    def names(self) -> tuple[Any, ...]:
        """The parties' names, in their order."""
        return tuple(party.name for party in self.parties)

    @property
    def here(self) -> tuple[Party, ...]:
        """The parties, where the records of all of them are in memory."""
        here = tuple(party for party in self.parties if isinstance(party, Party))
        if len(here) < len(self.parties):
            raise InputError("some parties' records stay in files or databases: load them, as arrays.")
        return here

    def records(self, *, target: bool) -> dict[Any, dict[str, NDArray[Any]] | LongColumns]:
        """Return every party's columns by name, with the *target* where labels are used, which comes last.

        A record of weight 0 is in no sum, and so it is none. No weights are ones, and no offsets zeros: to give
        them makes no other table.
        """
        records: dict[Any, dict[str, NDArray[Any]] | LongColumns] = {}
        for party in self.parties:
            if isinstance(party, OutsideParty):
                records[party.name] = columns_of(party.dataset, target=target)
                continue
            here = party.mass > 0
            columns = {"(weight)": party.mass, "(offset)": party.shift}
            columns |= dict(zip(self.columns, party.X.T, strict=True)) | ({self.target: party.y} if target else {})
            records[party.name] = {name: values[here] for name, values in columns.items()}
        return records


def read(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    *,
    numeric_target: bool = True,
    columns: Sequence[str] | None = None,
    target: str | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    gaps: bool = False,
    mapped: bool = False,
) -> Table:
    """Return the records, party by party; *groups* says which party holds each row. *gaps* may be NaN.

    *mapped* is for answers that are to be differentially private: a gap is a zero and an infinite number a large
    one, and nothing that depends on a record's value is refused.
    """
    columns = columns or named_columns(X)
    X = _numbers(estimator, X, groups)
    names, member = members(groups, len(X))
    target = target or _target_name(y)
    if mapped:
        X, y = _cut_off(X), _without_gaps(y, numeric=numeric_target)
    labels = np.zeros(len(X)) if y is None else _labels(y, X, names, member, target, numeric=numeric_target)
    columns = tuple(columns or (f"x{k}" for k in range(X.shape[1])))
    _refuse_gaps(np.where(np.isnan(X), 0.0, X) if gaps else X, names, member, columns)
    weight = _by_row(sample_weight, "sample_weight", len(X), least=0.0)
    shift = _by_row(offset, "offset", len(X))
    parties = []
    for k, name in enumerate(names):
        mine = member == k
        extras = [None if numbers is None else numbers[mine] for numbers in (weight, shift)]
        parties.append(Party(name, X[mine], labels[mine], *extras))
    return Table(tuple(parties), columns, target, dealt=groups is None)


def _by_row(given: Any, name: str, rows: int, *, least: float = -np.inf) -> Array | None:
    """Return one number per row, or None where nothing is given; shows none of them."""
    if given is None:
        return None
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} is not numeric.") from None
    if numbers.ndim == 0:
        numbers = np.full(rows, float(numbers))
    if numbers.shape != (rows,):
        raise DataError(f"{name} has shape {numbers.shape}, where X has {rows} rows: one number for each.")
    if not (np.isfinite(numbers) & (numbers >= least)).all():
        raise DataError(f"{name} has missing, infinite or negative entries.")
    return numbers


def joined(parties: Mapping[Any, Any] | Sequence[Any]) -> tuple[Any, Any, NDArray[Any]]:
    """Return X, y and groups from one (X, y), or one X, per party; refuse columns that differ."""
    items = list(parties.items() if isinstance(parties, Mapping) else enumerate(parties))
    if not items:
        raise DataError("there is no party; give one (X, y) for each.")
    pairs = [(name, *(held if isinstance(held, tuple) else (held, None))) for name, held in items]
    first = None
    for name, X, y in pairs:
        here = named_columns(X)
        shape = np.asarray(X).shape
        if len(shape) != 2:
            raise DataError(f"party {name}: its records have {len(shape)} axes; X needs rows and columns.")
        if not shape[0]:
            raise DataError(f"party {name} has no records; leave it out.")
        if y is not None and len(y) != shape[0]:
            raise DataError(f"party {name} has {shape[0]} rows and {len(y)} labels; they must agree.")
        now = here or tuple(f"x{k}" for k in range(shape[1]))
        first = first or (name, now)
        refuse_other_columns(name, now, *first)
    labels = [y for _, _, y in pairs]
    if any(y is None for y in labels) and not all(y is None for y in labels):
        nobody = next(name for name, _, y in pairs if y is None)
        raise DataError(f"party {nobody} has no labels, and others have.")
    groups = np.repeat(np.arange(len(pairs)), [len(X) for _, X, _ in pairs])
    names = np.empty(len(pairs), dtype=object)
    names[:] = [name for name, _, _ in pairs]
    y = None if labels[0] is None else _together(labels)
    return _together([X for _, X, _ in pairs]), y, names[groups]


def refuse_other_columns(name: Any, columns: Sequence[str], other: Any, expected: Sequence[str]) -> None:
    """Refuse a party whose columns differ from another party's, and name the first that does."""
    if tuple(columns) == tuple(expected):
        return
    missing = [column for column in expected if column not in columns]
    extra = [column for column in columns if column not in expected]
    if missing or extra:
        differences = [f"lacks the column {column!r}" for column in missing[:1]]
        differences += [f"has the column {column!r}" for column in extra[:1]]
        raise DataError(
            f"party {name} {conjoined(differences)}, unlike party {other}; all parties need the same columns."
        )
    moved = next(a for a, b in zip(columns, expected, strict=True) if a != b)
    raise DataError(f"party {name} has its columns in another order than party {other}, first {moved!r}.")


def refuse_look_alikes(table: Table) -> None:
    """Refuse labels that differ in nothing but case or spaces: "Yes" and "yes" of two parties are one class.

    Classes are public: a model names them.
    """
    seen: dict[str, tuple[str, Any]] = {}
    for party in table.parties:
        for label in np.unique(party.labels).tolist():
            if not isinstance(label, str):
                return
            word, first = seen.setdefault(" ".join(label.split()).casefold(), (label, party.name))
            if word != label:
                raise DataError(
                    f"column {table.target!r}: party {first} has the label {word!r} and party {party.name} has "
                    f"{label!r}, which differ in nothing but case or spaces: write one of them, or list both in "
                    "classes= if they are two classes."
                )


def named_columns(X: Any) -> tuple[str, ...] | None:
    """Return the names that a table's columns have; None of an array."""
    names = getattr(X, "columns", None)
    return None if names is None else tuple(str(name) for name in names)


def _together(parts: list[Any]) -> Any:
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    return np.concatenate([np.asarray(part) for part in parts])


def _target_name(y: Any) -> str:
    name = getattr(y, "name", None)
    return "y" if name is None else str(name)


def _numbers(estimator: Any, X: Any, groups: Any) -> Array:
    """Return X as numbers, checked by scikit-learn; its sentences that print records are replaced by our own."""
    if not hasattr(X, "toarray"):  # of a sparse matrix scikit-learn says it
        plain = np.asarray(X)
        if plain.ndim != 2:
            raise DataError(f"Expected 2D array, got {plain.ndim} axes. Reshape your data into rows and columns.")
        if plain.dtype.kind == "c":
            raise DataError("Complex data not supported: give real numbers.")
    settings = {"dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": 2}
    try:
        return np.asarray(validate_data(estimator, X, **settings))
    except ValueError:
        word = _first_word(X, groups)
        if word is None:
            raise
        party, column = word
        raise DataError(f"party {party}, column {column!r}: is not numeric; encode it as numbers first.") from None


def _first_word(X: Any, groups: Any) -> tuple[Any, str] | None:
    """Return the party and the column of the first entry that is no number; None where all are."""
    if hasattr(X, "toarray") or np.asarray(X).dtype.kind in "biuf":
        return None
    table = np.asarray(X, dtype=object)
    names, member = members(groups, len(table))
    columns = named_columns(X) or tuple(f"x{k}" for k in range(table.shape[1]))
    for k, column in enumerate(columns):
        for row, entry in enumerate(table[:, k]):
            try:
                float(entry)
            except (TypeError, ValueError):
                return names[member[row]], column
    return None


def members(groups: Any, count: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the parties' names in order of appearance, and every row's party; dealt out where nobody says."""
    if groups is None:
        parties = min(DEALT, count)
        return list(range(parties)), np.arange(count) % parties
    groups = np.asarray(groups)
    if groups.shape != (count,):
        raise DataError(f"groups has shape {groups.shape} and X has {count} rows: name the party of every row.")
    if any(map(_is_gap, groups.tolist())):
        raise DataError("groups has missing values: name the party of every row.")
    index: dict[Any, int] = {}
    member = np.array([index.setdefault(name, len(index)) for name in groups.tolist()], dtype=np.intp)
    return list(index), member


def _labels(
    y: Any, X: Array, names: list[Any], member: NDArray[np.intp], target: str, *, numeric: bool
) -> NDArray[Any]:
    y = column_or_1d(y, warn=True)
    if len(y) != len(X):
        raise DataError(f"X has {len(X)} rows and y has {len(y)} labels: inconsistent numbers of samples.")
    missing = np.array([_is_gap(value) for value in y.tolist()], dtype=bool)
    if numeric and not missing.any():
        try:
            y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False)
        except ValueError:
            raise DataError(f"column {target!r}: is not numeric; encode it as numbers first.") from None
    if y.dtype.kind == "f" and not missing.any():
        missing = ~np.isfinite(y)
    if missing.any():
        party = names[member[int(np.argmax(missing))]]
        held = int(missing[member == names.index(party)].sum())
        raise DataError(
            f"party {party}, column {target!r}: {held} label(s) missing (NaN) or infinite (inf); fill or drop "
            "those records."
        )
    return np.asarray(y)


def _cut_off(numbers: Array) -> Array:
    """Return the numbers with zeros for gaps, and none so large that a cost would refuse it."""
    return np.asarray(np.clip(np.nan_to_num(numbers, nan=0.0), -_LARGE, _LARGE))


def _without_gaps(y: Any, *, numeric: bool) -> Any:
    """Return labels with a zero, or a word that is no class, in the place of every gap."""
    if y is None:
        return None
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        return _cut_off(y)
    if y.dtype.kind == "O":
        return np.array([(0.0 if numeric else "") if _is_gap(value) else value for value in y], dtype=object)
    return y


def _is_gap(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # of pandas: NA is neither equal nor unequal to anything
        return True


def _refuse_gaps(X: Array, names: list[Any], member: NDArray[np.intp], columns: Sequence[str]) -> None:
    gaps = ~np.isfinite(X)
    if not gaps.any():
        return
    row, column = np.argwhere(gaps)[0]
    party = member[row]
    held = int(gaps[member == party, column].sum())
    raise DataError(
        f"party {names[party]}, column {columns[column]!r}: {held} value(s) missing (NaN) or infinite (inf); fill "
        "or drop those records."
    )
