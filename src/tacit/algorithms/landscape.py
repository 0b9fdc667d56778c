"""What an algorithm may know to choose its step: the costs' constants and the spectrum of W.

All of it is public in the sense of the theorem: it depends on the curved parts of the costs and on
the network, never on an affine coefficient.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tacit.costs import CostStack, Family
from tacit.errors import AlgorithmError
from tacit.network import Network, Spectrum, mixing_spectrum, mixing_weights

_CONVEX = -1e-9  # an eigenvalue above this fraction of the largest is a zero with rounding


class Landscape:
    """The constants of a problem, computed when asked for.

    *bend* is what masks may add to the curvature of a single cost; the average stays as it is. Masks that bend
    costs hide their curvature, so settings must not follow from single costs: L is then bounded through the
    average's, or by *limit*, the public bound, where costs are not convex one by one. *is_masked* says that masks
    pull single costs apart.
    """

    def __init__(
        self,
        cost: Family | CostStack,
        network: Network,
        weights: str = "metropolis",
        *,
        bend: float = 0.0,
        limit: float = np.inf,
        is_masked: bool = False,
    ) -> None:
        self.cost, self.network, self.weights = cost, network, weights
        self.bend, self.limit, self.is_masked = bend, limit, is_masked

    @cached_property
    def smoothness(self) -> float:
        """L = max L_i."""
        if not self.bend:
            return float(self.cost.smoothness.max())
        convex = float(self.cost.strong_convexity.min()) >= 0
        return self.bend + (len(self.network) * self.mean_smoothness if convex else self.limit)

    @cached_property
    def strong_convexity(self) -> float:
        """μ = min μ_i of the costs one by one; rounded up to 0 where a zero came out a shade negative."""
        mu = float(self.cost.strong_convexity.min())
        scale = self.smoothness if np.isfinite(self.smoothness) else 1.0
        return 0.0 if _CONVEX * scale < mu - self.bend < 0 else mu - self.bend

    @cached_property
    def _mean_eigenvalues(self) -> tuple[float, float]:
        below, above = self.cost.total_curvature()
        lowest = float(np.linalg.eigvalsh(below)[0]) / len(self.network) if np.isfinite(below).all() else -np.inf
        highest = float(np.linalg.eigvalsh(above)[-1]) / len(self.network) if np.isfinite(above).all() else np.inf
        return lowest, highest

    @property
    def mean_smoothness(self) -> float:
        """L_g of the average cost."""
        return self._mean_eigenvalues[1]

    @property
    def mean_strong_convexity(self) -> float:
        """μ_g of the average cost: a guaranteed lower bound."""
        return self._mean_eigenvalues[0]

    @cached_property
    def spectrum(self) -> Spectrum:
        """λ₂ and λₙ of W."""
        return mixing_spectrum(mixing_weights(self.network, self.weights))

    @property
    def is_convex(self) -> bool:
        """Whether every single cost is convex."""
        return self.strong_convexity >= 0

    @cached_property
    def is_confined(self) -> bool:
        """Whether x can move only so far in a round, however hard it is pulled: in a box, or up a steep cost."""
        return bool(np.isfinite(self.cost.limits).any()) or not np.isfinite(self.smoothness)

    def needs_smooth(self, algorithm: str) -> float:
        """Return L, or say why *algorithm* cannot choose a step."""
        if not np.isfinite(self.smoothness):
            raise AlgorithmError(
                f"{algorithm} needs costs with a Lipschitz gradient to choose its step, and one of these "
                "has none; use 'admm', give the cost's smoothness, or give the step size."
            )
        return self.smoothness

    def needs_curved(self, algorithm: str) -> float:
        """Return L > 0, or say that *algorithm* has nothing to choose its step from."""
        if self.needs_smooth(algorithm) == 0:
            raise AlgorithmError(f"{algorithm} cannot choose a step: no cost has any curvature; use 'admm'.")
        return self.smoothness

    def needs_convex(self, algorithm: str) -> None:
        """Refuse costs that are not convex one by one."""
        if not self.is_convex:
            raise AlgorithmError(
                f"{algorithm} needs every single cost to be convex, and one has curvature "
                f"{self.strong_convexity:.3g}; use 'gradient-tracking', which needs only the sum convex."
            )
