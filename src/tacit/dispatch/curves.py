"""Supply curves: how much is offered at a price, as a polyline.

    (λ_1, P_1), (λ_2, P_2), …        both nondecreasing

A rising piece is a quadratic cost, a vertical one (the same λ twice) a linear cost: all of it is offered at
once; a level one is a limit. The inverse of a generator's marginal cost is such a curve, and sums of them are
again. A curve may carry leading axes: one per generator, or one per agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.typing import Array, Indices


class Curve(NamedTuple):
    """Knots of one polyline or of many; shorter ones repeat their last knot."""

    price: Array
    """λ in $/MWh, (..., K)."""
    power: Array
    """P in MW, (..., K)."""


def along(knots: Array, values: Array, x: Array) -> Array:
    """Return the values at x, (..., T), of polylines with these knots, (..., K): the upper one where they jump.

    >>> along(np.array([0.0, 1.0, 1.0, 3.0]), np.array([0.0, 0.0, 4.0, 6.0]), np.array([-1.0, 1.0, 2.0, 9.0]))
    array([0., 4., 5., 6.])
    """
    left, right = _between(knots, x)
    start, end, low, high = _at(knots, left), _at(knots, right), _at(values, left), _at(values, right)
    wide = end > start
    share = np.where(wide, (x - start) / np.where(wide, end - start, 1.0), 0.0)
    return np.asarray(low + np.clip(share, 0.0, 1.0) * (high - low))


def slope(curve: Curve, x: Array) -> Array:
    """Return dP/dλ at x, to the right of it."""
    left, right = _between(curve.price, x)
    rise = _at(curve.power, right) - _at(curve.power, left)
    run = _at(curve.price, right) - _at(curve.price, left)
    return np.where(run > 0, rise / np.where(run > 0, run, 1.0), 0.0)


def area(curve: Curve, x: Array) -> Array:
    """Return ∫ P dλ from the first knot to x, and 0 before it."""
    widths = np.diff(curve.price, axis=-1)
    heights = (curve.power[..., 1:] + curve.power[..., :-1]) / 2
    before = np.concatenate([np.zeros_like(curve.price[..., :1]), np.cumsum(widths * heights, axis=-1)], axis=-1)
    left, _ = _between(curve.price, x)
    there, low, start = _at(before, left), _at(curve.power, left), _at(curve.price, left)
    return np.where(x < start, 0.0, there + (x - start) * (low + along(*curve, x)) / 2)


def summed(curves: Sequence[Curve]) -> Curve:
    """Return the sum of single curves: what all of them offer together.

    >>> one = Curve(np.array([1.0, 1.0]), np.array([0.0, 5.0]))
    >>> summed([one, Curve(np.array([0.0, 2.0]), np.array([0.0, 4.0]))]).power
    array([0., 2., 7., 9.])
    """
    if not curves:
        return Curve(np.zeros(1), np.zeros(1))
    if len(curves) == 1:
        return curves[0]
    prices = np.unique(np.concatenate([curve.price for curve in curves]))
    above = np.sum([along(*curve, prices) for curve in curves], axis=0)
    below = np.sum([_until(curve, prices) for curve in curves], axis=0)
    doubled = np.repeat(prices, 2), np.stack([below, above], axis=-1).ravel()
    kept = np.concatenate([[True], (np.diff(doubled[0]) > 0) | (np.diff(doubled[1]) > 0)])
    return Curve(doubled[0][kept], doubled[1][kept])


def padded(arrays: Sequence[Array]) -> Array:
    """Return rows of one length; shorter ones repeat their last entry."""
    longest = max(len(array) for array in arrays)
    return np.stack([np.concatenate([a, np.full(longest - len(a), a[-1])]) for a in arrays])


def _until(curve: Curve, x: Array) -> Array:
    """Return the lower value where the curve jumps, by looking at it from the other side."""
    return -along(-curve.price[::-1], -curve.power[::-1], -x)


def _between(knots: Array, x: Array) -> tuple[Indices, Indices]:
    """Return the places of the knots on both sides of x."""
    last = knots.shape[-1] - 1
    place = (knots[..., None, :] <= x[..., :, None]).sum(axis=-1)
    return np.clip(place - 1, 0, last), np.clip(place, 0, last)


def _at(part: Array, places: Indices) -> Array:
    """Return the entries at these places of every row, whether all rows are there or one stands for all."""
    rows = np.broadcast_to(part, (*places.shape[:-1], part.shape[-1]))
    return np.asarray(np.take_along_axis(rows, places, axis=-1))
