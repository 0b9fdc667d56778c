"""Fixed point: real numbers as integers modulo 2⁶⁴, or 2¹²⁸ in two words.

    k = rint(v / step),   step = 2^⌈log₂ 2n·bound⌉ / 2^(bits − 1)

Everybody rounds to multiples of the same step, which follows from the public bound and the number of agents alone:
n numbers of up to *bound* can be added up without wrapping round. The sum is then exact but for the rounding of
every v, at most n·step/2 in all.

Words are added modulo 2⁶⁴ by the machine itself. Two words are (low, high) along the last axis, and carry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import MaskError
from tacit.typing import Array, Peers, Words

_HUGE = 1e100
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFF_FFFF)


class OneWord:
    """Integers modulo 2⁶⁴."""

    words = 1
    add: ClassVar[Callable[[Words, Words], Words]] = np.add

    @staticmethod
    def net(went: Words, came: Words, peers: Peers) -> Words:
        """Return Σ_j (r_ji − r_ij), eq. (4): what came in less what went out."""
        came -= went
        return peers.total(came)

    @staticmethod
    def encode(k: Array) -> Words:
        """Return whole numbers as words."""
        return k.astype(np.int64).view(np.uint64)

    @staticmethod
    def decode(w: Words) -> Array:
        """Return words as whole numbers, the upper half as negative ones."""
        return w.view(np.int64).astype(np.float64)


class TwoWords:
    """Integers modulo 2¹²⁸: the lower word in the even places, the upper in the odd ones."""

    words = 2

    @staticmethod
    def add(a: Words, b: Words) -> Words:
        """Return a + b, with the carry."""
        low = a[..., 0::2] + b[..., 0::2]
        high = a[..., 1::2] + b[..., 1::2] + (low < a[..., 0::2])
        return _interleaved(low, high)

    @staticmethod
    def net(went: Words, came: Words, peers: Peers) -> Words:
        """Return Σ_j (r_ji − r_ij), eq. (4): what came in less what went out."""
        return TwoWords.add(_in_all(came, peers), _negative(_in_all(went, peers)))

    @staticmethod
    def encode(k: Array) -> Words:
        """Return whole numbers as pairs of words."""
        high = np.floor(np.abs(k) * 2.0**-64)
        low = np.abs(k) - high * 2.0**64
        words = _interleaved(low.astype(np.uint64), high.astype(np.uint64))
        return np.where(np.repeat(k < 0, 2, axis=-1), _negative(words), words)

    @staticmethod
    def decode(w: Words) -> Array:
        """Return pairs of words as whole numbers, the upper half as negative ones."""
        below_zero = w[..., 1::2] >> np.uint64(63) == 1
        size = np.where(np.repeat(below_zero, 2, axis=-1), _negative(w), w)
        whole = size[..., 1::2].astype(np.float64) * 2.0**64 + size[..., 0::2].astype(np.float64)
        return np.where(below_zero, -whole, whole)


Ring = type[OneWord] | type[TwoWords]


def _interleaved(low: Words, high: Words) -> Words:
    return np.stack([low, high], axis=-1).reshape(*low.shape[:-1], -1)


def _negative(w: Words) -> Words:
    """Return −w modulo 2¹²⁸."""
    low = ~w[..., 0::2] + np.uint64(1)
    high = ~w[..., 1::2] + (low == 0)
    return _interleaved(low, high)


def _in_all(w: Words, peers: Peers) -> Words:
    """Return the sums of the rows that each agent owns.

    A sum of lower words would lose carries: their 32-bit halves have room for them, and carry afterwards. What
    upper words carry is beyond 2¹²⁸.
    """
    low = w[..., 0::2]
    lower, upper = peers.total(low & _LOW_HALF), peers.total(low >> _HALF)
    upper += lower >> _HALF
    high = peers.total(w[..., 1::2]) + (upper >> _HALF)
    return _interleaved((lower & _LOW_HALF) | (upper << _HALF), high)


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Multiples of 2^exponent, none beyond *bound*, for sums over so many *agents*."""

    exponent: int
    bound: float
    agents: int
    ring: Ring

    @classmethod
    def fit(cls, *, bound: float, agents: int, words: int) -> FixedPoint:
        """Return the finest steps in which the sum over all agents cannot wrap round."""
        if not (isinstance(bound, Real) and 1.0 / _HUGE < bound < _HUGE):
            raise MaskError(
                f"bound = {bound} must be a positive number, neither tiny nor huge: nothing that is added up may "
                "exceed it."
            )
        if words not in (1, 2):
            raise MaskError(f"words = {words}: secret sums use one word of 64 bits, or two.")
        # one step more than the bound for the rounding of each
        exponent = math.ceil(math.log2(2.0 * agents * bound)) - 64 * words + 1
        return cls(exponent=exponent, bound=bound, agents=agents, ring=OneWord if words == 1 else TwoWords)

    @property
    def step(self) -> float:
        """The distance of neighbouring numbers."""
        return 2.0**self.exponent

    @property
    def error(self) -> float:
        """The most by which a sum can be off, before it is rounded to a float64: n·step/2."""
        return self.agents * self.step / 2.0

    def fits(self, v: Array) -> NDArray[np.bool_]:
        """Tell of every agent whether all its numbers are within the bound."""
        if not v.shape[-1]:
            return np.ones(v.shape[:-1], dtype=bool)
        # the extremes of a row with NaN are NaN, and fit nothing
        return np.asarray((v.max(axis=-1) <= self.bound) & (v.min(axis=-1) >= -self.bound))

    def encode(self, v: Array) -> Words:
        """Return the nearest multiples as words, (..., p·words)."""
        k = v * 2.0**-self.exponent
        return self.ring.encode(np.rint(k, out=k))

    def decode(self, w: Words) -> Array:
        """Return a sum of words as a number."""
        return self.ring.decode(w) * self.step
