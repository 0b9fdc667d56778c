"""The only randomness that masks may come from: AES-256 in counter mode under a key from the system.

A non-cryptographic generator would hand its stream to the neighbours: they receive outputs of the
same generator that masks the honest links, and can run it backwards.

`Keystream` is one agent's stream; `Keystreams` is the streams of many agents side by side, for the
stacked runtime. Agent i draws the same numbers from either.

    d ← SHA-256(d ‖ total),   next block = BLAKE2b(d; key)[0:12] ‖ 0…0

After every secret sum a stream *turns* to a place that the totals decide. An agent whose state was copied or
restored can be told another total than before, and has other numbers to hide then: it draws other masks for them.
Told the same, it has the same numbers, if its machine rounds as before, and masks them as before. So no mask hides
two different numbers after an older state was restored on the same machine. Two places are the same, or overlap,
with probability 2⁻⁹⁶; they depend on the key, or a liar could look for two totals that lead to one place: for 96
bits that anybody can compute, 2⁴⁸ trials at home would do.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import NamedTuple, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from tacit.errors import MaskError

_KEY_BYTES = 32
_PLACE = 12  # bytes of a block's 16 that the totals decide; the others count
_ZEROS = memoryview(bytes(1 << 18))  # what the cipher turns into its keystream


class Positions(NamedTuple):
    """How far a stream and its branches have come."""

    turned: str
    """The digest of all totals, in hexadecimal."""
    read: list[int]
    """Bytes since the last of them, of every stream."""


class Source(Protocol):
    """Where masks get their random bits."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return *count* uniform 64-bit words that were never returned before."""

    def shorts(self, count: int) -> NDArray[np.uint16]:
        """Return *count* uniform 16-bit words that were never returned before."""

    def branch(self, keys: Sequence[bytes]) -> Keystreams:
        """Return one stream per key, side by side, which go back to a checkpoint together with this source."""

    def turn(self, total: bytes) -> None:
        """Go to a place that all totals so far decide, in all branches, too."""


class Keystream:
    """One agent's random bits: the AES-256-CTR keystream of one key. Nothing shows the key."""

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY_BYTES:
            raise MaskError(f"a key has {_KEY_BYTES} bytes, and this one has {len(key)}.")
        self._key = algorithms.AES(key)
        self._places = hashlib.blake2b(key=key, person=b"tacit: places", digest_size=_PLACE)
        self._branches: list[Keystream] = []
        self._turned = bytes(_KEY_BYTES)
        self._seek(0)

    @property
    def positions(self) -> Positions:
        """How much was read, here and from every branch."""
        return Positions(self._turned.hex(), [stream._position for stream in (self, *self._branches)])

    def seek(self, positions: Positions) -> None:
        """Go to where an agent was before it was restarted, and nowhere else, here and in every branch."""
        for stream, position in zip((self, *self._branches), positions.read, strict=True):
            stream._turned = bytes.fromhex(positions.turned)
            stream._seek(position)

    def turn(self, total: bytes) -> None:
        """Go to a place that all totals so far decide, in all branches, too."""
        _turn((self, *self._branches), hashlib.sha256(self._turned + total).digest())

    def _seek(self, position: int) -> None:
        counted, within = divmod(position, 16)
        self._cipher = Cipher(self._key, modes.CTR(self._block(counted))).encryptor()
        self._cipher.update(bytes(within))
        self._position = position

    def _block(self, counted: int) -> bytes:
        """Return a block behind the last turn; before the first one they are counted from zero."""
        place = bytes(_PLACE)
        if any(self._turned):
            keyed = self._places.copy()
            keyed.update(self._turned)
            place = keyed.digest()
        return place + counted.to_bytes(16 - len(place), "big")

    def branch(self, keys: Sequence[bytes]) -> Keystreams:
        """Return one stream per key, side by side, which go back to a checkpoint together with this one."""
        streams = Keystreams(keys, np.ones(len(keys), dtype=np.intp))
        self._branches += streams._streams
        return streams

    def fill(self, room: memoryview) -> None:
        """Write the next bytes of the stream into *room*."""
        for start in range(0, len(room), len(_ZEROS)):
            part = room[start : start + len(_ZEROS)]
            self._cipher.update_into(_ZEROS[: len(part)], part)
        self._position += len(room)

    def read(self, count: int) -> bytearray:
        """Return the next *count* bytes of the stream."""
        room = bytearray(count)
        self.fill(memoryview(room))
        return room

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next *count* 64-bit words, the same on every machine."""
        out = np.empty(count, dtype="<u8")
        self.fill(out.data.cast("B"))
        return out

    def shorts(self, count: int) -> NDArray[np.uint16]:
        """Return the next *count* 16-bit words, the same on every machine."""
        out = np.empty(count, dtype="<u2")
        self.fill(out.data.cast("B"))
        return out

    def __repr__(self) -> str:
        return "Keystream(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a keystream is secret and in the middle of its use: it is never copied or pickled.")


class Keystreams:
    """Many agents' streams: *shares* says how much of every request belongs to each agent."""

    def __init__(self, keys: Sequence[bytes], shares: NDArray[np.intp]) -> None:
        self._streams = [Keystream(key) for key in keys]
        self._shares = [int(share) for share in shares]
        self._whole = sum(self._shares)
        self._branches: list[Keystreams] = []
        self._turned = bytes(_KEY_BYTES)

    def turn(self, total: bytes) -> None:
        """Go to a place that all totals so far decide, in all streams."""
        self._turned = hashlib.sha256(self._turned + total).digest()
        _turn(self._streams, self._turned)
        for branch in self._branches:
            branch.turn(total)

    def _fill(self, room: memoryview) -> None:
        unit, rest = divmod(len(room), self._whole)
        if rest:
            raise MaskError(f"{len(room)} bytes cannot be shared among {self._whole} links.")
        start = 0
        for stream, share in zip(self._streams, self._shares, strict=True):
            stream.fill(room[start : start + unit * share])
            start += unit * share

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return *count* words, agent after agent."""
        out = np.empty(count, dtype="<u8")
        self._fill(out.data.cast("B"))
        return out

    def shorts(self, count: int) -> NDArray[np.uint16]:
        """Return *count* short words, agent after agent."""
        out = np.empty(count, dtype="<u2")
        self._fill(out.data.cast("B"))
        return out

    def branch(self, keys: Sequence[bytes]) -> Keystreams:
        """Return one stream per key, side by side; these are never restarted."""
        branch = Keystreams(keys, np.ones(len(keys), dtype=np.intp))
        self._branches.append(branch)
        return branch

    def __repr__(self) -> str:
        return f"Keystreams({len(self._streams)} agents)"


def _turn(streams: Sequence[Keystream], turned: bytes) -> None:
    for stream in streams:
        stream._turned, stream._position = turned, 0
        stream._cipher.reset_nonce(stream._block(0))


def agent_keys(agents: int, *, seed: int | None = None) -> list[bytes]:
    """Return one key per agent from the operating system.

    A *seed* makes them reproducible, for simulations only: whoever knows it knows every mask.
    """
    if seed is None:
        pool = os.urandom(_KEY_BYTES * agents)
    else:
        spread = HKDF(hashes.SHA256(), _KEY_BYTES, salt=None, info=b"tacit simulation: NOT PRIVATE")
        pool = bytes(Keystream(spread.derive(str(int(seed)).encode())).read(_KEY_BYTES * agents))
    return [pool[_KEY_BYTES * i : _KEY_BYTES * (i + 1)] for i in range(agents)]
