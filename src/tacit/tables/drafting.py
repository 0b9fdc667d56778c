"""A data dictionary drafted from a file: what its columns look like, for people to correct.

A draft is written into a public file. So it has names, types and the levels of factors, and no limits: the least
and the largest value of a column are somebody's records, and public limits are for people to say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from tacit.errors import MismatchError
from tacit.spelling import did_you_mean
from tacit.tables.dates import days, format_of
from tacit.tables.dictionary import MISSING, Column, Dictionary
from tacit.tables.sheet import Sheet

_MOST_LEVELS = 20  # words in a column, from which on they look like names or remarks
_OTHERWISE = {"%d/%m/%Y": "%m/%d/%Y"}  # how the same digits are read elsewhere


class Draft(NamedTuple):
    """A dictionary, and what to look at before it is sent to anybody."""

    dictionary: Dictionary
    notes: tuple[str, ...]

    def to_toml(self) -> str:
        """Return the [data] of a manifest or a problem file."""
        return msgspec.toml.encode({"data": msgspec.to_builtins(self.dictionary)}).decode()


def draft(sheets: Sheet | Sequence[Sheet], target: str | None = None, *, numeric: Collection[str] = ()) -> Draft:
    """Return a dictionary for all *sheets*, with the columns in the order of the first.

    *target* is the last column unless given. *numeric* columns are numbers, whatever stands in them.
    """
    sheets = [sheets] if isinstance(sheets, Sheet) else list(sheets)
    first = sheets[0]
    target = target or first.columns[-1]
    for sheet in sheets:
        missing = [name for name in (target, *first.columns) if name not in sheet.columns]
        if missing:
            raise MismatchError(
                f"{sheet.label}: has no column {missing[0]!r}; it has {', '.join(sheet.columns)}."
                f"{did_you_mean(missing[0], sheet.columns)}"
            )
    columns, notes = [], []
    for name in first.columns:
        column, remarks = (Column(name), []) if name in numeric else _column(sheets, name)
        columns.append(column)
        notes += remarks
    return Draft(Dictionary(target, tuple(columns)).checked(), tuple(notes))


def _column(sheets: Sequence[Sheet], name: str) -> tuple[Column, list[str]]:
    codes = {code.casefold() for code in MISSING}
    fields = [(sheet, text) for sheet in sheets for text in sheet.texts(name) if text.casefold() not in codes]
    numbers = [value for sheet, text in fields if (value := sheet.number(text)) is not None]
    if 2 * len(numbers) >= len(fields):  # a few words among numbers are mistakes, and matching names their lines
        return Column(name), [_IDENTIFIER.format(name=name)] * _is_identifier(name, numbers, len(fields))
    texts = [text for _, text in fields]
    form = format_of(texts)
    if form is not None:
        return _date(name, form, texts)
    return _factor(sheets[0].label, name, tuple(sorted(set(texts))))


_IDENTIFIER = "{name}: counts the records, or names them; leave it out unless it measures something."


def _is_identifier(name: str, numbers: list[float], count: int) -> bool:
    """Tell whether a column has every whole number once, in order or under such a name."""
    values = np.array(numbers)
    if count < 3 or len(values) < count or not np.isfinite(values).all():
        return False
    once = len(np.unique(values)) == count and bool((values == np.rint(values)).all())
    called = name.casefold() in ("id", "nr", "no") or name.casefold().endswith(("_id", "-id", " id"))
    return once and (called or bool((np.diff(values) == 1.0).all()))


def _date(name: str, form: str, texts: Sequence[str]) -> tuple[Column, list[str]]:
    column = Column(name, type="date", form=form)
    notes = [f"{name}: dates of the form {form} become {column.becomes}."]
    other = _OTHERWISE.get(form)
    if other is not None and all(days(text, other) is not None for text in texts):
        notes.append(f"{name}: could be {other} as well; change form in [data] if it is.")
    return column, notes


def _factor(label: str, name: str, levels: tuple[str, ...]) -> tuple[Column, list[str]]:
    where = f"{label}: column {name!r}"
    if len(levels) > _MOST_LEVELS:
        raise MismatchError(
            f"{where} holds {len(levels)} different words: names, remarks, or numbers in another way of writing? "
            "Leave it out, encode it, or say what separates fields and decimals.",
            command="--drop leaves it out; see --separator and --decimal too.",
        )
    if len(levels) < 2:
        raise MismatchError(f"{where} holds one word everywhere; leave it out.", command="--drop leaves it out.")
    alike = [(a, b) for a in levels for b in levels if a < b and a.casefold() == b.casefold()]
    if alike:
        raise MismatchError(f"{where} has the levels {alike[0][0]!r} and {alike[0][1]!r}: write it in one way.")
    column = Column(name, type="factor", levels=levels)
    return column, [f"{name}: its levels are written down for all to see; {column.becomes}."]
