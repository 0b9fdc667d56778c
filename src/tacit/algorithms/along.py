"""Gradients and Hessians along the columns of a public basis B, of any cost.

    Bᵀ∇h(x)      Bᵀ∇²h(x)B

A family that knows its rows meets the basis before it squares them, and keeps small curvatures (`CostAlong`). Of
any other cost the finished gradient and Hessian are projected, which is right and loses those digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.typing import Array, Cost, CostAlong


@dataclass(frozen=True, slots=True)
class Projected:
    """What a cost says along a basis, from what it says of its unknowns."""

    cost: Cost

    factored = False

    @property
    def lowest(self) -> Array:
        """Minus infinity: nobody has said how low the cost can be."""
        return np.full(self.cost.affine.shape[:-1], -np.inf)

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ∇h(x)."""
        return np.asarray(self.cost.grad(x) @ B)

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ∇²h(x)B."""
        return np.asarray(B.T @ self.cost.hess(x) @ B)


def along(cost: Cost) -> CostAlong | Projected:
    """Return *cost* where it answers along a basis by itself, and its projection otherwise."""
    return cost if isinstance(cost, CostAlong) else Projected(cost)
