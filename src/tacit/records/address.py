"""What the words `duckdb:…` name: a database, and a table or a query in it.

    duckdb:clinic.duckdb::visits                        a table of a DuckDB file
    duckdb:clinic.sqlite::SELECT age, dose FROM visits  a query, of a SQLite file
    duckdb:service:clinic::visits                       PostgreSQL, as libpq's service file says
    duckdb:env:CLINIC_DATABASE::visits                  PostgreSQL, as an environment variable says
    duckdb:SELECT age, dose FROM 'visits/*.parquet'     files, by a query

What is typed is seen by others: in lists of processes, in histories, in files that are sent around. So a connection
string, which may hold a password, is never part of an address; and no sentence repeats a query.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from tacit.errors import InputError

PREFIX = "duckdb:"
_QUERY = re.compile(r"\s*(select|with|from|values)\b", re.IGNORECASE)
_SHAPE = (
    "databases are given as 'duckdb:FILE::TABLE', 'duckdb:service:NAME::TABLE' or 'duckdb:env:VARIABLE::TABLE', "
    "with a table or a SELECT after the two colons."
)
_CONNECTION = re.compile(r"://|password|(host|hostaddr|user|dbname|port)\s*=", re.IGNORECASE)

PlaceKind = Literal["file", "service", "env", "nothing"]


class DatabaseAddress(NamedTuple):
    """A database, and what is asked of it."""

    kind: PlaceKind
    place: str
    """A path, the name of a service, or of a variable."""
    table: tuple[str, ...]
    """The parts of a table's name; none of a query."""
    query: str
    """Empty for a table."""

    @classmethod
    def read(cls, text: str, folder: Path = Path()) -> DatabaseAddress:
        """Return what the words name; files lie in the *folder*. Refuse what could hold a password, unrepeated."""
        rest = text.removeprefix(PREFIX).strip()
        if _QUERY.match(rest):
            return cls("nothing", "", (), _single(rest))
        place, colons, what = (part.strip() for part in rest.partition("::"))
        if _CONNECTION.search(place):
            raise InputError(
                "a connection string is not typed, since others see it and it may hold a password: put it into an "
                "environment variable and say 'duckdb:env:VARIABLE::TABLE', or use libpq's service file and say "
                "'duckdb:service:NAME::TABLE'."
            )
        if not place or not colons or not what:
            raise InputError(_SHAPE)
        table, query = ((), _single(what)) if _QUERY.match(what) else (_parts(what), "")
        for kind in ("service", "env"):
            if place.startswith(f"{kind}:"):
                return cls(kind, place.removeprefix(f"{kind}:"), table, query)
        return cls("file", str(folder / place), table, query)

    @property
    def name(self) -> str:
        """What a party is called that is given like this."""
        return Path(self.place).stem if self.kind == "file" else self.place or "query"

    @property
    def label(self) -> str:
        """What is read, for sentences; without the query."""
        what = "table " + ".".join(self.table) if self.table else "the query"
        where = {"file": self.place, "service": f"service {self.place}", "env": f"the database of {self.place}"}
        return f"{what} of {where[self.kind]}" if self.kind in where else what


def is_address(data: object) -> bool:
    """Tell whether something names a database."""
    return isinstance(data, str) and data.startswith(PREFIX)


def _single(query: str) -> str:
    return query.strip().rstrip(";").strip()


def _parts(table: str) -> tuple[str, ...]:
    """Return the schema and the table; a name with a point in it is put into double quotes."""
    parts = re.findall(r'"((?:[^"]|"")+)"|([^".\s]+)', table)
    names = tuple(quoted.replace('""', '"') or plain for quoted, plain in parts)
    if not names or ".".join(_as_written(*part) for part in parts) != table:
        raise InputError(_SHAPE)
    return names


def _as_written(quoted: str, plain: str) -> str:
    return f'"{quoted}"' if quoted else plain
