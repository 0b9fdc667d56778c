"""Which words on a command line mean a dataset, and which source they name."""

from __future__ import annotations

from pathlib import Path

from tacit.records.address import DatabaseAddress, is_address
from tacit.records.database import Database
from tacit.records.files import FORMATS, Files
from tacit.records.passing import RecordSource

LONG = 1 << 28
"""Bytes from which a CSV file is read in batches, and no longer loaded."""


def is_dataset(data: str | Path) -> bool:
    """Tell whether records are read in batches: Parquet and Feather files, folders, databases, long CSV files."""
    if is_address(data):
        return True
    path = Path(data)
    if path.is_dir():
        return True
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return path.is_file() and path.stat().st_size >= LONG
    return suffix in FORMATS


def open_source(
    data: str | Path, *, folder: Path = Path(), separator: str | None = None, decimal: str | None = None
) -> RecordSource:
    """Return where the records are, in a *folder* if the path is relative; refuse what cannot be read."""
    if is_address(data):
        return Database(DatabaseAddress.read(str(data), folder))
    return Files.at(folder / data, separator=separator, decimal=decimal)
