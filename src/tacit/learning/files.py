"""One CSV file per party, read by the one reader: columns are matched by name, whatever the dialect.

All that is wrong with a file is said with its party, its line and its column, and without what stands there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, FileError
from tacit.listing import conjoined
from tacit.spelling import did_you_mean
from tacit.tables import Dictionary, Reading, Sheet, draft, match, read_sheet
from tacit.tables.dictionary import GAPS
from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class UsedColumns:
    """What is used of the files: which columns, and what becomes of records with gaps."""

    columns: Sequence[str] = ()
    """Features; all unless named."""
    drop: Sequence[str] = ()
    missing: str = "refuse"
    """refuse, or drop: records with a missing value are left out."""
    weight: str | None = None
    """The column with the weights of the records."""
    offset: str | None = None
    """The column that is added to the linear predictor."""

    exposure: str | None = None
    """The column whose logarithm is added to it."""

    def checked(self) -> UsedColumns:
        """Return this; refuse what contradicts itself."""
        if self.missing not in GAPS:
            meant = did_you_mean(self.missing, GAPS)
            raise DataError(f"missing = {self.missing!r} is not one of {conjoined(GAPS)}.{meant}")
        if self.offset is not None and self.exposure is not None:
            raise DataError("give an offset or an exposure, not both: the offset of an exposure is its logarithm.")
        return self

    @property
    def aside(self) -> list[str]:
        """The columns that are used, and are no features."""
        return [name for name in (self.weight, self.offset, self.exposure) if name is not None]


@dataclass(frozen=True, slots=True)
class Joined:
    """All parties' records, with the names of the columns. Never shown."""

    X: Array = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    groups: NDArray[Any] = field(repr=False)
    columns: tuple[str, ...]
    weight: Array | None = field(repr=False, default=None)
    offset: Array | None = field(repr=False, default=None)
    dropped: tuple[int, ...] | None = None
    """How many records each party left out; None where none may have gaps."""
    notes: tuple[str, ...] = ()
    """What was assumed about the files."""


def read_files(
    paths: Sequence[Path],
    target: str,
    *,
    words: bool = False,
    selection: UsedColumns | None = None,
    reading: Reading | None = None,
) -> Joined:
    """Return the records of all files; labels may be *words*, where the model takes classes."""
    selection, paths = (selection or UsedColumns()).checked(), expanded(paths)
    names = party_names(paths)
    sheets = [read_sheet(path, reading, label=f"party {name}") for path, name in zip(paths, names, strict=True)]
    for sheet in sheets:
        if target not in sheet.columns:
            meant = did_you_mean(target, sheet.columns)
            raise DataError(f"{sheet.label} has no column {target!r}, which is to be explained.{meant}")
    wanted = [*selection.columns, target, *selection.aside] if selection.columns else None
    sheets = [sheet.only(wanted, selection.drop) for sheet in sheets]
    numeric = [*selection.aside, *([] if words else [target])]
    drafted = draft(sheets, target, numeric=numeric)
    dictionary = msgspec.structs.replace(drafted.dictionary, gaps=selection.missing)
    tables = [match(sheet, dictionary, strict=True) for sheet in sheets]
    X, y = np.vstack([table.X for table in tables]), np.concatenate([table.y for table in tables])
    groups = np.repeat(np.array(names, dtype=object), [len(table.y) for table in tables])
    used = [k for k, name in enumerate(dictionary.names) if name not in selection.aside]
    if not used:
        raise DataError("no column is left to explain anything with.")
    asides = {name: X[:, dictionary.names.index(name)] for name in selection.aside}
    return Joined(
        X[:, used], _labels(y, dictionary, words=words), groups, tuple(dictionary.names[k] for k in used),
        weight=None if selection.weight is None else asides[selection.weight],
        offset=_offset(selection, asides),
        dropped=tuple(table.dropped for table in tables) if selection.missing == "drop" else None,
        notes=_assumed(sheets) + tuple(note for note in drafted.notes if "levels are written" not in note),
    )  # fmt: skip


def _offset(selection: UsedColumns, asides: dict[str, Array]) -> Array | None:
    if selection.exposure is None:
        return None if selection.offset is None else asides[selection.offset]
    if not (asides[selection.exposure] > 0).all():
        raise DataError(f"column {selection.exposure!r}: exposures must be positive in every record.")
    return np.log(asides[selection.exposure])


def _assumed(sheets: Sequence[Sheet]) -> tuple[str, ...]:
    """Return what was assumed, once for all files that are alike."""
    assumptions = [sheet.named("all files" if len(sheets) > 1 else sheet.label).assumption for sheet in sheets]
    if len(set(assumptions)) == 1:
        return tuple(sentence for sentence in assumptions[:1] if sentence)
    return tuple(sheet.assumption for sheet in sheets if sheet.assumption)


def _labels(y: Array, dictionary: Dictionary, *, words: bool) -> NDArray[Any]:
    """Return labels as they stand in the files: words, whole numbers, or numbers."""
    explained = dictionary.explained
    if explained.type == "factor":
        return np.array([explained.base, *explained.others])[y.astype(np.intp)]
    return y.astype(np.int64) if words and (y == np.rint(y)).all() else y


def expanded(paths: Sequence[Path]) -> list[Path]:
    """Return the files; a pattern that no shell has expanded, such as data/*.csv, stands for what it matches."""
    files: list[Path] = []
    for path in paths:
        if path.exists() or not any(sign in str(path) for sign in "*?["):
            files.append(path)
            continue
        matching = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        if not matching:
            raise FileError(f"{path}: matches no file.")
        files += matching
    return files


def party_names(paths: Sequence[Path]) -> list[str]:
    """Return the files' names without their endings; whole paths where two would be the same."""
    stems = Counter(path.stem for path in paths)
    names = [path.stem if stems[path.stem] == 1 else str(path) for path in paths]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise FileError(f"{twice} is given twice: each file is one party.")
    return names
