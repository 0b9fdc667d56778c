"""A quadratic model with penalties and limits, minimised by everybody for itself.

    minimise  gᵀ(u − x) + ½(u − x)ᵀH(u − x) + ψ(u),    ψ(u) = Σ l1|u| + ½ Σ l2 u²  on  lower ≤ u ≤ upper

This is what is left to do once Σ∇h, Σ∇²h and the penalties' sums are known to all: no message. Accelerated proximal
gradient steps find which entries are zero or at a limit, and a linear solve for the others ends it to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.algorithms.momentum import accelerate
from tacit.costs.rough import soft_threshold
from tacit.errors import UnboundedError
from tacit.typing import Array

_STEPS = 100_000
_FAR = 1e6  # times the size of everything in sight: nothing comes back from there
_POLISH_EVERY = 25
_FLAT = 1e-13  # a curvature below this share of the largest is a zero with rounding


class Penalty(NamedTuple):
    """ψ, summed over all agents. Limits are public, and the same for all."""

    l1: Array
    l2: Array
    lower: Array
    upper: Array

    @classmethod
    def of(cls, summed: Array, limits: Array) -> Penalty:
        """Return ψ from the sum of all agents' penalties, and one agent's (or all agents' equal) limits."""
        lower, upper = np.split(limits.reshape(-1, limits.shape[-1])[0], 2)
        l1, l2 = np.split(summed, 2)
        return cls(np.maximum(l1, 0.0), np.maximum(l2, 0.0), lower, upper)

    @property
    def is_rough(self) -> bool:
        """Whether there is a kink or a limit anywhere."""
        return bool(self.l1.any() or np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u ψ(u) + |u − v|²/2t."""
        return np.clip(soft_threshold(v, t * self.l1) / (1.0 + t * self.l2), self.lower, self.upper)

    def value(self, x: Array) -> float:
        """Return ψ(x) at a point within the limits."""
        return float((self.l1 * np.abs(x) + 0.5 * self.l2 * x**2).sum())


def minimise(x: Array, g: Array, H: Array, penalty: Penalty, *, blur: float = 0.0) -> Array:
    """Return the minimiser of the model around x; curvature up to *blur* may be rounding, and counts as none."""
    H = H + np.diag(penalty.l2)
    g = g + penalty.l2 * x
    if not penalty.is_rough:
        return x - solve(H, g, blur=blur)
    kinks = penalty._replace(l2=np.zeros_like(penalty.l2))
    return _accelerated(x, g, H, kinks, blur)


def solve(H: Array, g: Array, *, blur: float = 0.0) -> Array:
    """Return H⁻¹g: the shortest solution where H is flat, and downhill where it bends down."""
    values, vectors = np.linalg.eigh(H)
    steep = np.abs(values) > max(_FLAT * len(g) * np.abs(values).max(initial=0.0), blur)
    inverse = np.where(steep, 1.0 / np.where(steep, np.abs(values), 1.0), 0.0)
    p = vectors @ (inverse * (vectors.T @ g))
    if steep.all() and values[0] > 0:
        p = p + vectors @ (inverse * (vectors.T @ (g - H @ p)))  # once more, for what rounding left
    return np.asarray(p)


def _accelerated(x: Array, g: Array, H: Array, kinks: Penalty, blur: float) -> Array:
    L = float(np.linalg.eigvalsh(H)[-1])
    if not L > 0:
        L = 1.0
    u = ahead = np.clip(x, kinks.lower, kinks.upper)
    theta = np.array(1.0)
    for k in range(1, _STEPS + 1):
        slope = g + H @ (ahead - x)
        following = kinks.prox(ahead - slope / L, 1.0 / L)
        ahead, theta = accelerate(u, ahead, following, theta)
        u = following
        if k % _POLISH_EVERY == 0:
            polished = _polished(u, x, g, H, kinks, blur)
            if polished is not None:
                return polished
            if np.abs(u).max() > _FAR * (1.0 + np.abs(x).max() + np.abs(g).max() / L):
                raise UnboundedError("the sum of the costs is unbounded below; add data or a small l2 penalty.")
    raise UnboundedError(
        "no minimum of the sum of the costs could be found: it is unbounded below, or all but flat; add data or a "
        "small l2 penalty."
    )


def _polished(u: Array, x: Array, g: Array, H: Array, kinks: Penalty, blur: float) -> Array | None:
    """Return the exact minimiser if the entries at kinks and limits are guessed right; None if they are not."""
    low, high = u <= kinks.lower, u >= kinks.upper
    held = (u == 0.0) & (kinks.l1 > 0)
    free = ~(low | high | held)
    exact = np.where(low, kinks.lower, np.where(high, kinks.upper, 0.0))
    slope = g - H @ x
    if free.any():
        signs = np.sign(u)
        right = slope[free] + kinks.l1[free] * signs[free] + H[np.ix_(free, ~free)] @ exact[~free]
        exact[free] = -solve(H[np.ix_(free, free)], right, blur=blur)
        if (np.sign(exact[free]) != signs[free])[kinks.l1[free] > 0].any():
            return None
    slack = 1e-10 * (np.abs(g).max() + kinks.l1.max(initial=0.0)) + blur * (1.0 + np.abs(exact).max())
    return exact if _is_least(exact, slope + H @ exact, kinks, low, high, held, slack) else None


def _is_least(
    u: Array,
    slope: Array,
    kinks: Penalty,
    low: NDArray[np.bool_],
    high: NDArray[np.bool_],
    held: NDArray[np.bool_],
    slack: float,
) -> bool:
    """Tell whether −slope is in the subdifferential of ψ at u, up to *slack*."""
    pull = slope + np.where(held, 0.0, kinks.l1 * np.sign(u))
    inside = (u >= kinks.lower) & (u <= kinks.upper)
    right = np.where(held, np.abs(slope) <= kinks.l1 + slack, np.abs(pull) <= slack)
    right = np.where(low & ~held, pull >= -slack, right)
    right = np.where(high & ~held, pull <= slack, right)
    right = np.where(low & high, True, right)
    return bool((inside & right).all())
