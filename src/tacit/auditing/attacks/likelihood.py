"""Maximum likelihood against Gaussian masks.

    z = α̃_H − known masks ~ N(α_H, 2σ²L_H)    ⇒    α̂ = z,  error covariance 2σ²L_H in every coordinate

Without prior knowledge nothing does better: z is what the whole view says about α_H, and the sums over the
components of the honest graph are in it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.unmask import deviations, known_masks
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.errors import InputError
from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class MaximumLikelihood:
    """Take the known masks off all effective costs, and believe what is left."""

    name: str = "maximum likelihood"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where no effective cost was published, or nothing Gaussian hides it."""
        return misses_coefficients(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return z."""
        honest, z = coefficients(view, public)
        return Estimate(
            agents=honest,
            values=z,
            deviations=deviations(view, public)[honest],
            says="all effective costs, unmasked",
        )


def misses_coefficients(view: View, public: Public) -> str | None:
    """Say why there is no z."""
    if public.sigma is None:
        return "there are no Gaussian masks"
    if view.published is None or view.published.gradients is None:
        return "no effective cost was published"
    return "coefficients along a basis are attacked in bulk" if public.mechanism == "basis" else None


def coefficients(view: View, public: Public) -> tuple[NDArray[np.intp], Array]:
    """Return the honest agents and their z: gradients, with the curvatures before them where those are masked."""
    published = view.published
    if published is None or published.gradients is None:
        raise InputError("no effective cost was published; record the view of the worst case.")
    effective = published.gradients
    if public.mechanism == "quadratic" and published.curvatures is not None:
        effective = np.concatenate([published.curvatures, effective], axis=1)
    honest = public.honest(view.coalition)
    return honest, (effective - known_masks(view, public, effective.shape[1]))[honest]


def coordinate_scales(public: Public, width: int) -> Array:
    """Return σ of every coordinate as a multiple of sigma: off-diagonal curvatures count twice, and have 1/√2."""
    m = public.unknowns
    if public.mechanism != "quadratic" or width == m:
        return np.ones(width)
    rows, columns = np.triu_indices(m)
    return np.concatenate([np.where(rows == columns, 1.0, np.sqrt(0.5)), np.ones(m)])
