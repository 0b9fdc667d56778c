"""What made-up costs have, whatever else they are: gradients and Hessians in other coordinates."""

from __future__ import annotations

import numpy as np

from tacit.typing import Array


class MadeUp:
    """The part of `Cost` that follows from `grad` and `hess`."""

    factored = False

    @property
    def lowest(self) -> Array:
        """Minus infinity: nothing is known."""
        return np.asarray(-np.inf)

    def grad(self, x: Array) -> Array:
        """Return a gradient."""
        raise NotImplementedError

    def hess(self, x: Array) -> Array:
        """Return a Hessian."""
        raise NotImplementedError

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return the gradient in other coordinates."""
        return np.asarray(self.grad(x) @ B)

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return the curvature in other coordinates."""
        return np.asarray(B.T @ self.hess(x) @ B)
