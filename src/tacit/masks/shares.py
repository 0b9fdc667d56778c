"""Noise shares: the discrete Gaussian, drawn exactly from cryptographic bits.

    P[k] ∝ exp(−k² / 2s²),   k a whole number, s a whole number of steps

    Y: two-sided geometric, P[y] ∝ exp(−|y|/T),  T = 2^⌈log₂ s⌉        proposed
    accepted with probability exp(−(|Y| − s²/T)² / 2s²)

Canonne, Kamath & Steinke, NeurIPS 2020, Algorithms 1 to 3, with a power of two for the proposal's scale. Every
decision compares a uniform number with exp(−γ) for a rational γ: 64 bits and a float64 settle all but one in 2³⁵
of them, and the others are settled with as many digits as it takes. So the law is exact, far out as well: masks may
miss cells there, and shares may not, because a missing cell would tell two worlds apart for certain.

A share belongs to the numbers that it is added to. It is drawn under

    key = BLAKE2b(which sum ‖ the numbers; the agent's secret of this run)

so that an agent that comes back after a crash adds the same share to the same numbers, and another share to any
others: the same share on changed numbers would tell the change as it is.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.costs import Family
from tacit.costs.sensitivity import RecordLimits
from tacit.differential import DifferentialPrivacy
from tacit.errors import MaskError
from tacit.masks.randomness import Keystream, Source
from tacit.typing import Peers, Words

_WORDS = 4  # of a key
_UNSURE = 2.0**-36  # relative: a float64's exp, of a γ made of a few products, is off by far less
_LARGEST = 2**52  # steps: then all that is computed stays within 63 bits
_FLOATS = 2.0**-12
Integers = NDArray[np.int64]


class RandomWords(Protocol):
    """Where random words come from."""

    def words(self, count: int) -> Words:
        """Return *count* uniform 64-bit words that were never returned before."""


def discrete_gaussian(bits: RandomWords, count: int, deviation: int) -> Integers:
    """Return *count* independent draws of P[k] ∝ exp(−k²/2s²), s = *deviation* ≥ 1, exactly."""
    if not 1 <= deviation <= _LARGEST:
        raise MaskError(f"a share of {deviation} steps: from 1 to 2⁵² can be drawn.")
    scale = (deviation - 1).bit_length()  # T = 2^scale
    out = np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        y = _two_sided_geometric(bits, 2 * (count - done) + 16, scale)
        y = y[_happens(bits, _Tail(deviation, scale), np.abs(y))][: count - done]
        out[done : done + len(y)] = y
        done += len(y)
    return out


def _two_sided_geometric(bits: RandomWords, tries: int, scale: int) -> Integers:
    """Return draws of P[y] ∝ exp(−|y|/T), T = 2^scale; about a third of *tries*."""
    low = (bits.words(tries) & np.uint64((1 << scale) - 1)).astype(np.int64)
    low = low[_happens(bits, _Ramp(scale), low)]
    high, alive = np.zeros(len(low), dtype=np.int64), np.arange(len(low))
    while len(alive):  # the number of e⁻¹'s in a row
        alive = alive[_happens(bits, _One(), high[alive])]
        high[alive] += 1
    size = low + (high << scale)
    negative = (bits.words(len(size)) & np.uint64(1)).astype(bool)
    kept = ~(negative & (size == 0))  # zero once, not twice
    return np.where(negative, -size, size)[kept]


class _Ramp(NamedTuple):
    """γ = u/T."""

    scale: int

    def near(self, k: Integers) -> NDArray[np.float64]:
        return np.ldexp(k.astype(np.float64), -self.scale)

    def exactly(self, k: int) -> Fraction:
        return Fraction(k, 1 << self.scale)


class _One(NamedTuple):
    """γ = 1."""

    def near(self, k: Integers) -> NDArray[np.float64]:
        return np.ones(len(k))

    def exactly(self, k: int) -> Fraction:
        return Fraction(1)


class _Tail(NamedTuple):
    """γ = (|y| − s²/T)² / 2s²."""

    deviation: int
    scale: int

    def near(self, k: Integers) -> NDArray[np.float64]:
        s = float(self.deviation)
        return np.square(k / s - np.ldexp(s, -self.scale)) / 2.0

    def exactly(self, k: int) -> Fraction:
        s2 = self.deviation**2
        return (Fraction(k) - Fraction(s2, 1 << self.scale)) ** 2 / (2 * s2)


def _happens(bits: RandomWords, gamma: _Ramp | _One | _Tail, k: Integers) -> NDArray[np.bool_]:
    """Tell of every k whether an event of probability exp(−γ(k)) happens: U < exp(−γ), U uniform."""
    words = bits.words(len(k))
    chance, u = np.exp(-gamma.near(k)), words * 2.0**-64  # u is off by 2⁻⁵³ of itself, and U − w/2⁶⁴ < 2⁻⁶⁴
    margin = _UNSURE * (chance + u) + 2.0**-63
    happened = np.asarray(u < chance)
    for row in np.flatnonzero(np.abs(u - chance) <= margin):
        happened[row] = _settled(bits, int(words[row]), gamma.exactly(int(k[row])))
    return happened


def _settled(bits: RandomWords, word: int, gamma: Fraction) -> bool:
    """Tell whether U < exp(−γ), *word* being the first 64 bits of U, by more bits and digits until it is clear."""
    known, numerator, digits = 64, word, 60
    while True:
        context = Context(prec=digits)
        power = context.divide(Decimal(-gamma.numerator), Decimal(gamma.denominator))
        near = Fraction(context.exp(power))
        room = near * Fraction(1, 10 ** (digits - 20))  # far more than both roundings
        low, high = Fraction(numerator, 1 << known), Fraction(numerator + 1, 1 << known)
        if high <= near - room:
            return True
        if low >= near + room:
            return False
        numerator, known, digits = (numerator << 64) | int(bits.words(1)[0]), known + 64, digits + 30


def draw_exactly(source: Source, links: int, deviations: Integers) -> Integers:
    """Return a row for every link, of these deviations in whole steps: masks whose law is exact far out as well."""
    keys: Words = source.words(links * _WORDS).reshape(links, _WORDS)
    return np.stack([_row(Keystream(key.tobytes()), deviations) for key in keys])


def _row(bits: RandomWords, deviations: Integers) -> Integers:
    out = np.empty(len(deviations), dtype=np.int64)
    for deviation in np.unique(deviations):
        columns = np.flatnonzero(deviations == deviation)
        out[columns] = discrete_gaussian(bits, len(columns), int(deviation))
    return out


def limits_of(promise: DifferentialPrivacy) -> RecordLimits:
    """Return the limits on records that *promise* is made under."""
    return RecordLimits(clip=float(promise.clip or 0.0), labels=promise.labels)


def clipped_to(cost: Family, promise: DifferentialPrivacy) -> Family:
    """Return *cost* with every record within the limits of *promise*; nothing tells whether one was not."""
    limits = limits_of(promise)
    return cost if cost.kept == limits else cost.clipped(limits)


def whole_steps(share: float, step: float, numbers: int, *, moved: float = 1.0) -> int:
    """Return the deviation of a share in whole steps, for so many numbers that are rounded to steps first.

    *share* is for a record that moves them by 1, and *moved* is by how much it does.

    It is a little more than was asked for. Rounding moves two worlds apart by up to a step a number; and totals of
    n records of length 1, added up as floats, by up to n²·2⁻⁵², which is 2⁻¹² for a million of them.
    """
    return math.ceil(share * (moved / step * (1.0 + _FLOATS) + math.sqrt(numbers)))


class ShareKeys:
    """One secret per agent for one run, and the shares that follow from it. Nothing shows the secrets."""

    def __init__(self, keys: list[bytes]) -> None:
        self._keys = keys

    @classmethod
    def drawn(cls, agents: int, source: Source, peers: Peers) -> ShareKeys:
        """Draw a secret for every agent; *agents* is 1 for one agent by itself."""
        words: Words = source.words(peers.links * _WORDS).reshape(peers.links, _WORDS)
        degrees = np.broadcast_to(np.ravel(peers.degree), (agents,)).astype(np.intp)
        first = np.cumsum(degrees) - degrees  # the first of every agent's links
        return cls([words[k].tobytes() for k in first])

    def draw(self, purpose: bytes, numbers: Words, deviations: Integers | int) -> Integers:
        """Return shares for *numbers*, (agents, p) or (p,), in whole steps; they belong to these numbers alone.

        *deviations* is one for all, or one for every column.
        """
        rows = numbers.reshape(len(self._keys), -1)
        each = np.broadcast_to(np.asarray(deviations, dtype=np.int64), rows.shape[1:])
        drawn = [_row(_belonging(key, purpose, row), each) for key, row in zip(self._keys, rows, strict=True)]
        return np.stack(drawn).reshape(numbers.shape)

    def __repr__(self) -> str:
        return "ShareKeys(…)"


def _belonging(key: bytes, purpose: bytes, numbers: Words) -> Keystream:
    """Return the stream of random bits that belongs to a purpose and to these numbers."""
    digest = blake2b(len(purpose).to_bytes(8, "big") + purpose, key=key, person=b"tacit: shares", digest_size=32)
    digest.update(np.ascontiguousarray(numbers, dtype="<u8").tobytes())
    return Keystream(digest.digest())
