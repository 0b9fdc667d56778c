"""A member's own file against the data dictionary, before anything is sent.

Everything that does not match is listed at once, with column, line and level: for the terminal of whoever holds the
file. Others hear that it does not match, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import MismatchError
from tacit.listing import conjoined, listed
from tacit.showing import Readable
from tacit.spelling import did_you_mean
from tacit.tables.dates import days
from tacit.tables.dictionary import Column, Dictionary
from tacit.tables.sheet import Sheet
from tacit.typing import Array

_SHOWN = 8  # findings that an error lists; a review has all

Trouble = Literal["no column", "further column", "missing", "no number", "no date", "no level", "beyond limits"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not match."""

    column: str
    trouble: Trouble
    sentence: str
    line: int | None = None
    """The first line concerned."""
    count: int = 1
    """How many records are concerned."""


@dataclass(frozen=True, slots=True)
class Records:
    """A file's records as numbers, in the order of the dictionary. Never shown."""

    X: Array = field(repr=False)
    y: NDArray[np.float64] = field(repr=False)
    """Of a factor the number of its level: 0 for the reference."""
    names: tuple[str, ...]
    dropped: int = 0
    """Records left out because something was missing."""


@dataclass(frozen=True, slots=True)
class Comparison(Readable):
    """How a file compares with the dictionary."""

    label: str
    records: int
    findings: tuple[Finding, ...]
    missing: dict[str, int]
    """Missing values of every column."""
    dropped: int
    """Records that would be left out."""
    ignored: tuple[str, ...]
    """Columns of the file that are not in the dictionary."""

    @property
    def matches(self) -> bool:
        """Whether the file can be used."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """Return the review for JSON."""
        return {**asdict(self), "matches": self.matches}

    def __str__(self) -> str:
        sentences = [finding.sentence for finding in self.findings[:_SHOWN]]
        more = len(self.findings) - len(sentences)
        return f"{self.label}: " + " ".join(sentences + [f"And {more} more."] * bool(more))


def review(sheet: Sheet, dictionary: Dictionary, *, strict: bool = False) -> Comparison:
    """Return all that does not match; *strict* refuses columns that the dictionary does not know."""
    return _compared(sheet, dictionary, strict=strict)[0]


def match(sheet: Sheet, dictionary: Dictionary, *, strict: bool = False) -> Records:
    """Return the records of a file; refuse a file that does not match."""
    comparison, values = _compared(sheet, dictionary, strict=strict)
    if not comparison.matches:
        raise MismatchError(str(comparison))
    keep = np.isfinite(values).all(axis=1)
    values = values[keep]
    X = [coded for column in dictionary.features for coded in _coded(values, dictionary, column)]
    y = values[:, dictionary.columns.index(dictionary.explained)]
    return Records(np.column_stack(X), y, dictionary.names, int((~keep).sum()))


def mapped(sheet: Sheet, dictionary: Dictionary, *, strict: bool = False) -> Records:
    """Return the records of a file, whatever stands in them; refuse a file without the columns, and nothing else.

    A number beyond its limits becomes the limit. What is missing, or cannot be read, becomes the reference level
    of a factor, and of a number the one that is nearest to 0 within its limits; where the dictionary says that
    records with gaps are left out, such a one is. Nobody hears of any of it: where answers are to be differentially
    private, no complaint may depend on a record.
    """
    known = [column.name for column in dictionary.columns]
    comparison = _structure(sheet, known, strict=strict)
    if comparison:
        raise MismatchError(f"{sheet.label}: " + " ".join(finding.sentence for finding in comparison[:_SHOWN]))
    every = [_column(sheet, column, dictionary)[1] for column in dictionary.columns]
    values = np.column_stack(every) if every else np.zeros((len(sheet), 0))
    kept = np.isfinite(values).all(axis=1) if dictionary.gaps == "drop" else np.ones(len(sheet), dtype=bool)
    for k, column in enumerate(dictionary.columns):
        low = -np.inf if column.low is None else column.low
        high = np.inf if column.high is None else column.high
        values[:, k] = np.clip(np.where(np.isnan(values[:, k]), 0.0, values[:, k]), low, high)
    values = values[kept]
    X = [coded for column in dictionary.features for coded in _coded(values, dictionary, column)]
    return Records(np.column_stack(X), values[:, known.index(dictionary.target)], dictionary.names)


def _structure(sheet: Sheet, known: list[str], *, strict: bool) -> list[Finding]:
    """Return which columns are not there, and with *strict* which should not be."""
    findings = [_absent(name, sheet.columns) for name in known if name not in sheet.columns]
    ignored = [name for name in sheet.columns if name not in known]
    if strict and ignored:
        sentence = f"column {ignored[0]!r} is not among {listed(known)}."
        findings.append(Finding(ignored[0], "further column", sentence))
    return findings


def _compared(sheet: Sheet, dictionary: Dictionary, *, strict: bool) -> tuple[Comparison, Array]:
    """Return the review, and one number for every field: of a factor its level's, NaN where it is missing."""
    known = [column.name for column in dictionary.columns]
    ignored = tuple(name for name in sheet.columns if name not in known)
    findings = _structure(sheet, known, strict=strict)
    values, missing = np.full((len(sheet), len(known)), np.nan), dict.fromkeys(known, 0)
    for k, column in enumerate(dictionary.columns):
        if column.name in sheet.columns:
            wrong, values[:, k] = _column(sheet, column, dictionary)
            findings += wrong
            missing[column.name] = int(np.isnan(values[:, k]).sum() - sum(f.count for f in wrong if _unread(f)))
    dropped = int(np.isnan(values).any(axis=1).sum()) if dictionary.gaps == "drop" and not findings else 0
    if not findings and dropped == len(sheet):
        findings.append(Finding("", "missing", "every record has a missing value; nothing would be left."))
    return Comparison(sheet.label, len(sheet), tuple(findings), missing, dropped, ignored), values


def _unread(finding: Finding) -> bool:
    return finding.trouble in ("no number", "no date", "no level")


def _column(sheet: Sheet, column: Column, dictionary: Dictionary) -> tuple[list[Finding], Array]:
    """Return what is wrong with one column, and its numbers."""
    codes = {code.casefold() for code in (*dictionary.missing, *column.missing)}
    values = np.full(len(sheet), np.nan)
    gaps: list[int] = []
    unread: list[tuple[int, str]] = []
    beyond: list[int] = []
    words = (column.base, *column.others) if column.type == "factor" else ()
    places = {level: float(place) for place, level in enumerate(words)}
    low, high = -np.inf if column.low is None else column.low, np.inf if column.high is None else column.high
    for row, ((line, _), text) in enumerate(zip(sheet.lines, sheet.texts(column.name), strict=True)):
        if text not in places and text.casefold() in codes:
            gaps.append(line)
            continue
        value = _value(sheet, column, text, places)
        if value is None:
            unread.append((line, text))
        elif not np.isfinite(value):
            gaps.append(line)
        else:
            values[row] = value
            if not low <= value <= high:
                beyond.append(line)
    findings = [_misfit(column, unread)] if unread else []
    findings += [_beyond(column, beyond)] if beyond else []
    if gaps and dictionary.gaps == "refuse":
        findings.append(
            Finding(
                column.name, "missing", f"line {gaps[0]}, column {column.name!r}: is missing"
                f"{_more(gaps)}; fill or drop the record.", gaps[0], len(gaps),
            )
        )  # fmt: skip
    return findings, values


def _value(sheet: Sheet, column: Column, text: str, places: dict[str, float]) -> float | None:
    if column.type == "factor":
        return places.get(text)
    return days(text, column.form, column.since) if column.type == "date" else sheet.number(text)


def _misfit(column: Column, fields: Sequence[tuple[int, str]]) -> Finding:
    line, lines = fields[0][0], [line for line, _ in fields]
    where = f"line {line}, column {column.name!r}:"
    if column.type == "factor":
        words = list(Counter(text for _, text in fields))
        meant = did_you_mean(words[0], column.levels)
        sentence = f"{where} {listed(words)} is no level{_more(lines)}; it has {listed(column.levels)}.{meant}"
        return Finding(column.name, "no level", sentence, line, len(fields))
    if column.type == "date":
        sentence = f"{where} is no date of the form {column.form}{_more(lines)}."
        return Finding(column.name, "no date", sentence, line, len(fields))
    sentence = f"{where} is not a number{_more(lines)}; encode it as one."
    return Finding(column.name, "no number", sentence, line, len(fields))


def _beyond(column: Column, lines: Sequence[int]) -> Finding:
    named = {"low": column.low, "high": column.high}
    limits = [f"{name} = {limit:g}" for name, limit in named.items() if limit is not None]
    sentence = f"line {lines[0]}, column {column.name!r}: is beyond {conjoined(limits)}{_more(lines)}."
    return Finding(column.name, "beyond limits", sentence, lines[0], len(lines))


def _absent(name: str, columns: Sequence[str]) -> Finding:
    near = next((column for column in columns if column.casefold() == name.casefold()), None)
    instead = f"{near!r}, which is not the same." if near else f"{listed(columns)}.{did_you_mean(name, columns)}"
    return Finding(name, "no column", f"has no column {name!r}; it has {instead}")


def _coded(values: Array, dictionary: Dictionary, column: Column) -> list[Array]:
    """Return the columns of the design that one column becomes."""
    value = values[:, dictionary.columns.index(column)]
    if column.type != "factor":
        return [value]
    return [(value == place).astype(np.float64) for place in range(1, len(column.levels))]


def _more(lines: Sequence[int]) -> str:
    return f", and in {len(lines) - 1} more line{'s' * (len(lines) > 2)}" if len(lines) > 1 else ""
