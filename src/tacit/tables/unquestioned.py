"""A file read so that no record is complained about, and none changes how another one is read.

Where an answer is to be differentially private, whether an agent refuses may not depend on a record: a refusal is a
bit without noise. And one record may move the cost by its own part only. So, with everything else public:

    dialect                       as given, or commas, decimal points and UTF-8; never read off the file
    a line                        a record by itself, whatever quotes stand in it
    too few fields, too many      the others are missing; the rest is cut off
    what is no text               a sign that stands for it, and so no number and no level
    no record at all              a table of none

What is wrong with the line of names is said as everywhere: no record stands there.
"""

from __future__ import annotations

import csv
from pathlib import Path

from tacit.errors import FileError
from tacit.tables.dialect import Dialect, Reading
from tacit.tables.sheet import INDEX, Sheet, named_columns, refuse_twice


def read_unquestioned(path: Path, reading: Reading | None = None, *, label: str | None = None) -> Sheet:
    """Return what stands in a CSV file; refuse one without names of columns, and nothing else."""
    reading, label = (reading or Reading()).checked(), label or str(path)
    dialect = Dialect(reading.separator or ",", reading.decimal or ".", reading.encoding or "utf-8-sig")
    try:
        text = path.read_bytes().decode(dialect.encoding, errors="replace")
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    lines = [
        (number, line.strip("\r").replace("\0", "\ufffd"))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    columns = named_columns(label, _fields(lines[0][1], dialect) if lines else ())
    if not columns:
        raise FileError(f"{label}: needs a line of column names.")
    has_index = len(columns) > 1 and columns[0] in INDEX
    rows = [(number, _padded(_fields(line, dialect), len(columns))) for number, line in lines[1:]]
    if has_index:
        columns, rows = columns[1:], [(number, fields[1:]) for number, fields in rows]
    refuse_twice(label, columns)
    return Sheet(label, columns, tuple(rows), dialect, has_index)


def _fields(line: str, dialect: Dialect) -> tuple[str, ...]:
    """Return the fields of one line; none where it has no end that a reader would take."""
    try:
        row = next(csv.reader([line], delimiter=dialect.separator), [])
    except csv.Error:
        return ()
    return tuple(field.strip() for field in row)


def _padded(fields: tuple[str, ...], width: int) -> tuple[str, ...]:
    return (*fields, *[""] * (width - len(fields)))[:width]
