"""Sums, and sums of squares, which must be χ²: one by one, and as many numbers of one distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, chi2, kstwo

from tacit.auditing.statistics.shapes import distances, shape
from tacit.auditing.statistics.statistic import Statistic, normal, worst_of
from tacit.typing import Array


def squares(
    where: str, sums: Array, degrees: NDArray[Any] | int, whole: tuple[float, int] | None = None
) -> list[Statistic]:
    """Look at sums of squares that must be χ², on both sides.

    With the *whole* that they are parts of, a sum and its degrees, which is looked at by itself, look at their
    shares of it: those are Beta(d/2, (D − d)/2), whatever the whole is (Basu's theorem): the two are independent.
    """
    if not len(sums):
        return []
    law, values = chi2(degrees), sums
    if whole is not None and whole[0] > 0.0:
        if np.any(np.asarray(degrees) >= whole[1]):
            return []  # the whole itself
        law, values = beta(np.asarray(degrees) / 2.0, (whole[1] - np.asarray(degrees)) / 2.0), sums / whole[0]
    low, high = law.cdf(values), law.sf(values)
    k = int(np.minimum(low, high).argmin())
    ratio = float(sums[k] / np.broadcast_to(degrees, sums.shape)[k])
    p = worst_of(2.0 * float(min(low[k], high[k])), len(sums))
    status, size = ("beaten", "small") if low[k] <= high[k] else ("weak", "large")
    return [Statistic(p, status, f"errors are too {size} {where}: variance {ratio:.3g} of the prediction")]


def evenness(where: str, sums: Array, degrees: NDArray[Any] | int) -> list[Statistic]:
    """Look at many sums of squares at once: each is as it should be, and are they spread as they should be?"""
    if len(sums) < 20:
        return []
    away = float(distances(np.sort(chi2.cdf(sums, degrees))[None])[0])
    p = 2.0 * float(min(kstwo.sf(away, len(sums)), kstwo.cdf(away, len(sums))))
    return [Statistic(p, "beaten", f"sizes differ more, or less, than luck explains {where}")]


def means(where: str, y: NDArray[Any]) -> list[Statistic]:
    """Look at every row's mean: Σy/√n ~ N(0, 1)."""
    return [normal(y.sum(axis=1) / np.sqrt(y.shape[1]), f"masks are not zero on average {where}")]


def spread(y: Array, groups: Sequence[tuple[str, NDArray[Any]]] = ()) -> list[Statistic]:
    """Look at the size of y, (agents, coordinates), and at its shape."""
    by_coordinate = np.square(y).sum(axis=0)
    whole = (float(by_coordinate.sum()), y.size)
    seen = squares("over all", np.array([whole[0]]), y.size)
    seen += squares("in a coordinate", by_coordinate, len(y), whole)
    for where, labels in groups:
        sums = np.bincount(labels, by_coordinate).astype(np.float64)
        seen += squares(where, sums, len(y) * np.bincount(labels), whole)
    return [*seen, *shape(y.reshape(1, -1), "over all")]
