"""Bits that follow from other bits by exclusive or: rank over GF(2).

    known, tested: one vector of n bits per place         n ≥ places + 64 ⇒ all tested ones are independent of each
    other and of the known ones, but for a chance of 2⁻⁶⁴

Addition and multiplication by odd numbers are linear in the lowest bit; shifts, turns and exclusive ors of words
are linear in all of them. So every such rule between any number of words, known or not, is a rank that is too low.
(Marsaglia, Tsay, Linear Algebra Appl. 67, 1985, for the rank of random matrices.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.statistics.statistic import Statistic
from tacit.typing import Words

_SPARE = 64

Bits = NDArray[np.bool_]


def relations(tested: Bits, known: Bits | None = None, *, says: str) -> list[Statistic]:
    """Look for tested places, (places, n), that follow from known ones, from a constant, or from each other."""
    samples = tested.shape[1]
    constant = np.ones((1, samples), dtype=bool)
    before = constant if known is None else np.concatenate([constant, known])
    room = samples - _SPARE - len(before)
    if room < 1:
        return []
    tested = tested[:room]
    count = _dependent(_packed(np.concatenate([before, tested])), len(before))
    p = 1.0 if not count else 2.0 ** (len(before) + len(tested) - samples)
    return [Statistic(p, "beaten", f"{count} of {len(tested)} bits follow from others {says}", certain=True)]


def blocks(bits: Bits, *, length: int, says: str) -> list[Statistic]:
    """Look along rows, (rows, n): do bits follow from earlier ones, by the same rule in every block of *length*?"""
    rows, columns = bits.shape
    length = min(length, columns)
    count = columns // length
    while length > 8 and rows * count < length + 2 * _SPARE:
        length //= 2
        count = columns // length
    cut = bits[:, : count * length].reshape(rows * count, length)
    return relations(cut.T, says=says)


def bits_of(words: Words, count: int) -> Bits:
    """Return the lowest *count* bits of words, (places, n): (places·count, n), all bits of one place together."""
    each = (words[:, None, :] >> np.arange(count, dtype=np.uint64)[None, :, None]) & np.uint64(1)
    return each.reshape(-1, words.shape[1]).astype(bool)


def _packed(bits: Bits) -> Words:
    packed = np.packbits(bits, axis=1)
    wide = np.zeros((len(bits), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view(np.uint64)


def _dependent(vectors: Words, first: int) -> int:
    """Return how many vectors from *first* on follow from those before them; works in place."""
    count = 0
    for k, vector in enumerate(vectors):
        places = np.flatnonzero(vector)
        if not len(places):
            count += k >= first
            continue
        place = places[0]
        lowest = vector[place] & (~vector[place] + np.uint64(1))
        rows = k + 1 + np.flatnonzero(vectors[k + 1 :, place] & lowest)
        vectors[rows] ^= vector
    return count
