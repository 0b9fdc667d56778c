"""What is kept for a while, with a check of its own: a disk that has changed a byte is noticed.

    body | u32 CRC of the place where it lies and of the body

A database notices a page that makes no sense, and not a number that has become another one: it would be one more
answer, and a wrong one. The place belongs to it: a row that has moved is no row. This is against accidents; whoever
may write the file can write the check, too.
"""

from __future__ import annotations

import struct
import zlib

from tacit.errors import DamagedError
from tacit.protocol.frames import Bytes

DAMAGED = "is damaged. Keep it, and tell the others: a run whose masks are lost cannot go on."
_CHECK = struct.Struct("<I")


def seal(body: Bytes, *place: int) -> bytes:
    """Return *body* with its check.

    >>> unseal(seal(b"a number", 1, 7), 1, 7)
    b'a number'
    """
    return b"".join((body, _CHECK.pack(_of(body, place))))


def unseal(sealed: bytes, *place: int) -> bytes:
    """Return what was sealed; refuse what has changed, or lies elsewhere than it was written."""
    body = sealed[: -_CHECK.size]
    if len(sealed) < _CHECK.size or _CHECK.unpack(sealed[-_CHECK.size :])[0] != _of(body, place):
        raise DamagedError(DAMAGED)
    return body


def _of(body: Bytes, place: tuple[int, ...]) -> int:
    return zlib.crc32(body, zlib.crc32(struct.pack(f"<{len(place)}q", *place), 1))
