"""Files of a fit whose answer is to be differentially private: what they hold is declared, and never read off them.

Columns are numbers, in the order of the first party's line of names; classes are those of the model. What stands in
a record decides about its own row, and about nothing else: `tacit.tables.unquestioned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tacit.errors import DataError, InputError
from tacit.learning.files import Joined, UsedColumns, expanded, party_names
from tacit.records import is_dataset
from tacit.spelling import did_you_mean
from tacit.tables import Column, Dictionary, Reading, mapped, plain, read_unquestioned


def read_declared(
    sources: Sequence[str], target: str, *, model: Any, reading: Reading | None, selection: UsedColumns | None
) -> Joined:
    """Return the records of all files, mapped to what is declared; refuse what is not of their lines of names."""
    selection = (selection or UsedColumns()).checked()
    if any(map(is_dataset, sources)):
        raise InputError("epsilon takes CSV files: records that stay in a dataset cannot be clipped here.")
    if selection.aside:
        raise InputError("epsilon does not go with weights or offsets: what one record does has no bound then.")
    paths = expanded([Path(source) for source in sources])
    names = party_names(paths)
    sheets = [
        read_unquestioned(path, reading, label=f"party {name}") for path, name in zip(paths, names, strict=True)
    ]
    for sheet in sheets:
        if target not in sheet.columns:
            meant = did_you_mean(target, sheet.columns)
            raise DataError(f"{sheet.label} has no column {target!r}, which is to be explained.{meant}")
    wanted = [*selection.columns, target] if selection.columns else None
    sheets = [sheet.only(wanted, selection.drop) for sheet in sheets]
    dictionary = _dictionary(sheets[0].columns, target, getattr(model, "classes", None), selection.missing)
    tables = [mapped(sheet, dictionary, strict=True) for sheet in sheets]
    labels = [_labels(table.y, dictionary.explained) for table in tables]
    groups = np.repeat(np.array(names, dtype=object), [len(each) for each in labels])
    return Joined(np.vstack([table.X for table in tables]), np.concatenate(labels), groups, dictionary.names)


def _dictionary(columns: Sequence[str], target: str, classes: Sequence[Any] | None, gaps: str) -> Dictionary:
    """Return what the columns mean: numbers, and for a target of words the classes that the model declares."""
    dictionary = msgspec.structs.replace(plain(columns, target), gaps=gaps)
    if not classes or not all(isinstance(word, str) for word in classes):
        return dictionary
    explained = Column(target, type="factor", levels=tuple(classes))
    columns_ = tuple(explained if column.name == target else column for column in dictionary.columns)
    return msgspec.structs.replace(dictionary, columns=columns_)


def _labels(y: np.ndarray[Any, Any], explained: Column) -> np.ndarray[Any, Any]:
    return np.array(explained.levels)[y.astype(np.intp)] if explained.levels else y
