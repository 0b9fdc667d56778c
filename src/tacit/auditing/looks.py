"""Looks at numbers that must be independent and standard normal, or uniform words: what is the chance of this?

    spread    Σy² over all, over a coordinate, over a group of coordinates: χ²
    shape     the largest distance from Φ: Kolmogorov & Smirnov
    joint     yₐ·y_b/|yₐ| between agents ~ N(0, 1) exactly; autocorrelation over coordinates, at every distance
    apart     m·y/|m| ~ N(0, 1) for every m that is known

Each look returns the chance of its worst case among *k*, times k (Bonferroni): looks of any size share a risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import kolmogorov, ndtr
from scipy.stats import chi2

from tacit.typing import Array, Words

_ENOUGH = 2000  # products in a sum that is taken for normal


class Look(NamedTuple):
    """The worst case of one look."""

    chance: float
    status: str
    says: str


def squares(where: str, sums: Array, degrees: NDArray[Any] | int) -> list[Look]:
    """Look at sums of squares that must be χ², on both sides."""
    if not len(sums):
        return []
    low, high = chi2.cdf(sums, degrees), chi2.sf(sums, degrees)
    ratio = sums / degrees
    small, large = int(low.argmin()), int(high.argmin())
    return [
        Look(len(sums) * float(low[small]), "beaten", _variance("small", where, ratio[small])),
        Look(len(sums) * float(high[large]), "weak", _variance("large", where, ratio[large])),
    ]


def spread(y: Array, groups: Sequence[tuple[str, NDArray[Any]]] = ()) -> list[Look]:
    """Look at the size of y, (agents, coordinates), and at its shape."""
    by_coordinate = np.square(y).sum(axis=0)
    found = squares("over all", np.array([by_coordinate.sum()]), y.size)
    found += squares("in a coordinate", by_coordinate, len(y))
    for where, labels in groups:
        found += squares(where, np.bincount(labels, by_coordinate).astype(np.float64), len(y) * np.bincount(labels))
    return [*found, *shape(y.reshape(1, -1), "over all")]


def shape(y: Array, where: str) -> list[Look]:
    """Look at every row's distance from the normal distribution."""
    if y.shape[1] < 50:
        return []
    chances = _distances(np.sort(ndtr(y), axis=1))
    return [Look(len(y) * float(chances.min()), "beaten", f"errors are not normally distributed {where}")]


def joint(y: Array) -> list[Look]:
    """Look for rows that go together, and for columns that do at any distance."""
    found = []
    if len(y) > 1:
        length = np.linalg.norm(y, axis=1, keepdims=True)
        rows = np.triu_indices(len(y), 1)
        found.append(normal((y @ y.T / length)[rows], "errors of two agents go together"))
    k, columns = y.shape
    farthest = min(columns - _ENOUGH // k - 1, columns // 2)
    if farthest >= 1:
        found.append(normal(_autocorrelation(y, farthest), "coordinates go together"))
    return found


def _autocorrelation(y: Array, farthest: int) -> Array:
    """Return Σ_k y_k y_{k+l} over all rows, as normal numbers, for distances of up to *farthest*."""
    k, columns = y.shape
    power = np.square(np.abs(np.fft.rfft(y, 2 * columns, axis=1))).sum(axis=0)
    sums = np.fft.irfft(power, 2 * columns)[1 : farthest + 1]
    return np.asarray(sums / np.sqrt(k * (columns - np.arange(1, farthest + 1))))


def apart(y: Array, known: Array, what: str) -> list[Look]:
    """Look whether y tells anything about *known*, (any, columns of y)."""
    length = np.linalg.norm(known, axis=1)
    known, length = known[length > 0], length[length > 0]
    return [normal(y @ known.T / length, f"errors are not independent {what}")] if len(known) else []


def normal(z: Array, says: str) -> Look:
    """Look at numbers that must be standard normal one by one, for the largest."""
    worst = float(np.abs(z).max(initial=0.0))
    return Look(2.0 * z.size * float(ndtr(-worst)), "beaten", f"{says}: {worst:.1f} deviations")


def uniform(words: Words, where: str) -> list[Look]:
    """Look at every row of words modulo 2⁶⁴: as a whole, at its lowest 16 bits, and bit by bit."""
    top = _distances(np.sort(words * 2.0**-64, axis=1))
    low = _distances(np.sort((words & np.uint64(0xFFFF)) * 2.0**-16 + 2.0**-17, axis=1))
    says = f"words are not uniform {where}"
    return [
        Look(len(words) * float(top.min()), "beaten", says),
        Look(len(words) * float(low.min()), "beaten", f"{says}, in their lowest bits"),
        balance(words, 64, where),
    ]


def balance(words: NDArray[Any], bits: int, where: str) -> Look:
    """Look at the lowest *bits* of every row, one by one: half of them must be 1."""
    counts = np.stack([((words >> words.dtype.type(bit)) & words.dtype.type(1)).sum(axis=1) for bit in range(bits)])
    tries = words.shape[1]
    return normal((2.0 * counts - tries) / np.sqrt(tries), f"a bit is not balanced {where}")


def _distances(shares: Array) -> Array:
    """Return the chance of every row's largest distance from the uniform distribution; rows are sorted."""
    count = shares.shape[1]
    steps = np.arange(count + 1) / count
    away = np.maximum((steps[1:] - shares).max(axis=1), (shares - steps[:-1]).max(axis=1))
    return np.asarray(kolmogorov(np.sqrt(count) * away))


def _variance(size: str, where: str, ratio: float) -> str:
    return f"errors are too {size} {where}: variance {ratio:.3g} of the prediction"
