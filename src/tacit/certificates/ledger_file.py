"""The file of a ledger: rows that are chained by their hashes, in a SQLite database that only grows.

Every row carries the SHA-256 of itself and of the row before, the first one that of the ledger's terms, and the
head of the chain is kept beside them, so that a changed, missing or reordered row is noticed (not a forger who
rewrites the whole file: keep copies). Triggers refuse updates and deletions; a row is on disk before `append`
returns (write-ahead log, full synchronisation).
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import sqlite3
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tacit.certificates.finite import finite_or_none
from tacit.certificates.release import Release
from tacit.errors import FileError, LedgerError
from tacit.showing import Readable

_SCHEMA = """
CREATE TABLE terms (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    recorded REAL NOT NULL,
    release TEXT NOT NULL,
    epsilon REAL NOT NULL,
    chain TEXT NOT NULL
) STRICT;
CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, chain TEXT NOT NULL) STRICT;
CREATE TRIGGER head_remains BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER terms_stay BEFORE UPDATE ON terms BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER terms_remain BEFORE DELETE ON terms BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER rows_stay BEFORE UPDATE ON releases BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER rows_remain BEFORE DELETE ON releases BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
PRAGMA user_version = 1;
"""
_UNLIMITED = 1e308  # what stands in a row for an infinite ε


@dataclass(frozen=True, slots=True)
class Entry(Readable):
    """One row: a release, when it was recorded, and what it cost."""

    number: int
    recorded: float
    release: Release
    epsilon: float
    """ε of this run alone against every coalition of the ledger's size; 0 for a repeated view, and what it rises by
    where a run went on without somebody."""

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.recorded, UTC)
        return (
            f"Entry {self.number}, {when:%Y-%m-%d %H:%M} UTC: run {self.release.run} of "
            f"{len(self.release.participants)} agents, ε = {self.epsilon:.4g}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row for JSON; ∞ becomes None."""
        return {
            "number": self.number,
            "run": self.release.run,
            "recorded": self.recorded,
            "agents": len(self.release.participants),
            "sigma": list(self.release.sigmas),
            "basis": self.release.basis,
            "cost_version": self.release.cost_version,
            "epsilon": finite_or_none(self.epsilon),
            "answer": None if self.release.answer is None else msgspec.to_builtins(self.release.answer),
        }


class LedgerFile:
    """The database; *terms* are those of a new one, and those that an old one must have."""

    def __init__(self, path: Path, terms: Mapping[str, object]) -> None:
        self.path = path
        if not self.path.parent.is_dir():
            raise FileError(f"{self.path}: the folder does not exist.")
        if self.path.exists() and self.path.stat().st_size == 0:
            raise LedgerError(f"{self.path}: is empty, and a ledger never is; restore a copy.")
        fresh = not self.path.exists()
        try:
            self._database = sqlite3.connect(self.path, isolation_level=None, timeout=30.0)
            weakref.finalize(self, _close, self._database)
            self._database.execute("PRAGMA synchronous = FULL")
            self.terms = self._opened({name: value for name, value in terms.items() if value is not None})
            self._database.execute("PRAGMA journal_mode = WAL")
            self._verify()
        except (
            sqlite3.OperationalError
        ) as error:  # of the disk, the folder or another process: not of what it holds
            if fresh:
                with contextlib.suppress(OSError):
                    self.path.unlink()  # an empty file would pass for a ledger that was emptied
            raise FileError(
                f"{self.path}: cannot be {'started' if fresh else 'opened'} ({error}); see whether the folder can "
                f"be written and the disk has room.{'' if fresh else ' Nothing in it was changed.'}"
            ) from error
        except sqlite3.DatabaseError as error:
            raise LedgerError(
                f"{self.path}: is damaged or no ledger ({error}); it was left as it is. Restore a copy, and do not "
                "start a new one for the same costs: what was released stays released."
            ) from error

    def close(self) -> None:
        """Close it."""
        self._database.close()

    def entries(self) -> tuple[Entry, ...]:
        """Return all rows, in order."""
        return tuple(entry for entry, _, _ in self._rows())

    def append(self, entry: Entry) -> None:
        """Write the next row; within `exclusively`, where all of it happens or nothing."""
        text, spent = msgspec.json.encode(entry.release).decode(), _stored(entry.epsilon)
        chain = _link(self._head()[1], entry.number, entry.recorded, text, spent)
        row = (entry.number, entry.recorded, text, spent, chain)
        self._database.execute("INSERT INTO releases VALUES (?, ?, ?, ?, ?)", row)
        self._database.execute("UPDATE head SET number = ?, chain = ?", (entry.number, chain))

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """One transaction that no other process can enter: all of it happens, or nothing."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise LedgerError(f"{self.path}: cannot be written now ({error}); try again.") from error
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _opened(self, given: dict[str, object]) -> dict[str, str]:
        """Make a new file, or compare the terms given with those of the file."""
        with self.exclusively():
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version == 0 and not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
                for command in _commands(_SCHEMA):
                    self._database.execute(command)
                rows = [(name, str(value)) for name, value in given.items()]
                self._database.executemany("INSERT INTO terms VALUES (?, ?)", rows)
                self._database.execute("INSERT INTO head VALUES (1, 0, ?)", (_genesis(dict(rows)),))
            elif version != 1:
                raise LedgerError(f"{self.path}: is another kind of file, and was left as it is.")
            terms = dict(self._database.execute("SELECT name, value FROM terms").fetchall())
        for name, value in given.items():
            if name not in terms or str(value) != terms[name]:
                kept = terms.get(name, "none")
                raise LedgerError(
                    f"{self.path}: was made with {name} = {kept}, not {value}; a ledger's terms stay."
                )
        return terms

    def _verify(self) -> None:
        broken = self._database.execute("PRAGMA quick_check").fetchone()[0]
        if broken != "ok":
            raise sqlite3.DatabaseError(broken)
        before, count = _genesis(self.terms), 0
        for entry, text, chain in self._rows():
            count = entry.number
            before = _link(before, entry.number, entry.recorded, text, _stored(entry.epsilon))
            if before != chain:
                raise LedgerError(
                    f"{self.path}: row {entry.number} was changed after it was written; restore a copy."
                )
        if self._head() != (count, before):
            raise LedgerError(f"{self.path}: its last rows are missing or its terms were changed; restore a copy.")

    def _rows(self) -> Iterator[tuple[Entry, str, str]]:
        """Yield every row as an entry, with its text as stored and its link of the chain."""
        rows = self._database.execute("SELECT * FROM releases ORDER BY number").fetchall()
        for expected, (number, recorded, text, epsilon, chain) in enumerate(rows, start=1):
            if number != expected:
                raise LedgerError(f"{self.path}: row {expected} is missing; restore a copy.")
            try:
                release = msgspec.json.decode(text, type=Release)
            except msgspec.MsgspecError as error:
                raise LedgerError(f"{self.path}: row {number} cannot be read; restore a copy.") from error
            yield Entry(number, recorded, release, math.inf if epsilon >= _UNLIMITED else epsilon), text, chain

    def _head(self) -> tuple[int, str]:
        """Return the number and the chain of the last row."""
        number, chain = self._database.execute("SELECT number, chain FROM head").fetchone()
        return number, chain


def _close(database: sqlite3.Connection) -> None:
    """Close what nobody holds any more."""
    with contextlib.suppress(sqlite3.ProgrammingError):  # let go of in another thread: Python closes it
        database.close()


def _stored(epsilon: float) -> float:
    return epsilon if math.isfinite(epsilon) else _UNLIMITED


def _genesis(terms: dict[str, str]) -> str:
    return hashlib.sha256(repr(sorted(terms.items())).encode()).hexdigest()


def _link(before: str, number: int, recorded: float, text: str, epsilon: float) -> str:
    return hashlib.sha256(f"{before}|{number}|{recorded!r}|{text}|{epsilon!r}".encode()).hexdigest()


def _commands(script: str) -> list[str]:
    """Split a script into statements; triggers hold semicolons of their own."""
    commands, current = [], ""
    for line in script.strip().splitlines():
        current += line + "\n"
        if sqlite3.complete_statement(current):
            commands.append(current)
            current = ""
    return commands
