"""Sums of squares, which must be χ²: one by one, and as many numbers of one distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, kstwo

from tacit.auditing.looks.look import Look, normal, worst_of
from tacit.auditing.looks.shapes import distances, shape
from tacit.typing import Array


def squares(where: str, sums: Array, degrees: NDArray[Any] | int) -> list[Look]:
    """Look at sums of squares that must be χ², on both sides."""
    if not len(sums):
        return []
    low, high = chi2.cdf(sums, degrees), chi2.sf(sums, degrees)
    k = int(np.minimum(low, high).argmin())
    ratio = float(sums[k] / np.broadcast_to(degrees, sums.shape)[k])
    p = worst_of(2.0 * float(min(low[k], high[k])), len(sums))
    status, size = ("beaten", "small") if low[k] <= high[k] else ("weak", "large")
    return [Look(p, status, f"errors are too {size} {where}: variance {ratio:.3g} of the prediction")]


def evenness(where: str, sums: Array, degrees: NDArray[Any] | int) -> list[Look]:
    """Look at many sums of squares at once: each is as it should be, and are they spread as they should be?"""
    if len(sums) < 20:
        return []
    away = float(distances(np.sort(chi2.cdf(sums, degrees))[None])[0])
    p = 2.0 * float(min(kstwo.sf(away, len(sums)), kstwo.cdf(away, len(sums))))
    return [Look(p, "beaten", f"sizes differ more, or less, than luck explains {where}")]


def means(where: str, y: NDArray[Any]) -> list[Look]:
    """Look at every row's mean, and at every column's: Σy/√n ~ N(0, 1)."""
    rows, columns = y.shape
    return [
        normal(y.sum(axis=1) / np.sqrt(columns), f"masks are not zero on average {where}, along a row"),
        normal(y.sum(axis=0) / np.sqrt(rows), f"masks are not zero on average {where}, in a place"),
    ]


def spread(y: Array, groups: Sequence[tuple[str, NDArray[Any]]] = ()) -> list[Look]:
    """Look at the size of y, (agents, coordinates), and at its shape."""
    by_coordinate = np.square(y).sum(axis=0)
    seen = squares("over all", np.array([by_coordinate.sum()]), y.size)
    seen += squares("in a coordinate", by_coordinate, len(y))
    for where, labels in groups:
        seen += squares(where, np.bincount(labels, by_coordinate).astype(np.float64), len(y) * np.bincount(labels))
    return [*seen, *shape(y.reshape(1, -1), "over all")]
