"""One CSV file as text: names of columns, and lines of fields with their numbers.

All that is wrong with a file is said with its line and its column, and without what stands there.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from tacit.errors import FileError
from tacit.spelling import did_you_mean
from tacit.tables.dialect import Dialect, Reading, decode, sniff

INDEX = ("", "Unnamed: 0")
"""Names of a first column that only counts the records, as data frames write it."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What stands in a file. Holds somebody's records: it is never shown, sent or stored."""

    label: str
    """Who or what it is, for sentences: a path, or a party."""
    columns: tuple[str, ...]
    lines: tuple[tuple[int, tuple[str, ...]], ...] = field(repr=False)
    """Number of the line in the file, and its fields."""
    dialect: Dialect
    has_index: bool = False
    """Whether a first column without a name was left out."""

    def __len__(self) -> int:
        return len(self.lines)

    def texts(self, column: str) -> list[str]:
        """Return the fields of one column."""
        at = self.columns.index(column)
        return [fields[at] for _, fields in self.lines]

    @property
    def assumption(self) -> str | None:
        """What was assumed about the file, where it is not what everybody expects."""
        if self.dialect.is_plain and not self.has_index:
            return None
        index = "; its first column has no name and is left out" if self.has_index else ""
        return f"{self.label}: read with {self.dialect.sentence}{index}."

    def number(self, text: str) -> float | None:
        """Return a field as a number; None where it is none in this dialect."""
        return number(text, self.dialect.decimal)

    def named(self, label: str) -> Sheet:
        """Return the same under another label."""
        return replace(self, label=label)

    def only(self, keep: Collection[str] | None = None, drop: Collection[str] = ()) -> Sheet:
        """Return the sheet with the columns to *keep*, in their order in the file, less those to *drop*."""
        for name in (*(keep or ()), *drop):
            if name not in self.columns:
                raise FileError(
                    f"{self.label}: has no column {name!r}; it has {', '.join(self.columns)}."
                    f"{did_you_mean(name, self.columns)}"
                )
        chosen = [k for k, name in enumerate(self.columns) if (not keep or name in keep) and name not in drop]
        lines = tuple((n, tuple(fields[k] for k in chosen)) for n, fields in self.lines)
        return replace(self, columns=tuple(self.columns[k] for k in chosen), lines=lines)


def read_sheet(path: Path, reading: Reading | None = None, *, label: str | None = None) -> Sheet:
    """Return what stands in a CSV file; its dialect is read off it where *reading* does not say."""
    reading, label = (reading or Reading()).checked(), label or str(path)
    try:
        text, encoding = decode(path.read_bytes(), reading)
        separator, decimal = sniff(text, reading)
        rows = [
            (number, tuple(field.strip() for field in row))
            for number, row in _numbered(text, separator)
            if any(field.strip() for field in row)
        ]
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (UnicodeError, csv.Error):
        raise FileError(f"{path}: is not a readable .csv file.") from None
    dialect = Dialect(separator, decimal, encoding)
    columns = named_columns(label, rows[0][1] if rows else ())
    if len(rows) < 2:
        raise FileError(f"{label}: needs a line of column names and at least one record.")
    lines = rows[1:]
    if all(len(fields) == len(columns) + 1 for _, fields in lines):  # the names of rows have no name, as R has it
        columns = ("", *columns)
    for number, fields in lines:
        if len(fields) != len(columns):
            raise FileError(
                f"{label}, line {number}: {len(fields)} fields, where the header has {len(columns)}; "
                f"read with {dialect.sentence}."
            )
    has_index = len(columns) > 1 and columns[0] in INDEX
    if has_index:
        columns, lines = columns[1:], [(n, fields[1:]) for n, fields in lines]
    refuse_twice(label, columns)
    return Sheet(label, columns, tuple(lines), dialect, has_index)


def refuse_twice(label: str, columns: tuple[str, ...]) -> None:
    """Refuse two columns of one name."""
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise FileError(f"{label}: has two columns {twice[0]!r}; rename one.")


def _numbered(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Return rows with the number of the line that each begins on; a quoted field may have several lines."""
    reader, rows, before = csv.reader(text.splitlines(keepends=True), delimiter=separator), [], 0
    for row in reader:
        rows.append((before + 1, row))
        before = reader.line_num
    return rows


def named_columns(label: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the columns; refuse a line that looks like a record, and show nothing of it.

    Whole numbers, such as years, may stand among names; numbers alone, and fractions, are somebody's data.
    """
    numbers = [name for name in names if number(name) is not None or number(name, ",") is not None]
    if numbers and (len(numbers) + names.count("") == len(names) or not all(map(str.isdigit, numbers))):
        raise FileError(f"{label}: the first line must name the columns; it holds numbers.")
    return names


def number(text: str, decimal: str = ".") -> float | None:
    """Return a field as a number; None where it is none.

    >>> number("1,5", ","), number("1.5", ","), number("1.5"), number("1_5")
    (1.5, None, 1.5, None)
    """
    if "_" in text or (decimal == "," and "." in text):
        return None
    try:
        return float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return None
