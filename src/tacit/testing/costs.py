"""What every cost must satisfy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tacit.costs import Family, Rough, stack
from tacit.errors import CostError
from tacit.typing import Array


def check_cost(cost: Family, *, seed: int = 0, scale: float = 1.0, second_order: bool = True) -> None:
    """Check derivatives, constants, the proximal map, the affine split and stacking of one agent's cost.

    *scale* is the size of the points tried. *second_order* is False for a cost without a Hessian.
    """
    rng = np.random.default_rng(seed)
    points = scale * rng.standard_normal((6, cost.dim))
    for x in points:
        _check_gradient(cost, x)
        if second_order:
            _check_hessian(cost, x)
    _check_constants(cost, points)
    _check_affine_part(cost, points)
    if second_order or np.isfinite(cost.smoothness):
        _check_prox(cost, points)
    _check_stacking(cost, points)


def check_rough(rough: Rough, dim: int, *, seed: int = 0) -> None:
    """Check that `prox` minimises ψ(u) + |u − v|²/2t: nothing near it is lower."""
    rng = np.random.default_rng(seed)
    for t in (0.1, 1.0, 10.0):
        v = 2.0 * rng.standard_normal(dim)
        best = rough.prox(v, t)

        def objective(u: Array, v: Array = v, t: float = t) -> float:
            return float(rough.value(u) + ((u - v) ** 2).sum() / (2 * t))

        for _ in range(50):
            near = best + 10.0 ** rng.uniform(-6, 0) * rng.standard_normal(dim)
            assert objective(best) <= objective(near) + 1e-12, "prox does not minimise: a point near it is lower"


def _check_gradient(cost: Family, x: Array) -> None:
    h = 1e-6 * (1.0 + np.abs(x).max())
    try:
        slopes = [cost.curved_value(x + h * e) - cost.curved_value(x - h * e) for e in np.eye(cost.dim)]
    except CostError:  # a cost may come without its value
        return
    numeric = np.array(slopes) / (2 * h) + cost.affine
    size = 1.0 + np.abs(numeric).max()
    np.testing.assert_allclose(
        cost.grad(x) / size, numeric / size, atol=1e-5, err_msg="grad is not the slope of value"
    )


def _check_hessian(cost: Family, x: Array) -> None:
    h = 1e-6 * (1.0 + np.abs(x).max())
    numeric = np.array([(cost.grad(x + h * e) - cost.grad(x - h * e)) / (2 * h) for e in np.eye(cost.dim)])
    size = 1.0 + np.abs(numeric).max()
    np.testing.assert_allclose(
        cost.hess(x) / size, numeric / size, atol=1e-5, err_msg="hess is not the slope of grad"
    )


def _check_constants(cost: Family, points: Array) -> None:
    """|∇φ(x) − ∇φ(y)| ≤ L|x − y|, (∇φ(x) − ∇φ(y))ᵀ(x − y) ≥ μ|x − y|²."""
    L, mu = float(cost.smoothness), float(cost.strong_convexity)
    assert abs(mu) <= L or cost.is_rough, "strong convexity exceeds smoothness"
    for x, y in pairwise(points):
        change, apart = cost.grad(x) - cost.grad(y), x - y
        assert np.linalg.norm(change) <= L * np.linalg.norm(apart) * (1 + 1e-9), "the gradient exceeds smoothness"
        if not cost.is_rough:
            slack = 1e-9 * (1 + np.linalg.norm(change)) * np.linalg.norm(apart)
            assert change @ apart >= mu * apart @ apart - slack, "the cost is less convex than it says"


def _check_affine_part(cost: Family, points: Array) -> None:
    """An effective cost is the same cost with another α, and does not remember the old one."""
    other = np.linspace(-1.0, 1.0, cost.dim)
    effective = cost.with_affine(other)
    assert type(effective) is type(cost), "an effective cost is a cost of the same family"
    assert effective.affine is not cost.affine or cost.dim == 0, "with_affine must not change the original"
    for x in points:
        np.testing.assert_allclose(
            effective.grad(x) - other,
            cost.grad(x) - cost.affine,
            atol=1e-9 * (1 + np.abs(cost.grad(x)).max()),
            err_msg="with_affine changed more than the affine part",
        )
    twice = effective.with_affine(cost.affine)
    assert (twice.grad(points[0]) == cost.grad(points[0])).all(), "with_affine cannot be undone exactly"


def _check_prox(cost: Family, points: Array) -> None:
    """u = prox(v, t) solves 0 ∈ ∇f(u) + ∂ψ(u) + (u − v)/t, that is u = prox_ψ(u − s(∇f(u) + (u − v)/t), s)."""
    for t in (0.1, 1.0):
        if t * float(cost.strong_convexity) <= -1:
            continue  # not convex enough for a unique answer
        for v in points:
            u = cost.prox(v, t)
            pull = cost.grad(u) + (u - v) / t
            s = 1.0 / (1.0 / t + float(cost.smoothness)) if np.isfinite(cost.smoothness) else 0.1 * t
            again = cost.rough_prox(u - s * pull, s)
            assert np.abs(again - u).max() <= 1e-8 * (1 + np.abs(v).max()), "prox is not where its slope vanishes"


def _check_stacking(cost: Family, points: Array) -> None:
    """Three agents at once compute what each computes alone."""
    alone = [cost, cost.with_affine(2 * cost.affine), cost.with_affine(-cost.affine)]
    three, x = stack(alone), points[:3]
    apart = np.stack([one.grad(row) for one, row in zip(alone, x, strict=True)])
    np.testing.assert_allclose(three.grad(x), apart, rtol=1e-12, atol=1e-12, err_msg="grad differs when stacked")
    at_one = np.stack([one.grad(x[0]) for one in alone])
    np.testing.assert_allclose(three.grad(x[0]), at_one, rtol=1e-12, atol=1e-12, err_msg="grad at a common point")
    np.testing.assert_allclose(three.smoothness, cost.smoothness)
    np.testing.assert_allclose(three.strong_convexity, cost.strong_convexity, atol=1e-12)
