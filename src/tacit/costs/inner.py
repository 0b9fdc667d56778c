"""Proximal steps without a closed form: small strongly convex problems, solved for all agents at once.

    argmin_u φ(u) + ψ(u) + |u − v|²/2t

Newton's method with backtracking where ψ = 0 and φ has a Hessian; otherwise the accelerated
proximal gradient method with the constant momentum of strongly convex problems (Nesterov, *Lectures
on Convex Optimization*, 2018, 2.2.22; Beck & Teboulle, SIAM J. Imaging Sci. 2(1), 2009).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.costs.batched import vecdot
from tacit.typing import Array

_NEWTON_STEPS = 100
_GRADIENT_STEPS = 20_000
_TIGHT = 4 * np.finfo(np.float64).eps


def newton_prox(
    value: Callable[[Array], Array],
    grad: Callable[[Array], Array],
    hess: Callable[[Array], Array],
    v: Array,
    t: Array | float,
) -> Array:
    """Minimise φ(u) + |u − v|²/2t to rounding by damped Newton steps."""
    weight = 1.0 / np.asarray(t)
    ridge = weight[..., None] * np.eye(v.shape[-1])

    def objective(u: Array) -> Array:
        with np.errstate(over="ignore"):
            return value(u) + 0.5 * (weight * (u - v) ** 2).sum(axis=-1)

    u, current = v, objective(v)
    if (current > objective(np.zeros_like(v))).any() or not np.isfinite(current).all():
        # far out, where φ explodes and Newton would creep back: start lower on the way to the origin
        for shrink in (0.5, 0.2, 0.1, 0.03, 0.01, 0.0):
            trial = objective(shrink * v)
            lower = ~(trial >= current)
            u, current = np.where(lower[..., None], shrink * v, u), np.where(lower, trial, current)
    for _ in range(_NEWTON_STEPS):
        slope = grad(u) + weight * (u - v)
        step: Array = np.linalg.solve(hess(u) + ridge, slope[..., None])[..., 0].astype(np.float64, copy=False)
        decrease = vecdot(slope, step)
        size = np.ones(current.shape)
        for _ in range(40):
            trial = objective(u - size[..., None] * step)
            # near the optimum the decrease drowns in the rounding of the value: then take the full step
            accepted = (trial <= current - 0.25 * size * decrease) | (decrease <= 1e-9 * (1 + np.abs(current)))
            if accepted.all():
                break
            size = np.where(accepted, size, size / 2)
        u = u - size[..., None] * step
        current = objective(u)
        if (np.abs(step).max(axis=-1) <= _TIGHT * (1.0 + np.abs(u).max(axis=-1))).all():
            break
    return u


def accelerated_prox(
    grad: Callable[[Array], Array],
    rough_prox: Callable[[Array, Array], Array],
    smoothness: Array,
    strong_convexity: Array,
    v: Array,
    t: Array | float,
) -> Array:
    """Minimise φ(u) + ψ(u) + |u − v|²/2t to rounding by accelerated proximal gradient steps."""
    weight = 1.0 / np.asarray(t)
    L = smoothness[..., None] + weight
    mu = np.maximum(strong_convexity, 0.0)[..., None] + weight
    momentum = (np.sqrt(L) - np.sqrt(mu)) / (np.sqrt(L) + np.sqrt(mu))
    u = ahead = v
    for _ in range(_GRADIENT_STEPS):
        slope = grad(ahead) + weight * (ahead - v)
        following = rough_prox(ahead - slope / L, 1.0 / L)
        moved = np.abs(following - ahead).max(axis=-1)
        ahead = following + momentum * (following - u)
        u = following
        if (moved <= _TIGHT * (1.0 + np.abs(u).max(axis=-1))).all():
            break
    return u
