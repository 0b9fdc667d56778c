"""Maximum a posteriori with a Gaussian prior: the best that anybody can do who has one.

    α_H ~ N(m₀, τ²I)    ⇒    α̂ = m₀ + τ²(τ²I + 2σ²L_H)⁻¹(z − m₀)

The error has the covariance τ²I − τ⁴(τ²I + 2σ²L_H)⁻¹: along 1 it is zero, because the sum is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.likelihood import coefficients, coordinate_scales, misses_coefficients
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class GaussianPrior:
    """Believe that coefficients are within *deviation* of *mean* or so."""

    deviation: float
    mean: float = 0.0
    name: str = "maximum a posteriori"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where no effective cost was published, or nothing Gaussian hides it."""
        return misses_coefficients(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the posterior means and deviations."""
        honest, z = coefficients(view, public)
        values, vectors = np.linalg.eigh(
            2.0 * float(public.sigma or 0.0) ** 2 * public.honest_laplacian(view.coalition)
        )
        noise = np.outer(np.maximum(values, 0.0), coordinate_scales(public, z.shape[1]) ** 2)
        gain = self.deviation**2 / (self.deviation**2 + noise)
        mean: Array = self.mean + vectors @ (gain * (vectors.T @ (z - self.mean)))
        left = np.einsum("ik,kl->il", vectors**2, gain * noise).max(axis=1)
        return Estimate(agents=honest, values=mean, deviations=np.sqrt(left), says=f"prior ± {self.deviation:g}")
