"""Long vectors in files of their own, beside an agent's file, written from where they lie and read when wanted.

A vector of a million numbers has 8 MB. A database copies it to bind it, to log it and to keep it, and a list of
what neighbours may want again holds one for every message. Here memory holds nothing but the place.

    Filed     a place in a file, which is read when it is wanted
    Shelf     what came while setting up: appended, and never changed
    Slots     the arrays of a checkpoint: two files, of which the database names the one that counts

A crash leaves a tail on a shelf that the database does not name, or half a slot that it does not name either.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.errors import DamagedError, ProtocolError
from tacit.protocol.frames import BEFORE, Bytes
from tacit.protocol.payloads import raw
from tacit.protocol.sealing import DAMAGED
from tacit.typing import Array

_LONG = 1 << 16  # bytes
_PIECE = 1 << 18  # bytes that are read at a time to be checked


def is_long(size: int) -> bool:
    """Tell whether a message, or an array, of so many bytes is kept here."""
    return size >= _LONG


@dataclass(frozen=True, slots=True)
class Filed:
    """A message that lies in a file. Nothing of it is in memory."""

    path: Path
    start: int
    length: int

    def __len__(self) -> int:
        """Return how many bytes it has."""
        return self.length

    def read(self) -> memoryview:
        """Return it, where processors want its numbers; whoever asks after the end of a run is at fault."""
        body = memoryview(bytearray(BEFORE + self.length))[BEFORE:]
        try:
            with self.path.open("rb", buffering=0) as file:
                read_into(file.fileno(), body, self.start)
        except OSError as error:
            raise ProtocolError("a message is wanted again that cannot be read any more.") from error
        return body

    def check(self, before: int = 0) -> int:
        """Return its CRC, after that of what stands before it."""
        crc, piece = before, memoryview(bytearray(min(_PIECE, self.length)))
        with self.path.open("rb", buffering=0) as file:
            for start in range(0, self.length, _PIECE):
                part = piece[: self.length - start]
                read_into(file.fileno(), part, self.start + start)
                crc = zlib.crc32(part, crc)
        return crc


class Shelf:
    """Long messages one after the other, readable by their owner alone."""

    def __init__(self, beside: Path, *, durable: bool) -> None:
        self._path, self._durable = beside.with_name(f"{beside.name}-came"), durable
        self._descriptor: int | None = None
        self._is_safe, self._is_named = True, self._path.exists()

    def put(self, body: Bytes) -> tuple[int, int, int]:
        """Write a message; return where it lies, its length and its CRC. It is safe after `sync`."""
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        start = os.fstat(self._descriptor).st_size
        write_all(self._descriptor, body, start)
        self._is_safe = False
        return start, len(body), zlib.crc32(body)

    def sync(self) -> None:
        """Make everything on it safe from a power cut, where that was asked for."""
        if self._descriptor is not None and self._durable and not self._is_safe:
            os.fdatasync(self._descriptor)
            if not self._is_named:
                sync_folder(self._path.parent)
        self._is_safe = self._is_named = True

    def at(self, start: int, length: int, check: int) -> Filed:
        """Return a message that lies there; refuse what has changed."""
        filed = Filed(self._path, start, length)
        if not self._path.exists() or self._path.stat().st_size < start + length or filed.check() != check:
            raise DamagedError(DAMAGED)
        return filed

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def erase(self) -> None:
        """Remove it."""
        self.close()
        if self._path.exists():
            erase(self._path)


class Slots:
    """Two files for the long arrays of a checkpoint, readable by their owner alone; one is never overwritten."""

    def __init__(self, beside: Path, *, durable: bool) -> None:
        self._paths = [beside.with_name(f"{beside.name}-arrays-{slot}") for slot in range(2)]
        self._durable = durable
        self._unsafe: list[int] = []  # descriptors of what was written and not yet made safe

    def write(self, slot: int, arrays: Sequence[Array]) -> list[int]:
        """Write arrays into a slot, from where they lie; return their CRCs. They are safe after `sync`."""
        descriptor = os.open(self._paths[slot], os.O_WRONLY | os.O_CREAT, 0o600)
        self._unsafe.append(descriptor)
        start, checks = 0, []
        for array in arrays:
            body = raw(array)
            write_all(descriptor, body, start)
            start += len(body)
            checks.append(zlib.crc32(body))
        return checks

    def sync(self) -> None:
        """Make what was written safe from a power cut, where that was asked for; from any thread."""
        while self._unsafe:
            descriptor = self._unsafe.pop()
            try:
                if self._durable:
                    os.fdatasync(descriptor)
                    sync_folder(self._paths[0].parent)
            finally:
                os.close(descriptor)

    def read(self, slot: int, shapes: Sequence[Sequence[int]], checks: Sequence[int]) -> list[Array]:
        """Return the arrays of a slot; refuse those that have changed."""
        arrays: list[Array] = []
        if not self._paths[slot].exists():
            raise DamagedError(DAMAGED)
        with self._paths[slot].open("rb", buffering=0) as file:
            start = 0
            for shape, check in zip(shapes, checks, strict=True):
                array = np.empty(shape)
                body = raw(array)
                read_into(file.fileno(), body, start)
                start += len(body)
                if zlib.crc32(body) != check:
                    raise DamagedError(DAMAGED)
                arrays.append(array)
        return arrays

    def close(self) -> None:
        """Close the files."""
        while self._unsafe:
            os.close(self._unsafe.pop())

    def erase(self) -> None:
        """Remove them."""
        self.close()
        for path in self._paths:
            if path.exists():
                erase(path)


def write_all(descriptor: int, body: Bytes, start: int) -> None:
    """Write all of *body* from that byte of a file on."""
    rest = memoryview(body)
    while rest:
        written = os.pwrite(descriptor, rest, start)
        rest, start = rest[written:], start + written


def read_into(descriptor: int, room: memoryview, start: int) -> None:
    """Fill *room* from that byte of a file on; refuse a file that ends before."""
    while room:
        count = os.preadv(descriptor, [room], start)
        if not count:
            raise DamagedError(DAMAGED)
        room, start = room[count:], start + count


def sync_folder(path: Path) -> None:
    """Make the names in a folder safe."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def erase(path: Path) -> None:
    """Overwrite a file and remove it: what it held is not left to whoever finds the disk."""
    with path.open("r+b", buffering=0) as file:
        left = path.stat().st_size
        zeros = bytes(min(left, 1 << 20))
        while left > 0:
            left -= file.write(zeros[:left]) or 0
        os.fsync(file.fileno())
    path.unlink()
