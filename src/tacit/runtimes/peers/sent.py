"""What was said and may be wanted again: appended to a file before it goes on a link.

    u32 length of the body | u32 CRC of all that follows | u16 links | links × (u16 row, u64 number) | body

A database would take three statements for every exchange, a good part of a short round. One vector to many links is
kept once. The file is cut into segments at every checkpoint; a segment goes when all links have acknowledged all of
it.

Whatever was appended survives a crash of the process, and what was synced survives a power cut. Of the rest a power
cut may leave a part: pages in any order, zeros among them. Reading ends at the first record that is not whole or
not the next on its links, and what is behind it is taken away, so that what is appended later stands right behind
what was read. `tacit.runtimes.peers.durable_links` says why what is lost is not missed.
"""

from __future__ import annotations

import functools
import os
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tacit.runtimes.peers.filed import Filed, erase, is_long, sync_folder

Places = list[tuple[int, int]]  # rows, and the message's number on each
_HEAD = struct.Struct("<IIH")
_LINK = struct.Struct("<HQ")


@functools.cache
def _places(count: int) -> struct.Struct:
    """Return how so many links are written."""
    return struct.Struct("<" + count * "HQ")


class _Segment(NamedTuple):
    number: int
    path: Path
    last: dict[int, int]  # the highest number in it, by row


class Sent:
    """Segments beside the agent's file, whose name they begin with; readable by their owner alone."""

    def __init__(self, beside: Path, *, durable: bool) -> None:
        self._beside, self._durable = beside, durable
        names = (path.name for path in beside.parent.glob(f"{beside.name}-sent-*"))
        numbers = sorted(int(last) for name in names if (last := name.rpartition("-")[2]).isdigit())
        self._segments = deque(_Segment(number, self._path(number), {}) for number in numbers)
        self._next = numbers[-1] + 1 if numbers else 0
        self._descriptor: int | None = None
        self._named = True  # whether the name of the last segment is safe

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever sent, as far as the files say."""
        return not self._segments

    def append(self, links: Places, body: bytes) -> Filed | None:
        """Write down a message, safe from a crash of the process; return where it lies, if it is long."""
        descriptor = self._open() if self._descriptor is None else self._descriptor
        count, places = len(links), _places(len(links)).pack(*(each for link in links for each in link))
        head = _HEAD.pack(len(body), zlib.crc32(body, zlib.crc32(places, count)), count) + places
        written = os.writev(descriptor, (head, body))
        if written < len(head) + len(body):
            rest = memoryview(head + body)[written:]
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        segment = self._segments[-1]
        segment.last.update(links)
        if not is_long(len(body)):
            return None
        return Filed(segment.path, os.fstat(descriptor).st_size - len(body), len(body))

    def sync(self) -> None:
        """Make what was written safe from a power cut, where that was asked for; not what was sealed."""
        if self._descriptor is not None:
            self._secure(self._descriptor, named=self._named)
            self._named = True

    def _secure(self, descriptor: int, *, named: bool) -> None:
        if self._durable:
            os.fdatasync(descriptor)
            if not named:
                sync_folder(self._beside.parent)

    def _open(self) -> int:
        path = self._path(self._next)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._segments.append(_Segment(self._next, path, {}))
        self._named = False
        self._next += 1
        return self._descriptor

    def _path(self, number: int) -> Path:
        return self._beside.with_name(f"{self._beside.name}-sent-{number}")

    def read(self) -> dict[int, list[tuple[int, bytes | Filed]]]:
        """Return all messages, in order, by row; those that a link has acknowledged may be among them.

        What a crash has left of others is taken away. Long ones stay where they are.
        """
        messages: dict[int, list[tuple[int, bytes | Filed]]] = {}
        for position, segment in enumerate(self._segments):
            end = 0
            with segment.path.open("rb") as file:
                for links, body, after in _records(file, segment.path):
                    if any(row in messages and number != messages[row][-1][0] + 1 for row, number in links):
                        break
                    for row, number in links:
                        messages.setdefault(row, []).append((number, body))
                        segment.last[row] = number
                    end = after
            if end < segment.path.stat().st_size:
                self._cut(position, end)
                break
        return messages

    def _cut(self, position: int, end: int) -> None:
        """Take away what is behind that byte of that segment."""
        while len(self._segments) > position + 1:
            erase(self._segments.pop().path)
        with self._segments[position].path.open("r+b") as file:
            file.truncate(end)
            os.fsync(file.fileno())

    def seal(self) -> Callable[[], None]:
        """End the segment; return what makes it safe, to be called from any thread before it counts as safe."""
        descriptor, self._descriptor = self._descriptor, None
        return partial(self._finish, descriptor, named=self._named)

    def _finish(self, descriptor: int | None, *, named: bool) -> None:
        if descriptor is not None:
            try:
                self._secure(descriptor, named=named)
            finally:
                os.close(descriptor)

    def drop(self, acknowledged: list[int]) -> tuple[int, Callable[[], None]]:
        """Forget sealed segments with nothing from *acknowledged* on, the next number of every row.

        Returns the number of the first that is left, and what erases the others: to be called from any thread, and
        not before that number is written down, or half an erased segment would pass for one that was never whole.
        """
        gone = []
        while len(self._segments) > (self._descriptor is not None):
            if any(number >= acknowledged[row] for row, number in self._segments[0].last.items()):
                break
            gone.append(self._segments.popleft())
        return self._first(), partial(_erase_all, gone)

    def _first(self) -> int:
        return self._segments[0].number if self._segments else self._next

    def begin_with(self, number: int) -> None:
        """Erase what is left of segments before that one."""
        while self._segments and self._segments[0].number < number:
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


def _records(file: BinaryIO, path: Path) -> Iterator[tuple[Places, bytes | Filed, int]]:
    """Cut a segment into records that are whole: links, body, and where the next begins."""
    start, size = 0, path.stat().st_size
    while size - start >= _HEAD.size:
        file.seek(start)
        length, crc, links = _HEAD.unpack(file.read(_HEAD.size))
        end = start + _HEAD.size + links * _LINK.size + length
        if not links or size < end:
            return
        places = file.read(links * _LINK.size)
        before = zlib.crc32(places, links)
        body = Filed(path, end - length, length) if is_long(length) else file.read(length)
        if (zlib.crc32(body, before) if isinstance(body, bytes) else body.check(before)) != crc:
            return
        yield list(_LINK.iter_unpack(places)), body, end
        start = end


def _erase_all(segments: list[_Segment]) -> None:
    for segment in segments:
        erase(segment.path)
