"""What an agent must not forget, written before anything is said: a database, and beside it what was sent.

    run       the session, the key of the masks, a digest of the cost
    journal   messages of the setting-up, which is done again after every restart, from here
    looks     what was seen of all agents so far
    state     after the last checkpoint: the algorithm's arrays, and how far every link and the keystream had come

A message is committed before it is sent, and the key before anything. So a restart draws the same masks and says
the same words, or notices that it would not. The file is readable by its owner alone, and is erased when the run
ends.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from tacit.errors import TacitError
from tacit.runtimes.agent import Recalled
from tacit.runtimes.looking import Look
from tacit.runtimes.peers.sent import Links, Sent, erase
from tacit.typing import Array

_PAGE, _LARGE_PAGE = 4096, 65536  # of the file, in bytes: a long vector in few pages, a short one in a small page
_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal
    (link INTEGER, number INTEGER, body BLOB, PRIMARY KEY (link, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS looks (round INTEGER PRIMARY KEY, look BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (part INTEGER PRIMARY KEY, value BLOB) WITHOUT ROWID;
"""


class Position(msgspec.Struct, frozen=True):
    """How far everything had come at a checkpoint."""

    done: int
    keystreams: list[int]
    cursors: list[int]
    used: list[int]
    shapes: list[list[int]]
    seen: bool


class Store:
    """One agent's file."""

    def __init__(self, path: Path, *, durable: bool = False, numbers: int = 1) -> None:
        fresh = not path.exists()
        if fresh:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self.path = path
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=2.0)
        self._database.execute(f"PRAGMA page_size = {_LARGE_PAGE if 8 * numbers > _LARGE_PAGE else _PAGE}")
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")  # before WAL: no shared memory, no locks a commit
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._database.execute("PRAGMA secure_delete = FAST")
        self._database.executescript(_SCHEMA)
        self._open = False
        self._looks = 0  # how many are written down
        self._sent = Sent(path, durable=durable)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, name: str) -> bytes | None:
        """Return one fact about the run."""
        row = self._database.execute("SELECT value FROM run WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def fix(self, name: str, value: bytes) -> bytes:
        """Return the fact; write it down first where it is new."""
        known = self.get(name)
        if known is None:
            self._database.execute("INSERT INTO run VALUES (?, ?)", (name, value))
            return value
        return known

    def draw(self) -> str:
        """Return a name of the masks: a one-way digest of their key, or nothing before it was drawn."""
        key = self.get("key")
        return "" if key is None else draw_of(key)

    def check(self, name: str, value: bytes, problem: str) -> None:
        """Refuse to go on where a fact has changed since the run began."""
        if self.fix(name, value) != value:
            raise TacitError(f"{self.path}: {problem}")

    def empty(self) -> None:
        """Forget everything but that the run has gone on elsewhere."""
        self._sent.erase()
        self.begin()
        for table in ("journal", "looks", "state"):
            self._database.execute(f"DELETE FROM {table}")  # noqa: S608  names of our own
        self._database.execute("DELETE FROM run WHERE name IN ('key', 'carried', 'outcome')")
        self.commit()
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._database.execute("VACUUM")

    def begin(self) -> None:
        """Open a transaction, unless one is open."""
        if not self._open:
            self._database.execute("BEGIN")
            self._open = True

    def commit(self) -> None:
        """Make everything since `begin`, and what was sent, safe."""
        self._sent.sync()
        if self._open:
            self._database.execute("COMMIT")
            self._open = False

    def sent(self, links: Links, body: bytes) -> None:
        """Write down a message before it is sent, with the links that it goes to and its number on each."""
        self._sent.append(links, body)

    def came(self, link: int, number: int, body: bytes) -> None:
        """Write down a message of the setting-up."""
        self.begin()
        self._database.execute("INSERT OR IGNORE INTO journal VALUES (?, ?, ?)", (link, number, body))

    def acknowledged(self, numbers: list[int]) -> None:
        """Forget messages that nobody will want again: those before *numbers* on every link."""
        self._sent.turn(numbers)

    def outbox(self) -> dict[int, list[tuple[int, bytes]]]:
        """Return the messages that may be wanted again, in order, by link."""
        return self._sent.read()

    def journal(self, link: int) -> list[bytes]:
        """Return the messages of the setting-up, in order."""
        rows = self._database.execute("SELECT body FROM journal WHERE link = ? ORDER BY number", (link,))
        return [bytes(body) for (body,) in rows]

    def save(self, recalled: Recalled, *, keystreams: list[int], cursors: list[int], used: list[int]) -> None:
        """Write a checkpoint into the open transaction."""
        self.begin()
        arrays = [np.asarray(part, dtype=np.float64) for part in recalled.state]
        seen = recalled.seen is not None
        if recalled.seen is not None:
            arrays.append(recalled.seen)
        position = Position(
            done=recalled.done, keystreams=keystreams, cursors=cursors, used=used,
            shapes=[list(array.shape) for array in arrays], seen=seen,
        )  # fmt: skip
        rows: list[tuple[int, bytes]] = [(k + 1, array.tobytes()) for k, array in enumerate(arrays)]
        rows.append((0, msgspec.json.encode(position)))
        self._database.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", rows)
        for round_, look in recalled.looks[self._looks :]:
            self._database.execute(
                "INSERT OR IGNORE INTO looks VALUES (?, ?)", (round_, msgspec.json.encode(_numbers(look)))
            )
        self._looks = len(recalled.looks)

    def position(self) -> Position | None:
        """Return where the last checkpoint was."""
        row = self._database.execute("SELECT value FROM state WHERE part = 0").fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=Position)

    def recall(self) -> Recalled | None:
        """Return the last checkpoint."""
        position = self.position()
        if position is None:
            return None
        rows = self._database.execute("SELECT value FROM state WHERE part > 0 ORDER BY part").fetchall()
        arrays: list[Array] = [
            np.frombuffer(bytes(value), dtype=np.float64).reshape(shape).copy()
            for (value,), shape in zip(rows, position.shapes, strict=False)
        ]
        seen = arrays.pop() if position.seen else None
        looks = [
            (int(round_), _look(msgspec.json.decode(text)))
            for round_, text in self._database.execute("SELECT round, look FROM looks ORDER BY round")
        ]
        self._looks = len(looks)
        return Recalled(position.done, tuple(arrays), seen, looks)

    def erase(self) -> None:
        """Remove the file with everything in it: the run is over."""
        self._sent.erase()
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists():  # SQLite removes it, and leaves what it held on the disk
            self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
            log.write_bytes(bytes(log.stat().st_size))
        self._database.close()
        remove(self.path)

    def close(self) -> None:
        """Close the file. What was not committed was not sent either, and is forgotten."""
        self._sent.close()
        if self._open:
            self._database.execute("ROLLBACK")
            self._open = False
        self._database.close()


def draw_of(key: bytes) -> str:
    """Return a name for everything that is drawn under a key: a digest that tells nothing about it."""
    return hashlib.sha256(b"tacit: which masks\0" + key).hexdigest()[:32]


def remove(path: Path) -> None:
    """Remove an agent's file and all that lies beside it, without opening it: a crash may have left half of it."""
    beside = [path.with_name(path.name + ending) for ending in ("-wal", "-shm")]
    for each in (*path.parent.glob(f"{path.name}-sent-*"), path, *beside):
        if each.exists():
            erase(each)


def _numbers(look: Look) -> list[str | None]:
    return [None if entry is None else float(entry).hex() for entry in look]


def _look(numbers: list[Any]) -> Look:
    return Look(*(None if entry is None else float.fromhex(entry) for entry in numbers))  # type: ignore[arg-type]
