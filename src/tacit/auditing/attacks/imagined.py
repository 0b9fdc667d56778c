"""Made-up quadratic costs of all agents, K choices of their slopes at once.

∇h_i(x) = P_i x + q_i       K choices of q side by side are one problem in K·m unknowns
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tacit.auditing.attacks.made_up import MadeUp
from tacit.typing import Array


@dataclass(frozen=True)
class Imagined(MadeUp):
    """`Cost` of all agents: ½xᵀP_i x + q_iᵀx, as often side by side as there are choices of q."""

    P: Array
    """(n, m, m)."""
    affine: Array
    """q, (n, K·m), choice by choice."""
    blur: Array | None = None
    """What proximal steps of an unknown part add, (n, K·m); None where costs have no such part."""

    @property
    def dim(self) -> int:
        """K·m."""
        return self.affine.shape[1]

    @property
    def smoothness(self) -> Array:
        """The largest curvatures, (n,)."""
        return np.asarray(np.linalg.eigvalsh(self.P)[:, -1], dtype=np.float64)

    @property
    def strong_convexity(self) -> Array:
        """The smallest curvatures, (n,)."""
        return np.asarray(np.linalg.eigvalsh(self.P)[:, 0], dtype=np.float64)

    @property
    def is_rough(self) -> bool:
        """Whether proximal steps do something unknown."""
        return self.blur is not None

    @property
    def penalty(self) -> Array:
        """No penalty, (n, 2·K·m)."""
        return np.zeros((len(self.P), 2 * self.dim))

    @property
    def limits(self) -> Array:
        """No limits, (n, 2·K·m)."""
        return np.tile(np.repeat([-np.inf, np.inf], self.dim), (len(self.P), 1))

    def value(self, x: Array) -> Array:
        """Return all choices' values added up, (n,)."""
        return np.asarray(((0.5 * self._times(self.P, x) + self.affine) * x).sum(axis=-1))

    def grad(self, x: Array) -> Array:
        """Return P x + q."""
        return self._times(self.P, x) + self.affine

    def hess(self, x: Array) -> Array:
        """Return P, once for every choice."""
        return np.asarray(np.kron(np.eye(self.dim // self.P.shape[-1]), self.P), dtype=np.float64)

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return (P + I/t)⁻¹(v/t − q), blurred where costs have a part without a gradient."""
        each = np.broadcast_to(np.asarray(t, dtype=np.float64), (len(self.P), 1))
        inverse: Array = np.asarray(np.linalg.inv(self.P + np.eye(self.P.shape[-1]) / each[:, :, None]))
        return self.rough_prox(self._times(inverse, v / t - self.affine), t)

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return v, blurred where costs have a part without a gradient."""
        return v if self.blur is None else v + self.blur

    def with_affine(self, affine: Array) -> Self:
        """Return the same with another q."""
        return replace(self, affine=affine)

    def _times(self, P: Array, x: Array) -> Array:
        x = np.broadcast_to(x, self.affine.shape)
        m = P.shape[-1]
        if m == 1:
            return P[:, :, 0] * x
        each = x.reshape(len(P), -1, m)
        return np.asarray((each @ P.swapaxes(1, 2)).reshape(x.shape))
