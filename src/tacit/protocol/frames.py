"""What goes over a link: frames, and how they are cut out of a stream of bytes.

    u32 length of the body | u8 kind | u64 number | u64 acknowledged | body

A frame is refused by its header alone: the kind must be known, and the body no longer than that kind may be. So no
peer can make another hold more than one frame of bytes that it has not judged.
"""

from __future__ import annotations

import struct
from enum import Enum, IntEnum
from typing import NamedTuple

from tacit.errors import ProtocolError

_HEADER = struct.Struct(">IBQQ")
_HEAD = _HEADER.size
HELLO_LIMIT = 4096


class Kind(IntEnum):
    """Kinds of frames."""

    HELLO = 1  # first frame both ways: who, which session, which message is wanted next
    DATA = 2  # a message of the algorithm
    PING = 3  # still here
    BYE = 4  # no more will come, and why


class Parting(Enum):
    """Why no more will come: the body of BYE."""

    DONE = b""  # it has its answer
    UNFIT = b"unfit"  # its data do not match what all agreed on; it may come back with others
    LOST = b"lost"  # the other side asks for what it has had: its file is lost, or an older one was put back
    STOPPED = b"stopped"  # it has noticed something, or has heard that somebody has: `tacit.protocol.alarm`


class Frame(NamedTuple):
    """One frame."""

    kind: Kind
    number: int = 0  # of a message on this link, from 0
    acknowledged: int = (
        0  # all messages of the peer before this one are safely used, and will not be asked for again
    )
    body: bytes = b""

    def encode(self) -> bytes:
        """Return the frame as bytes."""
        return _HEADER.pack(len(self.body), self.kind, self.number, self.acknowledged) + self.body


class Parser:
    """Cuts frames out of bytes that arrive in any pieces. *limit* is the longest message that may come."""

    def __init__(self, limit: int) -> None:
        limits = {Kind.HELLO: HELLO_LIMIT, Kind.DATA: limit, Kind.PING: 0, Kind.BYE: HELLO_LIMIT}
        self._known: dict[int, tuple[Kind, int]] = {int(kind): (kind, longest) for kind, longest in limits.items()}
        self._buffer = bytearray()
        self._needed = 0  # bytes that the frame begun needs

    @property
    def waiting(self) -> int:
        """How many bytes lie here that are not a frame yet."""
        return len(self._buffer)

    def feed(self, data: bytes | bytearray) -> list[Frame]:
        """Take some bytes, and return the frames that are complete."""
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._needed:
                return []
            data, self._buffer = self._buffer, bytearray()
        frames = []
        start, size, self._needed = 0, len(data), 0
        while size - start >= _HEAD:
            length, code, number, acknowledged = _HEADER.unpack_from(data, start)
            if code not in self._known:
                raise ProtocolError(f"a peer sent a frame of the unknown kind {code}.")
            kind, limit = self._known[code]
            if length > limit:
                raise ProtocolError(f"a peer announced {length} bytes where a {kind.name} holds at most {limit}.")
            first = start + _HEAD
            if size < first + length:
                self._needed = _HEAD + length
                break
            start = first + length
            frames.append(Frame(kind, number, acknowledged, bytes(data[first:start])))
        if start < size:
            self._buffer += memoryview(data)[start:]
        return frames
