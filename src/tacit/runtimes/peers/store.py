"""What an agent must not forget, written before anything is said: a database, and beside it what was sent.

    record    how far the run is, and what it is bound to: `tacit.protocol.run`
    journal   messages of the setting-up, which is done again after every restart, from here
    looks     what was seen of all agents so far
    state     after the last checkpoint: the algorithm's arrays, and how far every link and the keystream had come

A message is written before it is sent, and a stage of the run committed before the messages that it allows: the log
beside the database may survive a crash that an open transaction does not. So a restart draws the same masks and
says the same words, or notices that it would not. A checkpoint is made safe beside the algorithm, and with it
everything that was sent before it. Long vectors lie in files beside it (`tacit.runtimes.peers.filed`), and the
database says where. All are readable by their owner alone, and are erased when the run ends.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from tacit.errors import DamagedError, FileError, TacitError
from tacit.masks.randomness import Positions
from tacit.protocol.frames import Bytes
from tacit.protocol.payloads import raw
from tacit.protocol.record import Record
from tacit.protocol.run import Event, Forget, step
from tacit.protocol.sealing import DAMAGED, seal, unseal
from tacit.runtimes.looking import Look
from tacit.runtimes.peers.background import Background
from tacit.runtimes.peers.filed import Filed, Shelf, Slots, erase, is_long
from tacit.runtimes.peers.sent import Places, Sent
from tacit.runtimes.phases import Recalled
from tacit.typing import Array

_PAGE, _LARGE_PAGE = 4096, 65536  # of the file, in bytes: a long vector in few pages, a short one in a small page
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS record (only INTEGER PRIMARY KEY CHECK (only = 0), value BLOB)",
    "CREATE TABLE IF NOT EXISTS journal "
    "(link INTEGER, number INTEGER, body BLOB, PRIMARY KEY (link, number)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS looks (round INTEGER PRIMARY KEY, look BLOB) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS state (part INTEGER PRIMARY KEY, value BLOB) WITHOUT ROWID",
)
_TABLES = {"record", "journal", "looks", "state"}
_JOURNAL, _LOOKS, _STATE = range(3)  # where a row lies, for its check
_SHELVED, _ON_SHELF = b"@", struct.Struct("<QQI")  # what stands for a long message: no message begins so
_ENDINGS = ("-sent-*", "-came", "-arrays-*", "-wal", "-shm")  # of the files beside it
_SURROUNDINGS = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
"""Errors of SQLite that say nothing against the file."""


class Position(msgspec.Struct, frozen=True):
    """How far everything had come at a checkpoint."""

    done: int
    keystreams: Positions
    cursors: list[int]
    used: list[int]
    shapes: list[list[int]]
    seen: bool
    transcript: tuple[str, int, bool]
    """Of all totals."""
    first: int = 0
    """The first segment of what was sent that may be wanted again."""
    slot: int = 0
    """Where its long arrays lie."""
    checks: list[int] = []
    """Of each of them."""


class Store:
    """One agent's file."""

    def __init__(self, path: Path, *, durable: bool = False, numbers: int = 1, threaded: bool = False) -> None:
        if path.exists():
            refuse_shared(path, *beside(path))
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self.path = path
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=2.0)
        self._open = False
        self._sent, self._shelf = Sent(path, durable=durable), Shelf(path, durable=durable)
        self._slots = Slots(path, durable=durable)
        self._slot: int | None = None  # where the long arrays of the last checkpoint lie, once that is known
        try:
            with self._intact():
                self._record = self._begun(durable=durable, numbers=numbers)
        except BaseException:
            self._database.close()
            raise
        self._looks = 0  # how many are written down
        self._background = Background(threaded=threaded)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _intact(self) -> Iterator[None]:
        """Let what cannot be read be an error that says so; errors have the file's name."""
        try:
            yield
        except TacitError as error:
            raise type(error)(f"{self.path}: {error}") from None
        except sqlite3.DatabaseError as error:
            if is_of_surroundings(error):
                raise
            raise DamagedError(f"{self.path}: {DAMAGED}") from error
        except (msgspec.MsgspecError, ValueError, TypeError, struct.error) as error:
            raise DamagedError(f"{self.path}: {DAMAGED}") from error

    def _begun(self, *, durable: bool, numbers: int) -> Record:
        """Prepare the file, which may be new, and return its record."""
        execute = self._database.execute
        execute(f"PRAGMA page_size = {_LARGE_PAGE if 8 * numbers > _LARGE_PAGE else _PAGE}")
        execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")  # before WAL, which waits for the disk, too
        execute("PRAGMA locking_mode = EXCLUSIVE")  # before WAL: no shared memory, no locks a commit
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA secure_delete = FAST")
        if execute("SELECT 1 FROM sqlite_master WHERE name = 'run'").fetchone() is not None:
            raise FileError(
                "was written by an earlier version of tacit. End that run with the version that began it; this one "
                "begins runs of its own."
            )
        tables = {str(name) for (name,) in execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and (tables != _TABLES or execute("PRAGMA quick_check(1)").fetchone() != ("ok",)):
            raise DamagedError(DAMAGED)
        execute("BEGIN")
        for statement in _SCHEMA:
            execute(statement)
        execute("COMMIT")
        row = execute("SELECT value FROM record").fetchone()
        if row is None:
            if not self._sent.is_empty:  # the record was there before anything was sent
                raise DamagedError(DAMAGED)
            return Record()
        return Record.decode(_blob(row[0]))

    @property
    def record(self) -> Record:
        """How far the run is, as it is written down."""
        return self._record

    def advance(self, event: Event) -> Record:
        """Let something happen to the run: it is written down, and safe, when this returns."""
        record = _named(self.path, lambda: step(self._record, event))
        if record != self._record:
            self.write(record)
        return record

    def write(self, record: Record) -> None:
        """Write the record, and make it safe with all that was written before it."""
        self.begin()
        self._database.execute("INSERT OR REPLACE INTO record VALUES (0, ?)", (record.encode(),))
        self.commit()
        self._record = record

    def forget(self) -> None:
        """Forget everything but that the run has gone on elsewhere."""
        self.begin()
        for table in ("journal", "looks", "state"):
            self._database.execute(f"DELETE FROM {table}")  # noqa: S608  names of our own
        self.advance(Forget())
        self.commit()
        self._erase_long()
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._database.execute("VACUUM")

    def begin(self) -> None:
        """Open a transaction, unless one is open."""
        self._background.settle()
        if not self._open:
            self._database.execute("BEGIN")
            self._open = True

    def commit(self) -> None:
        """Make everything since `begin`, and what was sent, safe."""
        self._background.settle()
        self._sent.sync()
        self._shelf.sync()
        if self._open:
            self._database.execute("COMMIT")
            self._open = False

    def sent(self, links: Places, body: bytes) -> Filed | None:
        """Write down a message before it is sent, with the links that it goes to and its number on each.

        Returns where it lies, if it is long.
        """
        return self._sent.append(links, body)

    def came(self, link: int, number: int, body: Bytes) -> None:
        """Write down a message of the setting-up."""
        self.begin()
        if is_long(len(body)):
            body = _SHELVED + _ON_SHELF.pack(*self._shelf.put(body))
        self._database.execute(
            "INSERT OR IGNORE INTO journal VALUES (?, ?, ?)",
            (link, number, seal(body, _JOURNAL, link, number)),
        )

    def outbox(self) -> dict[int, list[tuple[int, bytes | Filed]]]:
        """Return the messages that may be wanted again, in order, by link."""
        if (position := self.position()) is not None:
            self._sent.begin_with(position.first)
        return self._sent.read()

    def journal(self, link: int) -> list[bytes | Filed]:
        """Return the messages of the setting-up, in order; long ones stay where they are."""
        with self._intact():
            rows = self._database.execute(
                "SELECT number, body FROM journal WHERE link = ? ORDER BY number", (link,)
            ).fetchall()
            if [number for number, _ in rows] != list(range(len(rows))):
                raise DamagedError(DAMAGED)
            return [self._heard(unseal(_blob(body), _JOURNAL, link, number)) for number, body in rows]

    def _heard(self, body: bytes) -> bytes | Filed:
        if body[:1] != _SHELVED:
            return body
        return self._shelf.at(*_ON_SHELF.unpack(body[1:]))

    def save(
        self,
        recalled: Recalled,
        *,
        keystreams: Positions,
        cursors: list[int],
        used: list[int],
        transcript: tuple[str, int, bool],
        acknowledged: list[int],
    ) -> None:
        """Take a checkpoint, beside the algorithm: `is_idle` tells when it is safe.

        Nobody will want messages before *acknowledged* again on any link: they are forgotten after it.
        """
        if self._open:
            self.commit()
        self._background.settle()
        arrays = [np.asarray(part, dtype=np.float64) for part in recalled.state]
        seen = recalled.seen is not None
        if recalled.seen is not None:
            arrays.append(recalled.seen)
        slot, checks = self._set_down(arrays)
        secure = self._sent.seal()
        first, erase_old = self._sent.drop(acknowledged)
        position = Position(
            done=recalled.done, keystreams=keystreams, cursors=cursors, used=used,
            shapes=[list(array.shape) for array in arrays], seen=seen, transcript=transcript, first=first,
            slot=slot, checks=checks,
        )  # fmt: skip
        state = [(0, seal(msgspec.json.encode(position), _STATE, 0))]
        state += [
            (part, seal(raw(array), _STATE, part))
            for part, array in enumerate(arrays, start=1)
            if not is_long(array.nbytes)
        ]
        looks = [
            (round_, seal(msgspec.json.encode(_numbers(look)), _LOOKS, round_))
            for round_, look in recalled.looks[self._looks :]
        ]
        self._looks = len(recalled.looks)

        def written() -> None:
            secure()  # what was sent before it
            self._slots.sync()
            execute = self._database.execute
            execute("BEGIN")
            try:
                self._database.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", state)
                self._database.executemany("INSERT OR IGNORE INTO looks VALUES (?, ?)", looks)
                execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.OperationalError):  # some errors have rolled it back
                    execute("ROLLBACK")
                raise
            self._slot = slot
            erase_old()

        self._background.begin(written)

    def _set_down(self, arrays: list[Array]) -> tuple[int, list[int]]:
        """Write long arrays where the last checkpoint's are not; return where, and their checks."""
        if self._slot is None:
            before = self.position()
            self._slot = 1 if before is None else before.slot
        long = [array for array in arrays if is_long(array.nbytes)]
        return 1 - self._slot, self._slots.write(1 - self._slot, long) if long else []

    @property
    def is_idle(self) -> bool:
        """Whether the last checkpoint is safe; raises what has prevented it."""
        return self._background.is_idle

    def position(self) -> Position | None:
        """Return where the last checkpoint was."""
        with self._intact():
            execute = self._database.execute
            row = execute("SELECT value FROM state WHERE part = 0").fetchone()
            if row is None:
                if execute("SELECT 1 FROM state UNION ALL SELECT 1 FROM looks").fetchone() is not None:
                    raise DamagedError(DAMAGED)  # they were written together with it
                return None
            return msgspec.json.decode(unseal(_blob(row[0]), _STATE, 0), type=Position)

    def recall(self) -> Recalled | None:
        """Return the last checkpoint."""
        position = self.position()
        if position is None:
            return None
        with self._intact():
            execute = self._database.execute
            rows = execute("SELECT part, value FROM state WHERE part > 0 ORDER BY part").fetchall()
            long = [shape for shape in position.shapes if is_long(_size(shape))]
            set_down = iter(self._slots.read(position.slot, long, position.checks) if long else ())
            short = dict(rows)
            arrays: list[Array] = [
                next(set_down)
                if is_long(_size(shape))
                else np.frombuffer(unseal(_blob(short.get(part)), _STATE, part)).reshape(shape).copy()
                for part, shape in enumerate(position.shapes, start=1)
            ]
            seen = arrays.pop() if position.seen else None
            looks = [
                (round_, _look(msgspec.json.decode(unseal(_blob(text), _LOOKS, round_))))
                for round_, text in execute("SELECT round, look FROM looks ORDER BY round")
            ]
        self._looks = len(looks)
        return Recalled(position.done, tuple(arrays), seen, looks)

    def erase(self) -> None:
        """Remove the file with everything in it: the run is over."""
        self._background.settle()
        self._erase_long()
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists():  # SQLite removes it, and leaves what it held on the disk
            self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
            log.write_bytes(bytes(log.stat().st_size))
        self._database.close()
        remove(self.path)

    def _erase_long(self) -> None:
        for each in (self._sent, self._shelf, self._slots):
            each.erase()

    def close(self) -> None:
        """Close the file. What was not committed was not sent either, and is forgotten."""
        self._background.close()
        for each in (self._sent, self._shelf, self._slots):
            each.close()
        if self._open and self._database.in_transaction:  # SQLite has rolled back by itself where the disk is full
            self._database.execute("ROLLBACK")
        self._open = False
        self._database.close()


def is_of_surroundings(error: sqlite3.Error) -> bool:
    """Tell whether an error of SQLite says nothing against the file: no room, no right, somebody else at it."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _SURROUNDINGS


def _blob(value: object) -> bytes:
    """Return bytes from a column; other types are of a page that has changed."""
    if not isinstance(value, bytes):
        raise DamagedError(DAMAGED)
    return value


def _named(path: Path, what: Callable[[], Record]) -> Record:
    """Return what comes of it; an error says which file it is about."""
    try:
        return what()
    except TacitError as error:
        raise type(error)(f"{path}: {error}") from None


def remove(path: Path) -> None:
    """Remove an agent's file and all that lies beside it, without opening it: a crash may have left half of it."""
    for each in (*beside(path), path):
        if each.exists():
            erase(each)


def beside(path: Path) -> list[Path]:
    """Return the files that belong to an agent's file: what was sent, long vectors, and what SQLite keeps."""
    return [each for ending in _ENDINGS for each in path.parent.glob(path.name + ending)]


def refuse_shared(*paths: Path, mode: int = 0o077) -> None:
    """Refuse files of this member that others on this machine may read or change."""
    for path in paths:
        if path.stat().st_mode & mode:
            raise FileError(
                f"{path}: others can read or change it. Use chmod 600 if nobody has, and tell the other members if "
                "somebody may have."
            )


def _size(shape: Sequence[int]) -> int:
    """Return how many bytes an array of that shape has."""
    return 8 * math.prod(shape)


def _numbers(look: Look) -> list[str | None]:
    return [None if entry is None else float(entry).hex() for entry in look]


def _look(numbers: list[Any]) -> Look:
    return Look(*(None if entry is None else float.fromhex(entry) for entry in numbers))  # type: ignore[arg-type]
