"""Maximum likelihood among finitely many candidates, under the sums that are known exactly.

α̂ = argmin (z − α)ᵀ L_H† (z − α)   over all α with α_i among i's candidates and 1ᵀα = 1ᵀz on every component
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.likelihood import coefficients, misses_coefficients
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array

_MOST = 1 << 16


@dataclass(frozen=True, slots=True)
class Candidates:
    """Every honest agent's coefficient is one of *options*, (c, m) for all agents alike or one such per agent."""

    options: tuple[tuple[tuple[float, ...], ...], ...]
    """Agent by agent, in the order of the honest ones: the candidates, each a tuple of m numbers."""
    name: str = "finite candidates"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there is no z, or there are too many stories to try."""
        stories = np.prod([float(len(each)) for each in self.options])
        return misses_coefficients(view, public) or ("too many stories" if stories > _MOST else None)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the likeliest story."""
        honest, z = coefficients(view, public)
        stories = np.array([list(story) for story in product(*self.options)], dtype=np.float64)  # (s, |H|, m)
        best = likeliest(stories, z, public.honest_laplacian(view.coalition))
        return Estimate(
            agents=honest, values=stories[best], deviations=np.zeros(len(honest)), says=f"of {len(stories)} stories"
        )


def likeliest(stories: Array, z: Array, laplacian: Array) -> int:
    """Return the number of the story that explains z best."""
    values, vectors = np.linalg.eigh(laplacian)
    free = values > 1e-9 * max(values[-1], 1e-300)
    residual = np.einsum("ik,sil->skl", vectors, z[None] - stories)
    wrong = np.abs(residual[:, ~free]).sum(axis=(1, 2))  # sums that do not fit
    cost = (residual[:, free] ** 2 / values[free][None, :, None]).sum(axis=(1, 2))
    possible = wrong <= wrong.min() + 1e-6 * (1.0 + np.abs(z).max())
    return int(np.where(possible, cost, np.inf).argmin())
