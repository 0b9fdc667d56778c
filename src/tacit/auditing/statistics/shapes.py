"""The law of single numbers: normal, or uniform words; far out, and bit by bit. Too good a fit is one, too.

D = max |F̂ − F|        exact law of Kolmogorov and Smirnov's distance (Simard, L'Ecuyer, J. Stat. Softw. 39, 2011)
#{|y| > t}             binomial: masks of bounded support have none
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom, chi2, kstwo

from tacit.auditing.statistics.statistic import Statistic, normal, worst_of
from tacit.typing import Array, Words

_FEWEST = 50
_FIELD = (1 << 16) - 1
"""The largest number of sixteen bits: so many ones are counted in a quarter of a word."""
_AT_ONCE = 1 << 16


def shape(y: Array, where: str, *, shares: Array | None = None) -> list[Statistic]:
    """Look at every row's distance from the normal distribution; *shares* are Φ(y), where they are known."""
    if y.shape[1] < _FEWEST:
        return []
    return [_farthest(ndtr(y) if shares is None else shares, f"errors are not normally distributed {where}")]


def tails(y: Array, where: str, rng: np.random.Generator) -> list[Statistic]:
    """Look at how many numbers lie beyond t, where 500 are expected, 50, and 16: are masks bounded, or too wild?

    A count is discrete: between the p of "as many" and of "more", luck decides, so that p is uniform.
    """
    sizes, seen = np.abs(y).ravel(), []
    for expected in (500.0, 50.0, 16.0):
        share = expected / sizes.size
        if share > 0.1:
            continue
        beyond = -float(ndtri(share / 2.0))
        count = int((sizes > beyond).sum())
        above = float(binom.sf(count, sizes.size, share)) + rng.random() * float(
            binom.pmf(count, sizes.size, share)
        )
        p = 2.0 * min(above, 1.0 - above)
        says = f"{count} of {sizes.size} masks are beyond {beyond:.2f} σ {where}, where {expected:.0f} are expected"
        seen.append(Statistic(p, "beaten", says))
    return seen


def uniform(words: Words, where: str) -> list[Statistic]:
    """Look at every row of words modulo 2⁶⁴: as a whole, at its lowest 16 bits, and bit by bit."""
    says = f"words are not uniform {where}"
    low = (words & np.uint64(0xFFFF)) * 2.0**-16 + 2.0**-17
    return [
        _farthest(words * 2.0**-64, says),
        _farthest(low, f"{says}, in their lowest bits"),
        balance(words, 64, where),
    ]


def balance(words: NDArray[Any], bits: int, where: str) -> Statistic:
    """Look at the lowest *bits* of every row, one by one: half of them must be 1."""
    counts, tries = ones(words)[:bits], words.shape[1]
    return normal((2.0 * counts - tries) / np.sqrt(tries), f"a bit is not balanced {where}")


def ones(words: NDArray[Any]) -> NDArray[np.intp]:
    """Return how many words of every row, of 64 bits each, have a one in which place, (64, rows)."""
    counts = np.zeros((64, len(words)), dtype=np.intp)
    lowest, fields = np.uint64(0x0001_0001_0001_0001), np.arange(0, 64, 16, dtype=np.uint64)[:, None]
    for rows in _few_at_a_time(words):
        for start in range(0, words.shape[1], _FIELD):
            part = words[rows, start : start + _FIELD].view(np.uint64)
            for bit in range(16):
                four = ((part >> np.uint64(bit)) & lowest).sum(axis=1)  # four sums in one word
                counts[bit::16, rows] += ((four >> fields) & np.uint64(_FIELD)).astype(np.intp)
    return counts


def _few_at_a_time(values: NDArray[Any]) -> Iterator[slice]:
    """Return rows that stay in the cache together."""
    step = max(1, _AT_ONCE // max(1, values.shape[1]))
    return (slice(start, start + step) for start in range(0, len(values), step))


def cells(words: NDArray[Any], bits: int, where: str) -> list[Statistic]:
    """Look at all numbers' lowest *bits*, eight at a time: 256 equally likely cells, χ²."""
    seen = []
    for low in range(0, bits - 7, 8):
        counts = np.bincount(
            ((words >> words.dtype.type(low)) & words.dtype.type(255)).astype(np.intp).ravel(), minlength=256
        )
        share = words.size / 256
        if share < 20:
            continue
        upper = float(chi2.sf(np.square(counts - share).sum() / share, 255))
        seen.append(
            Statistic(2.0 * min(upper, 1.0 - upper), "beaten", f"bits {low} to {low + 7} are not uniform {where}")
        )
    return seen


def distances(shares: NDArray[Any]) -> Array:
    """Return every row's largest distance from the uniform distribution; rows are sorted."""
    count = shares.shape[1]
    steps = np.arange(count + 1) / count
    return np.asarray(np.maximum((steps[1:] - shares).max(axis=1), (shares - steps[:-1]).max(axis=1)))


def _farthest(shares: NDArray[Any], says: str) -> Statistic:
    """Look at the worst fit, and at the best: numbers that fit too well were not drawn one by one."""
    away = np.concatenate([distances(np.sort(shares[rows], axis=1)) for rows in _few_at_a_time(shares)])
    count = shares.shape[1]
    far, near = float(kstwo.sf(float(away.max()), count)), float(kstwo.cdf(float(away.min()), count))
    return Statistic(worst_of(2.0 * min(far, near), len(away)), "beaten", says)
