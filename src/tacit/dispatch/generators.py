"""Generators and their cost curves, in MW and $ an hour.

    polynomial         f(P) = c₀ + c₁P + c₂P² (+ …)       marginal cost rising, or level where c₂ = 0
    piecewise linear   through points (P_k, f_k)          marginal cost in steps

All a dispatch needs of a cost is its marginal cost between the limits, and that is a polyline in all three cases; a
polynomial of higher degree is one of many short pieces. The supply curve is the same polyline read the other way
round. Costs must be convex: otherwise no price leads to the cheapest dispatch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tacit.dispatch.curves import Curve, along, area
from tacit.errors import CostError
from tacit.typing import Array

UNLIMITED = 1e5
"""MW that stand for an infinite limit."""
_PIECES = 2048  # of a polynomial of degree three and more
_ROUNDED = 1e-4  # a slope that falls by this share, and less, is a convex cost written with few digits


@dataclass(frozen=True, slots=True)
class Generator:
    """One unit in service. Its numbers are private: they are not shown."""

    name: str
    bus: int | str
    curve: Curve = field(repr=False)
    """Its supply curve: from (f'(Pmin), Pmin) to (f'(Pmax), Pmax)."""
    fixed: float = field(repr=False, default=0.0)
    """f(Pmin): what it costs in any case, in $ an hour."""
    ramp: float = field(repr=False, default=np.inf)
    """The most by which its output may change from one period to the next, in MW."""

    @property
    def low(self) -> float:
        """Pmin: a unit in service must run at that, at least."""
        return float(self.curve.power[0])

    @property
    def high(self) -> float:
        """Pmax."""
        return float(self.curve.power[-1])

    def cost(self, P: ArrayLike) -> Array:
        """Return f(P) in $ an hour: f(Pmin) and the area under the marginal cost."""
        above = np.asarray(P, dtype=np.float64) - self.low
        marginal = Curve(self.curve.power - self.low, self.curve.price)
        return np.asarray(self.fixed + area(marginal, np.atleast_1d(above)).reshape(above.shape))


def polynomial(coefficients: Sequence[float], low: float, high: float, *, name: str) -> tuple[Curve, float]:
    """Return supply curve and f(Pmin) of a polynomial, highest power first, as MATPOWER writes it."""
    low, high = _limits(low, high, name)
    f = np.trim_zeros(np.asarray(coefficients, dtype=np.float64), "f")
    marginal = np.polyder(f) if len(f) > 1 else np.zeros(1)
    power = np.array([low, high]) if len(f) <= 3 else np.linspace(low, high, _PIECES + 1)
    price = np.polyval(marginal, power)
    return _convex(Curve(price, power), name), float(np.polyval(f, low)) if len(f) else 0.0


def piecewise(points: ArrayLike, low: float, high: float, *, name: str) -> tuple[Curve, float]:
    """Return supply curve and f(Pmin) of a cost through points (P, f), continued straight at both ends."""
    low, high = _limits(low, high, name)
    P, f = np.asarray(points, dtype=np.float64).reshape(-1, 2).T
    if len(P) < 2 or not (np.diff(P) > 0).all():
        raise CostError(f"{name}: a piecewise linear cost needs two points and more, with increasing MW.")
    P, f = _hull(P, f, name)
    steps = np.diff(f) / np.diff(P)
    inner = P[1:-1]
    fixed = float(f[0] + along(P, np.r_[0.0, np.diff(f)].cumsum(), np.array([low]))[0])
    fixed += steps[0] * min(low - P[0], 0.0) + steps[-1] * max(low - P[-1], 0.0)
    kept = (inner > low) & (inner < high)
    ends = steps[np.searchsorted(inner, [low, high], side="right")]
    if len(inner) and high in inner:
        ends[1] = steps[np.searchsorted(inner, high, side="left")]
    between = np.repeat(inner[kept], 2)
    risers = np.stack([steps[:-1][kept], steps[1:][kept]], axis=-1).ravel()
    power, price = np.r_[low, between, high], np.r_[ends[0], risers, ends[1]]
    return Curve(price, power), fixed


def _limits(low: float, high: float, name: str) -> tuple[float, float]:
    """Return finite limits in order."""
    if np.isnan(low) or np.isnan(high) or low > high:
        raise CostError(f"{name}: the lower limit of its output exceeds the upper one, or one is missing.")
    return float(np.clip(low, -UNLIMITED, UNLIMITED)), float(np.clip(high, -UNLIMITED, UNLIMITED))


def _hull(P: Array, f: Array, name: str) -> tuple[Array, Array]:
    """Return the convex hull of points that are convex up to their few digits; refuse others."""
    kept: list[int] = []
    for k in range(len(P)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (f[b] - f[a]) * (P[k] - P[b]) < (f[k] - f[b]) * (P[b] - P[a]):
                break
            kept.pop()
        kept.append(k)
    moved = np.abs(np.interp(P, P[kept], f[kept]) - f)
    if (moved > _ROUNDED * (np.abs(f) + np.ptp(f))).any():
        raise CostError(f"{name}: its cost is not convex, so that no price leads to the cheapest dispatch.")
    return P[kept], f[kept]


def _convex(curve: Curve, name: str) -> Curve:
    falls = np.diff(curve.price) < 0
    if (np.diff(curve.price)[falls] < -_ROUNDED * np.abs(curve.price).max()).any():
        raise CostError(f"{name}: its cost is not convex, so that no price leads to the cheapest dispatch.")
    return Curve(np.maximum.accumulate(curve.price), curve.power)
