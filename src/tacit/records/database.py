"""A table or a query of a database, as records.

The server computes a query, and no more is asked of it than the columns that are used. What comes back is read as
it arrives, some thousand records at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import finalize

from tacit.errors import FileError, InputError
from tacit.records.address import DatabaseAddress
from tacit.records.connecting import connect, disconnect, duckdb, named, quoted
from tacit.records.files import ROWS
from tacit.spelling import did_you_mean


@dataclass(frozen=True)
class Database:
    """What an address names. It is opened when something is asked of it, and holds no record."""

    address: DatabaseAddress

    @property
    def label(self) -> str:
        """Return what is read, without the query."""
        return self.address.label

    @cached_property
    def _connection(self) -> Any:
        connection = connect(self.address)
        finalize(self, disconnect, connection)
        return connection

    def __getstate__(self) -> dict[str, Any]:
        """Return the address alone: another process opens a connection of its own."""
        return {"address": self.address}

    @cached_property
    def schema(self) -> Any:
        """The names and types of the columns."""
        self._refuse_absent()
        schema = self._answer("*", " LIMIT 0").to_arrow_table().schema.remove_metadata()
        twice = [name for name, count in Counter(schema.names).items() if count > 1]
        if twice:
            raise FileError(f"{self.label}: has two columns {twice[0]!r}; rename one, by AS.")
        return schema

    def pieces(self) -> Sequence[int]:
        """Return one piece: an answer comes in one stream."""
        return (0,)

    def batches(self, piece: int, columns: Sequence[str]) -> Iterator[Any]:
        """Return the records as they arrive, with these columns in this order."""
        with self._reading():
            yield from self._answer(", ".join(map(named, columns))).to_arrow_reader(ROWS)

    def count(self) -> int:
        """Return how many records there are."""
        with self._reading():
            return int(self._answer("count(*)").fetchall()[0][0])

    def _answer(self, columns: str, end: str = "") -> Any:
        """Return the answer to a SELECT of what the address names; PostgreSQL's are its server's own."""
        address = self.address
        of = named(*address.table) if address.table else f"(\n{address.query}\n) AS records"
        select = f"SELECT {columns} FROM {of}{end}"  # noqa: S608  # a member's own query, of its own database
        if address.kind in ("service", "env"):
            select = f"SELECT * FROM postgres_query('records', {quoted(select)})"  # noqa: S608
        with self._reading():
            return self._connection.execute(select)

    def _refuse_absent(self) -> None:
        """Refuse a table that is not there."""
        if not self.address.table:
            return
        known = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'records'"
        with self._reading():
            rows = self._connection.execute(known).fetchall()
        tables = {table for _, table in rows} | {f"{schema}.{table}" for schema, table in rows}
        wanted = ".".join(self.address.table)
        if wanted not in tables and wanted.casefold() not in map(str.casefold, tables):
            raise FileError(f"{self.label}: there is no such table.{did_you_mean(wanted, sorted(tables))}")

    def _reading(self) -> _Reading:
        return _Reading(self.address, answered="schema" in self.__dict__)


class _Reading:
    """Errors of DuckDB, as sentences that show nothing of what stands in a query, a database or a connection."""

    def __init__(self, address: DatabaseAddress, *, answered: bool) -> None:
        self.address, self.answered = address, answered

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        db = duckdb()
        if kind is None or not issubclass(kind, db.Error):
            return
        label = self.address.label
        if not self.answered and issubclass(kind, (db.ParserException, db.BinderException, db.CatalogException)):
            raise InputError(
                f"{label}: the database cannot answer; a table or column is not there or not readable, or it is "
                "not one SELECT."
            ) from None
        if issubclass(kind, db.OutOfMemoryException):
            raise InputError(
                f"{label}: takes more memory to sort or join than there may be; let the database keep its result "
                "as a table, and name that."
            ) from None
        if issubclass(kind, db.DataError):
            raise FileError(
                f"{label}: has values that are not of the type of their column; mend them, or cast the column."
            ) from None
        raise FileError(
            f"{label}: could not be read to its end; the connection was lost, or the query fails on some record."
        ) from None
