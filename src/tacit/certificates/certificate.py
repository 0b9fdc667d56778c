"""What a coalition C can learn from a run with affine masks.

After removing the masks that it shares with honest agents, the coalition holds

    z = α_H + (masks inside G_H)  ~  N(α_H, 2σ²L_H)        in every coordinate,

and nothing else in its view depends on α_H. So two sets of affine coefficients with the same sum over
every component of the honest graph G_H = G − C differ by

    D_KL = tr(Δᵀ L_H† Δ)/4σ²  ≤  ε·dist²,   ε = 1/(4σ² μ(L_H))          Theorems 1 and 2

and telling them apart is telling N(0, 1) from N(μ, 1) with μ = √(2 D_KL): the best guess between the
two is right with probability Φ(μ/2). If C is a vertex cut, the sum over each component is learnt exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from tacit.errors import MaskError, VacuousError
from tacit.network import Topology
from tacit.network.topology import listed


@dataclass(frozen=True, slots=True)
class Component:
    """One connected piece of the honest graph."""

    agents: tuple[Any, ...]
    mu: float
    """μ(L) of the piece, its algebraic connectivity; 0 for a single agent."""
    epsilon: float
    """ε of Theorem 2 inside the piece; ∞ for a single agent."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The guarantee against one coalition, or (with `guards`) against every coalition of that size."""

    sigma: float
    coalition: tuple[Any, ...]
    """The coalition certified against; the worst one where the certificate is for every coalition."""
    components: tuple[Component, ...]
    uncertainty: dict[Any, float]
    """Standard deviation of the coalition's best estimate of an honest agent's coefficient, without priors."""
    epsilon: float
    """The largest ε over the components."""
    guards: int | None = None
    """t, if this holds against every coalition of at most t agents."""
    method: str = "exact"
    """"exact", or "bound" where the true ε may be smaller."""

    @property
    def is_private(self) -> bool:
        """Whether the coalition learns nothing exactly but the sum of all honest coefficients."""
        return len(self.components) == 1 and math.isfinite(self.epsilon)

    @property
    def exposed_sums(self) -> tuple[tuple[Any, ...], ...]:
        """The sets of agents whose coefficients' sum is learnt exactly, beyond that of all honest agents."""
        return tuple(c.agents for c in self.components) if len(self.components) > 1 else ()

    @property
    def exposed_agents(self) -> tuple[Any, ...]:
        """The agents whose coefficient is learnt exactly."""
        return tuple(c.agents[0] for c in self.components if len(c.agents) == 1)

    def guess(self, distance: float = 1.0) -> float:
        """Return how often the coalition guesses right between the two worst worlds *distance* apart."""
        return float(ndtr(distance * math.sqrt(2.0 * self.epsilon) / 2.0))

    def statement(self, distance: float = 1.0) -> str:
        """Return the guarantee in words."""
        who = f"An observer who controls {_named(self.coalition)}"
        if self.guards:
            who = f"An observer who controls any {'one agent' if self.guards == 1 else f'{self.guards} agents'}"
        if self.exposed_agents:
            return (
                f"{who} learns the affine part of {listed(self.exposed_agents)} exactly: "
                "nobody honest is linked to them. Add links between honest agents."
            )
        if not self.is_private:
            sums = "; ".join(listed(agents) for agents in self.exposed_sums)
            if not sums:
                return f"No guarantee against {_named(self.coalition)} could be computed."
            return (
                f"{who} cuts the honest agents apart and learns the sum of the affine parts of each piece ({sums})."
            )
        least = self.guess(distance)
        return (
            f"{who} and must decide between two worlds whose affine parts differ by {distance:g} guesses right "
            f"{'at most ' if self.method == 'bound' else ''}{100 * least:.1f} % of the time at worst "
            f"(ε = {self.epsilon:.3g}, σ = {self.sigma:g}); 50 % is a coin."
        )


def certify(network: Topology, coalition: Iterable[Any], *, sigma: float) -> Certificate:
    """Return ε = 1/(4σ² μ(L_H)) against *coalition*, and what it learns exactly if it is a vertex cut."""
    if not sigma > 0:
        raise MaskError(f"sigma = {sigma} must be positive: without masks there is nothing to certify.")
    coalition = tuple(dict.fromkeys(coalition))
    honest = network.without(coalition)
    if len(honest) < 2:
        raise VacuousError(
            f"{len(honest)} honest agent(s) left: a single agent's coefficient is the sum that no mechanism hides; "
            "certify against a smaller coalition."
        )
    components = tuple(_component(honest, agents, sigma) for agents in honest.components)
    deviations = sigma * np.sqrt(2.0 * honest.degrees)
    return Certificate(
        sigma=sigma,
        coalition=coalition,
        components=components,
        uncertainty=dict(zip(honest.agents, deviations.tolist(), strict=True)),
        epsilon=max(c.epsilon for c in components),
    )


def _component(honest: Topology, agents: tuple[Any, ...], sigma: float) -> Component:
    mu = honest.only(agents).algebraic_connectivity
    return Component(agents=agents, mu=mu, epsilon=1.0 / (4.0 * sigma**2 * mu) if mu > 0 else math.inf)


def _named(coalition: tuple[Any, ...]) -> str:
    return f"{'agent' if len(coalition) == 1 else 'agents'} {listed(coalition)}" if coalition else "no agent"
