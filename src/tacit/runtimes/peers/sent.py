"""What was said and may be wanted again: appended to a file before it goes on a link.

    u32 length of the body | u32 CRC of all that follows | u16 links | links × (u16 row, u64 number) | body

A database would take three statements for every exchange, a good part of a short round. One vector to many links is
kept once. The file is cut into segments at every checkpoint; a segment goes when all links have acknowledged all of
it. A record that a crash has cut short was not sent either: reading ends there.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from pathlib import Path
from typing import NamedTuple

Places = list[tuple[int, int]]  # rows, and the message's number on each
_HEAD = struct.Struct("<IIH")
_LINK = struct.Struct("<HQ")


class _Segment(NamedTuple):
    path: Path
    last: dict[int, int]  # the highest number in it, by row


class Sent:
    """Segments beside the agent's file, whose name they begin with; readable by their owner alone."""

    def __init__(self, beside: Path, *, durable: bool) -> None:
        self._beside, self._durable = beside, durable
        names = (path.name for path in beside.parent.glob(f"{beside.name}-sent-*"))
        numbers = sorted(int(last) for name in names if (last := name.rpartition("-")[2]).isdigit())
        self._segments = deque(_Segment(self._path(number), {}) for number in numbers)
        self._next = numbers[-1] + 1 if numbers else 0
        self._descriptor: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever sent, as far as the files say."""
        return not self._segments

    def append(self, links: Places, body: bytes) -> None:
        """Write down a message; it is safe from a crash of the process when this returns."""
        descriptor = self._open() if self._descriptor is None else self._descriptor
        rest = b"".join([*(_LINK.pack(*link) for link in links), body])
        record = _HEAD.pack(len(body), zlib.crc32(rest, len(links)), len(links)) + rest
        written = 0
        while written < len(record):
            written += os.write(descriptor, record[written:])
        self._segments[-1].last.update(links)

    def sync(self) -> None:
        """Make what was written safe from a power cut, where that was asked for."""
        if self._durable and self._descriptor is not None:
            os.fdatasync(self._descriptor)

    def _open(self) -> int:
        path = self._path(self._next)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        if self._durable:  # the name of the file, too
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        self._segments.append(_Segment(path, {}))
        self._next += 1
        return self._descriptor

    def _path(self, number: int) -> Path:
        return self._beside.with_name(f"{self._beside.name}-sent-{number}")

    def read(self) -> dict[int, list[tuple[int, bytes]]]:
        """Return all messages, in order, by row; those that a link has acknowledged may be among them."""
        messages: dict[int, list[tuple[int, bytes]]] = {}
        for segment in self._segments:
            data = segment.path.read_bytes()
            start = 0
            while len(data) - start >= _HEAD.size:
                length, crc, links = _HEAD.unpack_from(data, start)
                first, end = start + _HEAD.size, start + _HEAD.size + links * _LINK.size + length
                if len(data) < end or zlib.crc32(memoryview(data)[first:end], links) != crc:
                    break
                body = data[end - length : end]
                for k in range(links):
                    row, number = _LINK.unpack_from(data, first + k * _LINK.size)
                    messages.setdefault(row, []).append((number, body))
                    segment.last[row] = number
                start = end
        return messages

    def turn(self, acknowledged: list[int]) -> None:
        """Begin a new segment; drop those with nothing from *acknowledged* on, the next number of every row."""
        self.close()
        while self._segments:
            if any(number >= acknowledged[row] for row, number in self._segments[0].last.items()):
                break
            erase(self._segments.popleft().path)

    def close(self) -> None:
        """Close the last segment."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def erase(self) -> None:
        """Remove all segments."""
        self.close()
        while self._segments:
            erase(self._segments.popleft().path)


def erase(path: Path) -> None:
    """Overwrite a file and remove it: what it held is not left to whoever finds the disk."""
    with path.open("r+b", buffering=0) as file:
        left = path.stat().st_size
        zeros = bytes(min(left, 1 << 20))
        while left > 0:
            left -= file.write(zeros[:left]) or 0
        os.fsync(file.fileno())
    path.unlink()
