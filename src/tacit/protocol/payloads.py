"""Arrays as bytes: one letter for the kind of numbers, then the numbers, little-endian.

A float that is NaN or infinite, or beyond 1e100, is refused: no honest agent sends it. Where a liar has sent
something just below, an honest agent may come to more: it stops before it sends that, or others would name it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ProtocolError
from tacit.protocol.frames import Bytes

FLOATS = b"f"
"""What a message of float64 numbers begins with."""
_LETTERS = {FLOATS: np.dtype("<f8"), b"u": np.dtype("<u8"), b"i": np.dtype("<i8")}
_HUGE = 1e100
_DIGEST = 4  # words of 64 bits
_KINDS = {dtype.kind: letter for letter, dtype in _LETTERS.items()}


def encode(array: NDArray[Any]) -> bytes:
    """Return a vector of 64-bit numbers as bytes."""
    letter = _KINDS[array.dtype.kind]
    if letter == FLOATS and not np.vdot(array, array) <= _HUGE**2 and not np.abs(array).max() <= _HUGE:
        raise ProtocolError(
            f"the numbers of this member are beyond {_HUGE:g}, or none at all (NaN or infinite), and were not "
            "sent: a neighbour has sent very large ones, or the step is too long for the costs."
        )
    return b"".join((letter, raw(np.asarray(array, dtype=_LETTERS[letter]))))


def raw(array: NDArray[Any]) -> memoryview:
    """Return an array's bytes, without a copy where they lie in one piece."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def decode(body: Bytes, sender: str = "a peer") -> NDArray[Any]:
    """Return the vector; refuse what is none, and say who sent it."""
    dtype = _LETTERS.get(bytes(body[:1]))
    if dtype is None or len(body) % 8 != 1:
        raise ProtocolError(f"{sender} sent a message that is no vector of numbers.", neighbour=sender)
    array = np.frombuffer(body[1:], dtype=dtype)
    if dtype.kind == "f" and not np.vdot(array, array) <= _HUGE**2:  # else all are small enough
        _refuse_wild(array, sender)
    return array


def _refuse_wild(array: NDArray[Any], sender: str) -> None:
    """Refuse NaN, infinite numbers, and those beyond all bounds."""
    if not np.logical_and.reduce(np.isfinite(array)):
        raise ProtocolError(
            f"{sender} sent NaN or infinity instead of a number: its run has come apart.", neighbour=sender
        )
    if not max(array.max(), -array.min()) <= _HUGE:
        raise ProtocolError(
            f"{sender} sent a number beyond {_HUGE:g}: no cost in any unit leads there.", neighbour=sender
        )


def longest(dim: int, *, curvature: bool = True, points: int = 1) -> int:
    """Return the most bytes that a message about so many unknowns can have.

    The longest is a sum of values, gradients at so many *points*, Hessians, penalties and a complaint, in two words
    each, with the digest of all totals before it; maxima of a look are shorter. Without *curvature* nothing travels
    that has an entry for every two unknowns.
    """
    return 1 + 16 * ((dim * (dim + 1) // 2 if curvature else 0) + (3 + points) * dim + 16 + _DIGEST)
