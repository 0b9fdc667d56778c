"""What a generator with a ramp limit offers over several periods.

    maximise Σ_t (λ_t P_t − f(P_t) − ½ρ(P_t − c_t)²)   subject to  |P_{t+1} − P_t| ≤ R  and limits

Dynamic programming, backwards. Let V_t be the best that periods t … T can earn as a function of P_t. It is concave,
and its slope is a falling polyline:

    V_t'(P) = λ_t − f'(P) − ρ(P − c_t) + E_t(P)
    E_t(P)  = V_{t+1}'(P + R)  before p − R,   0  up to p + R,   V_{t+1}'(P − R)  beyond,   p = argmax V_{t+1}

The window of width R cuts the slope at its zero and moves the halves apart. Forwards, every output is the best one
that the window leaves: P_{t+1} = clip(argmax V_{t+1}, P_t − R, P_t + R). All generators at once; exact, but for the
jumps of f', which become steep slopes of a billionth of the range.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array

STEEP = 1e-9
"""The width of a jump of the marginal cost, as a share of the range of outputs."""


def steep(power: Array, price: Array) -> tuple[Array, Array]:
    """Return the knots of one marginal cost, (K,), with jumps drawn apart so that outputs increase strictly."""
    width = STEEP * max(power[-1] - power[0], 1e-3) / len(power)
    rank = np.arange(len(power))
    apart = np.maximum.accumulate(power - rank * width) + rank * width
    return np.minimum(apart, power[-1]), price


def best_path(x: Array, power: Array, price: Array, *, rho: Array, centre: Array, ramp: Array) -> Array:
    """Return P, (G, T), for prices x, (G, T), knots of marginal costs, (G, K), and one ρ and R per generator."""
    periods = x.shape[1]
    low, high = power[:, :1], power[:, -1:]
    best = np.empty((len(power), periods))
    knots, values = power, np.zeros_like(power)  # E after the last period
    for t in reversed(range(periods)):
        at, marginal, ahead = _merged(power, price, knots, values)
        slope = x[:, t, None] - marginal - rho[:, None] * (at - centre[:, t, None]) + ahead
        top = _crossing(at, slope)
        best[:, t] = top[:, 0]
        knots, values = _windowed(at, slope, top, ramp[:, None], low, high)
    path = best
    for t in range(1, periods):
        path[:, t] = np.clip(best[:, t], path[:, t - 1] - ramp, path[:, t - 1] + ramp)
    return path


def _merged(p: Array, v: Array, q: Array, w: Array) -> tuple[Array, Array, Array]:
    """Return the knots of two polylines per row together, and the values of both at all of them."""
    both = np.concatenate([p, q], axis=1)
    order = np.argsort(both, axis=1, kind="stable")
    at = np.take_along_axis(both, order, axis=1)
    own = order < p.shape[1]
    return at, _read(p, v, at, np.cumsum(own, axis=1)), _read(q, w, at, np.cumsum(~own, axis=1))


def _read(p: Array, v: Array, at: Array, passed: NDArray[np.intp]) -> Array:
    """Return the values of polylines at points before which so many of their knots have passed."""
    last = p.shape[1] - 1
    left, right = np.clip(passed - 1, 0, last), np.clip(passed, 0, last)
    start, end = np.take_along_axis(p, left, axis=1), np.take_along_axis(p, right, axis=1)
    low, high = np.take_along_axis(v, left, axis=1), np.take_along_axis(v, right, axis=1)
    wide = end > start
    share = np.where(wide, (at - start) / np.where(wide, end - start, 1.0), 0.0)
    return np.asarray(low + np.clip(share, 0.0, 1.0) * (high - low))


def _crossing(at: Array, slope: Array) -> Array:
    """Return where falling polylines cross zero, (G, 1); an end where they do not."""
    after = (slope > 0).sum(axis=1, keepdims=True)
    left, right = np.clip(after - 1, 0, at.shape[1] - 1), np.clip(after, 0, at.shape[1] - 1)
    start, end = np.take_along_axis(at, left, axis=1), np.take_along_axis(at, right, axis=1)
    high, low = np.take_along_axis(slope, left, axis=1), np.take_along_axis(slope, right, axis=1)
    falls = high > low
    share = np.where(falls, high / np.where(falls, high - low, 1.0), 0.0)
    return np.asarray(start + np.clip(share, 0.0, 1.0) * (end - start))


def _windowed(at: Array, slope: Array, top: Array, ramp: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return E: the rising half moved left by R, the falling half right, and zero between them."""
    knots = np.concatenate([np.where(slope > 0, at - ramp, at + ramp), top - ramp, top + ramp], axis=1)
    values = np.concatenate([slope, np.zeros_like(top), np.zeros_like(top)], axis=1)
    return _within(np.sort(knots, axis=1), -np.sort(-values, axis=1), low, high)  # the one rises, the other falls


def _within(knots: Array, values: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return the polylines between the limits: knots outside are drawn to the limit, with the value there."""
    ends = np.concatenate([low, high], axis=1)
    passed = (knots[:, None, :] <= ends[:, :, None]).sum(axis=2)
    there = _read(knots, values, ends, passed)
    values = np.where(knots < low, there[:, :1], np.where(knots > high, there[:, 1:], values))
    knots = np.clip(knots, low, high)
    return knots, values
