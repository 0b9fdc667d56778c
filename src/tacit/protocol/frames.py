"""What goes over a link: frames, and how they are cut out of a stream of bytes.

    u32 length of the body | u8 kind | u64 number | u64 acknowledged | body

A frame is refused by its header alone: the kind must be known, and the body no longer than that kind may be. So no
peer can make another hold more than one frame of bytes that it has not judged.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from tacit.errors import ProtocolError

_HEADER = struct.Struct(">IBQQ")
HELLO_LIMIT = 4096


class Kind(IntEnum):
    """Kinds of frames."""

    HELLO = 1  # first frame both ways: who, which session, which message is wanted next
    DATA = 2  # a message of the algorithm
    PING = 3  # still here
    BYE = 4  # no more will come, and why


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
        self._limits: dict[int, int] = {
            Kind.HELLO: HELLO_LIMIT,
            Kind.DATA: limit,
            Kind.PING: 0,
            Kind.BYE: HELLO_LIMIT,
        }
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
        start, self._needed = 0, 0
        while len(data) - start >= _HEADER.size:
            length, kind, number, acknowledged = _HEADER.unpack_from(data, start)
            limit = self._limits.get(kind)
            if limit is None:
                raise ProtocolError(f"a peer sent a frame of the unknown kind {kind}.")
            if length > limit:
                raise ProtocolError(
                    f"a peer announced {length} bytes where a {Kind(kind).name} holds at most {limit}."
                )
            end = start + _HEADER.size + length
            if len(data) < end:
                self._needed = end - start
                break
            body = bytes(memoryview(data)[start + _HEADER.size : end])
            frames.append(Frame(Kind(kind), number, acknowledged, body))
            start = end
        if start < len(data):
            self._buffer += memoryview(data)[start:]
        return frames
