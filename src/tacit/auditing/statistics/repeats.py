"""Numbers that come twice: of 2⁶⁴ words, hardly ever.

Pairs that agree by chance are counted by a Poisson law whose mean is known; a rule that repeats numbers makes many
more. It does not matter where they lie: on any two links, in any places, of any two sums or runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from tacit.auditing.statistics.statistic import Statistic
from tacit.typing import Words


def repeats(keys: NDArray[Any], expected: float, what: str) -> Statistic:
    """Look at keys of which *expected* pairs agree by chance."""
    ordered = np.sort(keys, axis=None)
    count = int((ordered[1:] == ordered[:-1]).sum())
    p = float(poisson.sf(count - 1, max(expected, 1e-300)))
    return Statistic(p, "beaten", f"{count} {what}, and luck explains {expected:.2g}", certain=True)


def pairs_of(count: int, bits: int) -> float:
    """Return how many pairs of so many uniform numbers of so many bits agree by chance."""
    return count * (count - 1) / 2.0 ** (bits + 1)


def multiples(words: Words, largest: int = 31) -> Words:
    """Return words times the odd numbers up to *largest*, whichever sign: k·a = l·b shows as a repeat."""
    factors = np.arange(1, largest + 1, 2, dtype=np.uint64)
    products = words.ravel()[None] * factors[:, None]
    return np.minimum(products, ~products + np.uint64(1))


def turned(words: Words) -> Words:
    """Return the smallest of all turns of a word's 64 bits, and of its complement's."""
    words = words.ravel()
    least = np.minimum(words, ~words)
    for turn in range(1, 64):
        moved = (words << np.uint64(turn)) | (words >> np.uint64(64 - turn))
        np.minimum(least, np.minimum(moved, ~moved), out=least)
    return least


def ratios(words: Words, others: Words) -> Words:
    """Return words over others modulo 2⁶⁴, in places where both are odd."""
    words, others = words.ravel(), others.ravel()
    both = (words & others & np.uint64(1)) == 1
    words, others = words[both], others[both]
    inverse = others * np.uint64(3) ^ np.uint64(2)  # right in five bits; every turn doubles them
    for _ in range(4):
        inverse *= np.uint64(2) - others * inverse
    return words * inverse
