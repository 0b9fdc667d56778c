"""CSV as people have it: commas or semicolons, points or decimal commas, UTF-8 or what an old spreadsheet wrote.

What is not given is read off the file, and `Dialect.sentence` says what was assumed. A number that does not fit the
dialect is no number.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tacit.errors import InputError

SEPARATORS = (",", ";", "\t", "|")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "point": "."}
_SAMPLE = 200  # lines that are looked at
_POINT, _COMMA = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?"), re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a file is to be read, as far as somebody says so; the rest is read off the file."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def checked(self) -> Reading:
        """Return the same with words such as tab and comma as signs; refuse what cannot be read."""
        separator = _WORDS.get(self.separator or "", self.separator)
        decimal = _WORDS.get(self.decimal or "", self.decimal)
        if separator is not None and (len(separator) != 1 or separator.isalnum() or separator in "\"\r\n. '"):
            raise InputError(f"separator = {separator!r} must be one sign: comma, semicolon, tab or bar.")
        if decimal not in (None, ".", ","):
            raise InputError(f"decimal = {decimal!r} must be a point or a comma.")
        if separator is not None and separator == decimal:
            raise InputError("separator and decimal sign cannot both be a comma.")
        try:
            if self.encoding is not None:
                codecs.lookup(self.encoding)
        except LookupError:
            raise InputError(f"no encoding is called {self.encoding!r}; try utf-8 or latin-1.") from None
        return Reading(separator, decimal, self.encoding)


class Dialect(NamedTuple):
    """How a file was read."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def sentence(self) -> str:
        """What was assumed, for people."""
        decimal = "decimal commas" if self.decimal == "," else "decimal points"
        apart = _NAMES.get(self.separator, repr(self.separator))
        return f"{apart} between columns, {decimal}, {self.encoding}"

    @property
    def is_plain(self) -> bool:
        """Whether it is what nobody needs to be told: commas, points and UTF-8."""
        return self[:2] == (",", ".") and self.encoding.startswith("utf-8")


def decode(raw: bytes, reading: Reading) -> tuple[str, str]:
    """Return the text and its encoding; a file that is no text raises UnicodeDecodeError."""
    marked = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), None)
    if marked is None and b"\0" in raw and reading.encoding is None:
        raise UnicodeDecodeError("utf-8", raw[:1], 0, 1, "no text")
    if reading.encoding is not None:
        same = marked is not None and codecs.lookup(reading.encoding).name == "utf-8"
        encoding = marked if same and marked else reading.encoding
        return raw.decode(encoding), encoding
    if marked is not None:
        return raw.decode(marked), marked
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        encoding = "cp1252" if any(0x80 <= byte <= 0x9F for byte in raw) else "latin-1"
        return raw.decode(encoding), encoding


def sniff(text: str, reading: Reading) -> tuple[str, str]:
    """Return the separator and the decimal sign."""
    lines = [line for line in text.splitlines()[:_SAMPLE] if line.strip()]
    separator = reading.separator or _separator(lines, reading.decimal)
    if reading.decimal is not None or separator == ",":
        return separator, reading.decimal or "."
    fields = [field.strip() for line in csv.reader(lines[1:], delimiter=separator) for field in line]
    commas = sum(_COMMA.fullmatch(field) is not None for field in fields)
    points = sum(_POINT.fullmatch(field) is not None for field in fields)
    return separator, "," if commas > points else "."


def _separator(lines: Sequence[str], decimal: str | None) -> str:
    """Return the sign that cuts most lines into as many fields as the first one; of several, into the most."""
    best, chosen = (0.0, 1), ","
    for sign in SEPARATORS:
        if sign == decimal:
            continue
        widths = [len(fields) for fields in csv.reader(lines, delimiter=sign)]
        if not widths or widths[0] < 2:
            continue
        rest = widths[1:] or widths
        score = (sum(width == widths[0] for width in rest) / len(rest), widths[0])
        if score > best:
            best, chosen = score, sign
    if best[0]:
        return chosen
    headings = {sign: lines[0].count(sign) for sign in SEPARATORS if lines and sign != decimal}
    most = max(headings.values(), default=0)  # no line fits the first: cut that one, and say which line is short
    return next((sign for sign, count in headings.items() if count == most), ",") if most else ","
