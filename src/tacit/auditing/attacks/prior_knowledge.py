"""Prior knowledge of some honest agents' coefficients: Kron reduction.

    α_U | z, α_K  ~  N( z_U − L_UK L_KK⁻¹ (z_K − α_K),  2σ²(L_UU − L_UK L_KK⁻¹ L_KU) )

The error z − α is N(0, 2σ²L_H); knowing it on K, the best guess of it on U is L_UK L_KK⁺ (z_K − α_K). Agents whose
costs are known are not corrupted: the links between U and K still hide something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.likelihood import coefficients, misses_coefficients
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View


@dataclass(frozen=True, slots=True)
class PriorKnowledge:
    """Know the coefficients of some honest agents: by position, with their values."""

    known: tuple[tuple[int, tuple[float, ...]], ...]
    name: str = "prior knowledge"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there is no z."""
        return misses_coefficients(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return what is left to believe about the others."""
        honest, z = coefficients(view, public)
        L = public.honest_laplacian(view.coalition)
        inside = np.isin(honest, [agent for agent, _ in self.known])
        values = {agent: np.array(value) for agent, value in self.known}
        known = np.stack([values[int(agent)] for agent in honest[inside]])
        gain = L[np.ix_(~inside, inside)] @ np.linalg.pinv(L[np.ix_(inside, inside)])
        rest = L[np.ix_(~inside, ~inside)] - gain @ L[np.ix_(inside, ~inside)]
        believed = z[~inside] - gain @ (z[inside] - known)
        deviation = float(public.sigma or 0.0) * np.sqrt(2.0 * np.maximum(np.diag(rest), 0.0))
        return Estimate(
            agents=honest[~inside], values=believed, deviations=deviation, says=f"knowing {inside.sum()} other(s)"
        )
