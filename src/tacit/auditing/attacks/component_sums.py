"""Sums over the components of the honest graph: what a vertex cut gives away, and all that it gives away exactly.

    Σ_{i ∈ S} z_i = Σ_{i ∈ S} α_i       for every component S of G − C

Masks inside S cancel in the sum over S, and those to the coalition are known. If C is no cut there is one
component, and its sum is the one that the answer tells anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.likelihood import coefficients, misses_coefficients
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class ComponentSums:
    """Add up what is left under the masks, component by component."""

    name: str = "component sums"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there is no z."""
        return misses_coefficients(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the coefficients of agents that are alone in their component."""
        alone = [(agents[0], total) for agents, total in self.sums(view, public) if len(agents) == 1]
        agents = np.array([agent for agent, _ in alone], dtype=np.intp)
        width = coefficients(view, public)[1].shape[1]
        values = np.stack([total for _, total in alone]) if alone else np.empty((0, width))
        return Estimate(agents=agents, values=values, deviations=np.zeros(len(agents)), says="alone in a component")

    def sums(self, view: View, public: Public) -> list[tuple[tuple[int, ...], Array]]:
        """Return every component with the sum of its coefficients."""
        honest, z = coefficients(view, public)
        pieces = public.components(view.coalition)
        return [(tuple(int(i) for i in piece), z[np.isin(honest, piece)].sum(axis=0)) for piece in pieces]
