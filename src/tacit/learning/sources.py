"""One dataset per party, by the words of a command line: a file or a folder each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tacit.errors import FileError
from tacit.learning.files import UsedColumns, expanded, party_names
from tacit.records import Dataset, open_source
from tacit.tables import Reading


def open_datasets(
    sources: Sequence[str],
    target: str,
    *,
    words: bool = False,
    reading: Reading | None = None,
    selection: UsedColumns | None = None,
) -> dict[str, Dataset]:
    """Return every party's records by its name, which is that of its file; nothing is read but names and types."""
    reading, selection = (reading or Reading()).checked(), (selection or UsedColumns()).checked()
    paths = expanded([Path(source) for source in sources])
    arrays = next((path for path in paths if path.suffix.lower() == ".npz"), None)
    if arrays is not None:
        raise FileError(f"{arrays}: has no names of columns; use a .parquet or a .csv file.")
    return {
        name: Dataset.of(
            open_source(path, separator=reading.separator, decimal=reading.decimal),
            f"party {name}", target, columns=selection.columns, drop=selection.drop, words=words,
            weight=selection.weight, offset=selection.offset, exposure=selection.exposure, gaps=selection.missing,
        )
        for path, name in zip(paths, party_names(paths), strict=True)
    }  # fmt: skip
