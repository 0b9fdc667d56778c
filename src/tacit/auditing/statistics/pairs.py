"""Numbers that go together, row with row, column with column: in proportion, in size, or in any smooth way.

    yₐ·y_b / |y_b|  ~ N(0, 1)              exactly, for normal numbers that are independent
    wₐ·w_b / |w_b|  ~ N(0, 1)              for many, with waves w = √2 cos 2πhu, √2 sin 2πhu of uniform numbers u

The waves of low frequencies span the smooth functions of u. Even ones see sizes that agree whatever the signs; a
word that is h times another agrees with it in one of its waves; so does one that differs from it by little. At all
distances at once: |Σₖ e^{2πi(aₖ ± b₍ₖ₊ₗ₎)}|²/n is exponential for every l, by the fast Fourier transform.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from tacit.auditing.statistics.statistic import Statistic, largest_normal, normal, worst_of
from tacit.typing import Array

_ENOUGH = 2000  # products in a sum that is taken for normal
_AT_ONCE = 256  # rows that are looked at together


def joint(y: Array) -> list[Statistic]:
    """Look for rows that go together, and for columns that do at any distance."""
    seen = []
    if len(y) > 1:
        length = np.linalg.norm(y, axis=1, keepdims=True)
        rows = np.triu_indices(len(y), 1)
        seen.append(normal((y @ y.T / length)[rows], "errors of two agents go together"))
    return [*seen, *along(y, "coordinates go together")]


def along(y: NDArray[Any], says: str) -> list[Statistic]:
    """Look for columns that go together at any distance, by the same rule in all rows."""
    k, columns = y.shape
    farthest = min(columns - _ENOUGH // k - 1, columns // 2)
    return [normal(_autocorrelation(y, farthest), says)] if farthest >= 1 else []


def shared(y: NDArray[Any], says: str) -> list[Statistic]:
    """Look for something, however small, that all rows have in common: Σ_k (Σ_a y_ak)²/rows ~ χ²."""
    if len(y) < 2:
        return []
    total = float(np.square(y.sum(axis=0)).sum() / len(y))
    low, high = float(chi2.cdf(total, y.shape[1])), float(chi2.sf(total, y.shape[1]))
    return [
        Statistic(2.0 * min(low, high), "beaten", f"{says}: variance {total / y.shape[1]:.3g} of the prediction")
    ]


def _autocorrelation(y: NDArray[Any], farthest: int) -> Array:
    """Return Σ_k y_k y_{k+l} over all rows, as normal numbers, for distances of up to *farthest*."""
    k, columns = y.shape
    power = np.square(np.abs(np.fft.rfft(y, 2 * columns, axis=1))).sum(axis=0)
    sums = np.fft.irfft(power, 2 * columns)[1 : farthest + 1]
    return np.asarray(sums / np.sqrt(k * (columns - np.arange(1, farthest + 1))))


def apart(y: Array, known: Array, what: str) -> list[Statistic]:
    """Look whether y tells anything about *known*, (any, columns of y)."""
    length = np.linalg.norm(known, axis=1)
    known, length = known[length > 0], length[length > 0]
    return [normal(y @ known.T / length, f"errors are not independent {what}")] if len(known) else []


def waves(u: Array, harmonics: Sequence[int]) -> NDArray[np.float32]:
    """Return cosines and sines of uniform numbers, (rows, n): (2·harmonics·rows, n), the rows' order repeated."""
    turns = np.float32(2.0 * np.pi) * u.astype(np.float32)
    each = [wave(np.float32(h) * turns) for h in harmonics for wave in (np.cos, np.sin)]
    return np.sqrt(np.float32(2.0)) * np.concatenate(each)


def correlations(
    first: NDArray[Any], second: NDArray[Any] | None = None, *, rows: int = 0, says: str
) -> list[Statistic]:
    """Look at the products of every row of *first*, of mean 0 and variance 1, with every row of *second*.

    Without a second, with each other; those of one number's own waves, a multiple of *rows* apart, are left out.
    """
    other = first if second is None else second
    length = np.linalg.norm(other, axis=1)
    if not (length > 0).any():
        return []
    if second is None:
        if not (length > 0).all():
            return [Statistic(0.0, "beaten", f"{says}: a row is constant")]
        return _with_each_other(first, length, rows, says)
    worst, count = 0.0, 0
    for start in range(0, len(first), _AT_ONCE):
        z = first[start : start + _AT_ONCE] @ other[length > 0].T / length[length > 0]
        worst, count = max(worst, _largest(z)), count + z.size
    return [largest_normal(worst, count, says)] if count else []


def _with_each_other(first: NDArray[Any], length: NDArray[Any], rows: int, says: str) -> list[Statistic]:
    """Look at every two rows once, some of them beside all that follow at a time: memory costs time."""
    worst, count = 0.0, 0
    for start in range(0, len(first), _AT_ONCE):
        z = first[start : start + _AT_ONCE] @ first[start:].T / length[start:]
        a, b = np.arange(len(z))[:, None], np.arange(z.shape[1])
        apart_from_own = b > a
        if rows:
            apart_from_own &= (a - b) % rows != 0
        worst = max(worst, _largest(np.where(apart_from_own, z, 0.0)))
        count += int(apart_from_own.sum())
    return [largest_normal(worst, count, says)] if count else []


def _largest(z: NDArray[Any]) -> float:
    return max(float(z.max()), -float(z.min()))


def triples(u: Array, says: str) -> list[Statistic]:
    """Look at every three rows of uniform numbers: |Σ e^{2πi(a ± b ± c)}|²/n is exponential."""
    rows, n = u.shape
    if rows < 3:
        return []
    turns = np.exp(2j * np.pi * u).astype(np.complex64)
    a, b = np.triu_indices(rows, 1)
    worst, count = 0.0, 0
    for two in (turns[a] * turns[b], turns[a] * turns[b].conj()):
        for third in (turns, turns.conj()):
            sums = np.square(np.abs(two @ third.T)) / n
            sums[np.arange(len(a)), a] = sums[np.arange(len(a)), b] = 0.0
            worst, count = max(worst, float(sums.max())), count + len(a) * (rows - 2)
    # with every order of the three, and with both signs of the whole: four sums of each three are different
    return [
        Statistic(worst_of(float(np.exp(-worst)), count // 3), "beaten", f"{says}: {np.sqrt(worst):.1f} deviations")
    ]


def fours(above: NDArray[np.bool_], says: str) -> list[Statistic]:
    """Look at the signs of every four rows, (rows, n): their product is +1 as often as −1."""
    rows, n = above.shape
    if rows < 4:
        return []
    a, b = np.triu_indices(rows, 1)
    signs = np.where(above, np.float32(1.0), np.float32(-1.0))
    two = signs[a] * signs[b]
    first, second = np.triu_indices(len(two), 1)
    apart = (b[first] < a[second]) & (a[first] < b[first])  # each four once: a < b < c < d
    return [normal((two @ two.T)[first[apart], second[apart]].astype(np.float64) / np.sqrt(n), says)]


def shifts(u: Array, pairs: NDArray[np.intp], says: str) -> list[Statistic]:
    """Look at pairs of rows of uniform numbers at every distance: is one the other's, or its mirror's, moved on?"""
    if not len(pairs):
        return []
    n = u.shape[1]
    spectrum = np.fft.fft(np.exp(2j * np.pi * u).astype(np.complex64), axis=1)
    mirrored = np.fft.fft(np.exp(-2j * np.pi * u).astype(np.complex64), axis=1)
    worst = 0.0
    for start in range(0, len(pairs), 256):
        a, b = pairs[start : start + 256].T
        for turned in (spectrum, mirrored):
            sums = np.fft.ifft(spectrum[a] * turned[b].conj(), axis=1)
            worst = max(worst, float((np.square(sums.real) + np.square(sums.imag)).max()) / n)
    return [
        Statistic(
            worst_of(float(np.exp(-worst)), 2 * n * len(pairs)),
            "beaten",
            f"{says}: {np.sqrt(worst):.1f} deviations",
        )
    ]
