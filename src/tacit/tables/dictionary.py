"""The data dictionary: what every column means, so that x has one meaning for all.

    [data]
    target = "relapse"
    missing = ["", "NA", "999"]

    [[data.columns]]
    name = "age"
    type = "number"
    unit = "years"
    low = 0.0
    high = 120.0

    [[data.columns]]
    name = "sex"
    type = "factor"
    levels = ["female", "male"]

    [[data.columns]]
    name = "relapse"
    type = "factor"
    levels = ["no", "yes"]

A public value, in a manifest or a problem file, the same for all. Columns are found by their names, wherever they
stand in a file. A factor becomes one column of zeros and ones for every level but its reference; of the target the
reference is 0 and the other level 1. A date becomes days since a day that all agree on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from tacit.errors import FileError, InputError
from tacit.fields import read_fields
from tacit.tables.dates import FORMATS, SINCE, day

MISSING = ("", "NA", "N/A", "nan", "null", ".")
Gaps = Literal["refuse", "drop"]
GAPS: tuple[Gaps, ...] = get_args(Gaps)
"""What may become of records with gaps."""


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One column."""

    name: str
    type: Literal["number", "factor", "date"] = "number"
    levels: tuple[str, ...] = ()
    """Of a factor: all words that may stand here."""
    reference: str | None = None
    """The level that the others are compared with; the first unless given."""
    unit: str = ""
    """For people, such as years or mg/day."""
    low: float | None = None
    high: float | None = None
    """Public limits: a number beyond them is refused."""
    missing: tuple[str, ...] = ()
    """Further codes that mean a missing value in this column, such as 999."""
    form: str = FORMATS[0]
    """Of a date: how it is written."""
    since: str = SINCE
    """Of a date: the day that is 0."""

    @property
    def base(self) -> str:
        """The reference level."""
        return self.levels[0] if self.reference is None and self.levels else self.reference or ""

    @property
    def others(self) -> tuple[str, ...]:
        """The levels that are compared with the reference."""
        return tuple(level for level in self.levels if level != self.base)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the unknowns that this column brings."""
        return tuple(f"{self.name}[{level}]" for level in self.others) if self.type == "factor" else (self.name,)

    @property
    def becomes(self) -> str:
        """What the column is turned into, for people."""
        if self.type == "factor":
            return f"factor: {', '.join(self.others)} against {self.base}"
        return f"days since {self.since}" if self.type == "date" else self.unit or "number"

    def problems(self) -> list[str]:
        """Return what is wrong with it, a sentence each."""
        where, wrong = f"[data] column {self.name!r}", []
        if not self.name:
            wrong.append("[data] has a column without a name.")
        if self.type == "factor" and (len(self.levels) < 2 or len(set(self.levels)) < len(self.levels)):
            wrong.append(f"{where}: a factor needs at least two levels, each once.")
        if self.type != "factor" and (self.levels or self.reference is not None):
            wrong.append(f"{where}: levels and reference belong to a factor, and this is a {self.type}.")
        if self.type == "factor" and self.reference is not None and self.reference not in self.levels:
            wrong.append(f"{where}: reference = {self.reference!r} is not one of its levels.")
        if self.type == "factor" and not (self.low is None and self.high is None):
            wrong.append(f"{where}: a factor has no low and no high.")
        if self.low is not None and self.high is not None and not self.low < self.high:
            wrong.append(f"{where}: low = {self.low:g} must be below high = {self.high:g}.")
        try:
            day(self.since)
        except InputError as error:
            wrong.append(f"{where}: {error}")
        return wrong


class Dictionary(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All columns that a model uses, in the order of its unknowns, with the target among them."""

    target: str
    columns: tuple[Column, ...]
    missing: tuple[str, ...] = MISSING
    """Codes that mean a missing value anywhere; upper and lower case are the same."""
    gaps: Gaps = "refuse"
    """Whether a record with a missing value is refused, or left out everywhere."""

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns that explain."""
        return tuple(column for column in self.columns if column.name != self.target)

    @property
    def explained(self) -> Column:
        """The column to be explained."""
        return next(column for column in self.columns if column.name == self.target)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the unknowns, without an intercept."""
        return tuple(name for column in self.features for name in column.names)

    def problems(self) -> list[str]:
        """Return what is wrong with it, a sentence each; nothing, if it can be used."""
        wrong = [sentence for column in self.columns for sentence in column.problems()]
        twice = [name for name, count in Counter(column.name for column in self.columns).items() if count > 1]
        if twice:
            wrong.append(f"[data] has two columns {twice[0]!r}.")
        if self.target not in [column.name for column in self.columns]:
            wrong.append(f"[data] target = {self.target!r} is not one of its columns.")
        elif not self.names:
            wrong.append("[data] has no column beside the target: nothing explains it.")
        return wrong

    def checked(self) -> Dictionary:
        """Return itself; refuse one that cannot be used."""
        wrong = self.problems()
        if wrong:
            raise InputError(" ".join(wrong))
        return self


def plain(columns: Sequence[str], target: str) -> Dictionary:
    """Return the dictionary of a file whose columns are all numbers."""
    return Dictionary(target, tuple(Column(name) for name in columns))


class _Whole(msgspec.Struct, frozen=True):
    data: Dictionary | None = None


def read_dictionary(path: Path) -> Dictionary:
    """Return the dictionary in a manifest or a problem file."""
    contents = read_fields(path, _Whole).data
    if contents is None:
        raise FileError(
            f"{path}: has no data dictionary, [data].", command="`tacit federation new --like FILE` drafts one."
        )
    return contents.checked()
