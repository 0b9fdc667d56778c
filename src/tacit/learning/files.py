"""One CSV file per party: a line of column names, then one record a line.

All that is wrong with a file is said with its party, its line and its column, and without what stands there.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, FileError
from tacit.learning.parties import refuse_other_columns
from tacit.typing import Array


class Records(NamedTuple):
    """All parties' records, with the names of the columns."""

    X: Array
    y: NDArray[Any]
    groups: NDArray[Any]
    columns: tuple[str, ...]


def read_files(paths: Sequence[Path], target: str, *, words: bool = False) -> Records:
    """Return the records of all files; labels may be *words*, where the model takes classes."""
    paths = expanded(paths)
    names = party_names(paths)
    tables = {name: _lines(path, name) for name, path in zip(names, paths, strict=True)}
    first = names[0]
    for name, (columns, _) in tables.items():
        if target not in columns:
            raise DataError(f"party {name} has no column {target!r}, which is to be explained; --target names it.")
        refuse_other_columns(name, columns, first, tables[first][0])
    expected = tables[first][0]
    at = expected.index(target)
    features = tuple(column for column in expected if column != target)
    X, labels, groups = [], [], []
    for name, (_, lines) in tables.items():
        for number, line in lines:
            fields = zip(line, expected, strict=True)
            X.append([_number(field, name, number, column) for field, column in fields if column != target])
            labels.append((line[at].strip(), name, number))
            groups.append(name)
    y = _labels(labels, target, words=words)
    return Records(np.array(X, dtype=np.float64).reshape(len(labels), -1), y, np.array(groups), features)


def expanded(paths: Sequence[Path]) -> list[Path]:
    """Return the files; a pattern that no shell has expanded, such as data/*.csv, stands for what it matches."""
    found: list[Path] = []
    for path in paths:
        if path.exists() or not any(sign in str(path) for sign in "*?["):
            found.append(path)
            continue
        matching = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        if not matching:
            raise FileError(f"{path}: matches no file.")
        found += matching
    return found


def party_names(paths: Sequence[Path]) -> list[str]:
    """Return the files' names without their endings; whole paths where two would be the same."""
    stems = Counter(path.stem for path in paths)
    names = [path.stem if stems[path.stem] == 1 else str(path) for path in paths]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise FileError(f"{twice} is given twice: each file is one party.")
    return names


def _lines(path: Path, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), start=1) if row]
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (UnicodeDecodeError, csv.Error):
        raise FileError(f"{path}: is not a readable .csv file.") from None
    if len(rows) < 2:
        raise DataError(f"party {name}: {path.name} needs a line of column names and at least one record.")
    columns = [column.strip() for column in rows[0][1]]
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(f"party {name} has two columns {twice[0]!r}; rename one.")
    for number, row in rows[1:]:
        if len(row) != len(columns):
            raise DataError(f"party {name}, line {number}: {len(row)} fields, where the header has {len(columns)}.")
    return columns, rows[1:]


def _number(field: str, name: str, line: int, column: str) -> float:
    try:
        value = float(field.strip() or "nan")
    except ValueError:
        said = f"party {name}, line {line}, column {column!r}: is not a number; encode it as one."
        raise DataError(said) from None
    if not np.isfinite(value):
        raise DataError(f"party {name}, line {line}, column {column!r}: is missing; fill or drop the record.")
    return value


def _labels(found: list[tuple[str, str, int]], target: str, *, words: bool) -> NDArray[Any]:
    for label, name, line in found:
        if not label or label.lower() in ("nan", "na", "null"):
            raise DataError(f"party {name}, line {line}, column {target!r}: is missing; fill or drop the record.")
    try:
        numbers = np.array([float(label) for label, _, _ in found])
    except ValueError:
        if not words:
            for label, name, line in found:
                _number(label, name, line, target)
        return np.array([label for label, _, _ in found])
    if words and (numbers == np.rint(numbers)).all():
        return numbers.astype(np.int64)
    return numbers
