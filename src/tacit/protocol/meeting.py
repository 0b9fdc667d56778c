"""How two members who can only dial out meet at a relay: what each says to it first, and what it answers.

    call     "tacit-meet/1", a line feed | u8 side | 32 bytes token    the same length from everybody
    answer   one byte: W while nobody else is there, J when somebody is, anything else is a refusal

After J the relay passes bytes on as they come, and the two begin TLS: the *first* of them in the manifest as its
server, the other as its client. The token is an HMAC-SHA-256 of the two names under the session: the same at both
ends, another one for every link and every run, and to whoever does not have the manifest 32 random bytes. It is no
secret and protects nothing: who knows it can be met, and is found out by its certificate.
"""

from __future__ import annotations

import hashlib
import hmac
from enum import Enum, IntEnum
from typing import NamedTuple

_GREETING = b"tacit-meet/1\n"
_TOKEN = 32
CALL = len(_GREETING) + 1 + _TOKEN
"""Bytes in a call."""


class Side(IntEnum):
    """Which of the two calls."""

    FIRST = 0
    SECOND = 1

    @property
    def other(self) -> Side:
        """Whom it waits for."""
        return Side(1 - self)


class Reply(Enum):
    """What a relay says."""

    WAIT = b"W"
    JOINED = b"J"
    NOBODY = b"N"
    FULL = b"F"
    STRANGER = b"S"
    CLOSING = b"C"


class Meeting(NamedTuple):
    """One end of a link whose ends meet at a relay."""

    token: bytes
    side: Side

    def __repr__(self) -> str:
        return f"Meeting({self.side.name}, …)"

    @property
    def call(self) -> bytes:
        """What is said to the relay first."""
        return _GREETING + bytes([self.side]) + self.token


def token_of(session: str, one: str, other: str) -> bytes:
    """Return what names the link of two members at a relay: the same in either order, and for one session only."""
    names = "\0".join(sorted((one, other)))
    return hmac.digest(session.encode(), b"tacit: meeting at a relay\0" + names.encode(), hashlib.sha256)


def read_call(data: bytes) -> Meeting | None:
    """Return who calls; None where these bytes are no call."""
    side = data[len(_GREETING) : len(_GREETING) + 1]
    if len(data) != CALL or not data.startswith(_GREETING) or side not in (b"\0", b"\1"):
        return None
    return Meeting(data[-_TOKEN:], Side(side[0]))
