"""One statistic, and the worst of many.

p of the smallest of k independent p's:   1 − (1 − p)^k    (Šidák, JASA 62, 1967)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from tacit.typing import Array

CERTAIN = 1e-9
"""The chance below which a test that luck cannot fail is failed."""


class Statistic(NamedTuple):
    """The worst case of one test, and how likely it is."""

    p: float
    status: str
    says: str
    certain: bool = False
    """Whether luck cannot fail it: then p is a bound, mostly 1, and no test of distributions."""


def worst_of(p: float, count: int) -> float:
    """Return the p of the smallest of *count* independent p's."""
    return float(-np.expm1(count * np.log1p(-min(p, 1.0 - 1e-16)))) if count else 1.0


def together(seen: Sequence[Statistic]) -> float | None:
    """Return the p of all statistics but the certain ones; None where there are no others.

    It is uniform where they are independent; where they go together it is larger, never smaller.
    """
    chances = [statistic.p for statistic in seen if not statistic.certain]
    return worst_of(min(chances), len(chances)) if chances else None


def normal(z: Array, says: str) -> Statistic:
    """Look at numbers that must be standard normal one by one, for the largest."""
    return largest_normal(float(np.abs(z).max(initial=0.0)), z.size, says)


def largest_normal(worst: float, count: int, says: str) -> Statistic:
    """Look at the largest of so many numbers, whatever their signs, that must be standard normal."""
    return Statistic(worst_of(2.0 * float(ndtr(-worst)), count), "beaten", f"{says}: {worst:.1f} deviations")
