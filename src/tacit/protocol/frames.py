"""What goes over a link: frames, and how they are cut out of a stream of bytes.

    u32 length of the body | u8 kind | u64 number | u64 acknowledged | body

A frame is refused by its header alone: the kind must be known, and the body no longer than that kind may be. So no
peer can make another hold more than one frame of bytes that it has not judged.
"""

from __future__ import annotations

import struct
from enum import Enum, IntEnum
from typing import Protocol

import msgspec

from tacit.errors import ProtocolError

Bytes = bytes | memoryview


class Shelved(Protocol):
    """A message that lies elsewhere than in memory."""

    def __len__(self) -> int:
        """Return how many bytes it has."""

    def read(self) -> Bytes:
        """Return it."""


def fetched(body: Bytes | Shelved) -> Bytes:
    """Return a message, wherever it lies."""
    return body if isinstance(body, bytes | memoryview) else body.read()


_HEADER = struct.Struct(">IBQQ")
HEAD = _HEADER.size
"""Bytes before a body."""
HELLO_LIMIT = 4096
_LONG = 1 << 14  # bytes of a body that is not copied to be sent: a full record of TLS
BEFORE = 7
"""Bytes before a body, so that the numbers in it, behind one letter, lie where processors want them."""


class Kind(IntEnum):
    """Kinds of frames."""

    HELLO = 1  # first frame both ways: who, which session, which message is wanted next
    DATA = 2  # a message of the algorithm
    PING = 3  # still here
    BYE = 4  # no more will come, and why


class Parting(Enum):
    """Why no more will come: the body of BYE."""

    DONE = b""  # it has its answer
    NOTED = b"noted"  # it has its answer too, and has written down that the other side has
    UNFIT = b"unfit"  # its data do not match what all agreed on; it may come back with others
    LOST = b"lost"  # the other side asks for what it has had: its file is lost, or an older one was put back
    STOPPED = b"stopped"  # it has noticed something, or has heard that somebody has: `tacit.protocol.alarm`


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One frame."""

    kind: Kind
    number: int = 0
    """Of a message on this link, from 0."""
    acknowledged: int = 0
    """All messages of the peer before this one are safely used, and will not be asked for again."""
    body: Bytes = b""

    def encode(self) -> bytes:
        """Return the frame as bytes."""
        return _HEADER.pack(len(self.body), self.kind, self.number, self.acknowledged) + self.body

    def pieces(self) -> tuple[Bytes, ...]:
        """Return the frame as bytes to be sent one after the other: the most of a long body as it lies."""
        body = self.body
        if len(body) <= _LONG:
            return (self.encode(),)
        head = _HEADER.pack(len(body), self.kind, self.number, self.acknowledged)
        return head + body[: _LONG - HEAD], memoryview(body)[_LONG - HEAD :]


class Parser:
    """Cuts frames out of bytes that arrive in any pieces. *limit* is the longest message that may come.

    A message that comes in several pieces gets its memory when its header is read. Whoever reads from a socket can
    put the rest of it there: `room`, and then `filled`.
    """

    def __init__(self, limit: int) -> None:
        limits = {Kind.HELLO: HELLO_LIMIT, Kind.DATA: limit, Kind.PING: 0, Kind.BYE: HELLO_LIMIT}
        self._known: dict[int, tuple[Kind, int]] = {int(kind): (kind, longest) for kind, longest in limits.items()}
        self._head = b""  # of a frame, not whole yet
        self._begun: Frame | None = None  # a frame whose body is not whole yet
        self._came = 0  # bytes of that body

    @property
    def waiting(self) -> int:
        """How many bytes lie here that are not a frame yet."""
        return len(self._head) if self._begun is None else HEAD + self._came

    @property
    def room(self) -> memoryview | None:
        """Where the rest of a message belongs that has begun to come."""
        return None if self._begun is None else memoryview(self._begun.body)[self._came :]

    def filled(self, count: int) -> list[Frame]:
        """Take note that so many bytes were put into the room; return the frame, if it is complete."""
        begun, self._came = self._begun, self._came + count
        if begun is None or self._came < len(begun.body):
            return []
        self._begun = None
        return [begun if begun.kind is Kind.DATA else msgspec.structs.replace(begun, body=bytes(begun.body))]

    def feed(self, data: bytes) -> list[Frame]:
        """Take some bytes, and return the frames that are complete."""
        frames: list[Frame] = []
        if self._begun is not None:
            room = memoryview(self._begun.body)[self._came :]
            here = min(len(room), len(data))
            room[:here] = data[:here]
            frames, data = self.filled(here), data[here:]
        elif self._head:
            data = self._head + data
        start, size = 0, len(data)
        while size - start >= HEAD:
            length, code, number, acknowledged = _HEADER.unpack_from(data, start)
            kind, limit = self._known.get(code, (None, 0))
            if kind is None:
                raise ProtocolError(f"a peer sent a frame of the unknown kind {code}.")
            if length > limit:
                raise ProtocolError(f"a peer announced {length} bytes where a {kind.name} holds at most {limit}.")
            first = start + HEAD
            start = first + length
            if start > size:
                body = memoryview(bytearray(BEFORE + length))[BEFORE:]
                body[: size - first] = data[first:]
                self._head, self._begun, self._came = b"", Frame(kind, number, acknowledged, body), size - first
                return frames
            frames.append(Frame(kind, number, acknowledged, data[first:start]))
        self._head = data[start:]
        return frames
