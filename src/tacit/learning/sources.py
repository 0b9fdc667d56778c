"""One dataset per party, by the words of a command line: a file, a folder, or a table or query of a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tacit.errors import FileError
from tacit.learning.files import UsedColumns, expanded, party_names
from tacit.records import DatabaseAddress, Dataset, is_address, open_source
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
    return {
        name: Dataset.of(
            open_source(source, separator=reading.separator, decimal=reading.decimal),
            f"party {name}", target, columns=selection.columns, drop=selection.drop, words=words,
            weight=selection.weight, offset=selection.offset, exposure=selection.exposure, gaps=selection.missing,
        )
        for name, source in _named(sources)
    }  # fmt: skip


def _named(sources: Sequence[str]) -> list[tuple[str, str | Path]]:
    """Return every party's source with its name: that of its file, or of its database."""
    each = [one for source in sources for one in ([source] if is_address(source) else expanded([Path(source)]))]
    files = [source for source in each if isinstance(source, Path)]
    arrays = next((path for path in files if path.suffix.lower() == ".npz"), None)
    if arrays is not None:
        raise FileError(f"{arrays}: has no names of columns; use a .parquet or a .csv file.")
    of_files = iter(party_names(files))
    names = [next(of_files) if isinstance(source, Path) else DatabaseAddress.read(source).name for source in each]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise FileError(f"two parties would be called {twice[0]}, after their databases: each is one party.")
    return list(zip(names, each, strict=True))
