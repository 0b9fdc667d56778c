"""Connections to databases through DuckDB: read-only, offline, and with little memory.

DuckDB loads its readers of SQLite and PostgreSQL from packages that are installed beside it, and nothing from the
network. It writes nothing: no file, and no spill of what does not fit. One transaction lasts as long as the
connection, so that every pass finds the records as they were when it was opened, whatever is entered meanwhile.

What DuckDB says of an error may repeat a connection string, a query or a value. None of it is passed on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tacit.errors import FileError, InputError
from tacit.records.address import DatabaseAddress
from tacit.records.passing import cores

MEMORY = "160MB"
"""What DuckDB may take, for a sort or a join inside of a query."""
_EXTRA = "pip install 'tacit[sql]'"
_PINNED = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "temp_directory": "",
    "memory_limit": MEMORY, "preserve_insertion_order": "true",
}  # fmt: skip
_SESSION = {"default_transaction_read_only": "on", "synchronize_seqscans": "off"}
"""Sessions of PostgreSQL refuse to write, whatever the user may, and read tables from their beginning."""
_NAME = "records"
"""What the database is called inside of DuckDB."""


def duckdb() -> Any:
    """Return the module; say how it is installed where it is missing."""
    try:
        return import_module("duckdb")
    except ImportError:
        raise InputError(f"duckdb is not installed, which reads databases: {_EXTRA}.") from None


def connect(address: DatabaseAddress) -> Any:
    """Return a connection in a transaction that only reads; say what to do where there is none."""
    db = duckdb()
    connection = db.connect(":memory:", config={**_PINNED, "threads": str(cores())})
    try:
        if address.kind == "file":
            _attach_file(connection, Path(address.place))
        elif address.kind != "nothing":
            _attach_server(connection, address)
        if address.kind != "nothing":
            connection.execute(f"USE {_NAME}")
            connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        connection.execute("BEGIN TRANSACTION READ ONLY")
    except db.Error:
        connection.close()
        raise _unreachable(address) from None
    except BaseException:
        connection.close()
        raise
    return connection


def disconnect(connection: Any) -> None:
    """Close a connection whose server may be gone: then nothing is left to be rolled back."""
    with suppress(duckdb().Error):
        connection.execute("ROLLBACK")
    connection.close()


def _attach_file(connection: Any, path: Path) -> None:
    kind = _kind_of(path)
    if kind == "sqlite":
        _load(connection, "sqlite_scanner")
    connection.execute(f"ATTACH {quoted(str(path))} AS {_NAME} (TYPE {kind}, READ_ONLY)")


def _kind_of(path: Path) -> str:
    """Return what a file is by how it begins, and not by its ending."""
    try:
        with path.open("rb") as file:
            first = file.read(16)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from None
    if first.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if first[8:12] == b"DUCK":
        return "duckdb"
    raise FileError(f"{path}: is neither a DuckDB file nor a SQLite file.")


def _attach_server(connection: Any, address: DatabaseAddress) -> None:
    _load(connection, "postgres_scanner")
    if address.kind == "service":
        string = f"service={_for_libpq(address.place)}"
    else:
        string = os.environ.get(address.place, "").strip()
        if not string:
            raise InputError(
                f"the environment variable {address.place} is not set; it holds the connection string of the "
                "database."
            )
    connection.execute(f"ATTACH {quoted(_only_reading(string))} AS {_NAME} (TYPE postgres, READ_ONLY)")


def _only_reading(string: str) -> str:
    """Return a connection string whose sessions are set as above."""
    options = " ".join(f"-c{name}={value}" for name, value in _SESSION.items())
    if "://" not in string:
        return " ".join((string, f"options={_for_libpq(options)}"))
    return f"{string}{'&' if '?' in string else '?'}options={quote(options)}"


def _for_libpq(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _load(connection: Any, extension: str) -> None:
    package = f"duckdb_extension_{extension}"
    spec = find_spec(package)
    places = [] if spec is None else [Path(each) for each in spec.submodule_search_locations or ()]
    files = [file for place in places for file in place.rglob(f"{extension}.duckdb_extension")]
    version = f"v{duckdb().__version__}"
    matching = [file for file in files if version in file.parts]
    if not matching:
        reason = f"is of another version than duckdb, {version[1:]}" if files else "is not installed"
        raise InputError(f"{package.replace('_', '-')} {reason}, and reads such databases: {_EXTRA}.")
    connection.execute(f"LOAD {quoted(str(matching[0]))}")


def _unreachable(address: DatabaseAddress) -> FileError:
    if address.kind == "file":
        return FileError(
            f"{address.place}: cannot be opened as a database; it is damaged, or another process writes to it."
        )
    if address.kind == "service":
        where, string = f"service {address.place}", f"service={address.place}"
    else:
        where, string = f"the database of {address.place}", f'"${address.place}"'
    return FileError(f"{where}: cannot be reached; check host, port, user and password with `psql {string}`.")


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def named(*parts: str) -> str:
    """Return a name as SQL has it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
