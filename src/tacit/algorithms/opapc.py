"""OPAPC: accelerated primal-dual descent with Chebyshev gossip, optimal in gradients and in rounds.

    x_g = τ x + (1 − τ) x_f
    x_½ = (x − η(∇h(x_g) − μ x_g + y)) / (1 + ημ)
    y⁺  = y + θ P(G) x_½
    x⁺  = (x − η(∇h(x_g) − μ x_g + y⁺)) / (1 + ημ)
    x_f⁺ = x_g + 2τ/(2 − τ) (x⁺ − x)

    τ = min(1, ½√(χ/κ)),  η = 1/(4τL),  θ = 1/(η λ_max(P)),  χ = λ_max(P)/λ_min⁺(P),  κ = L/μ

Kovalev, Salim, Richtárik, NeurIPS 2020, Algorithms 1 and 2. Needs every cost strongly convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.chebyshev import Gossip
from tacit.algorithms.landscape import Landscape
from tacit.errors import AlgorithmError
from tacit.typing import Algorithm, Array, Cost, Peers


class State(NamedTuple):
    """What an agent carries from round to round."""

    x: Array  # estimate of the minimiser
    ahead: Array  # x_f, the extrapolated point
    y: Array  # dual variable: at the end it cancels the own gradient


@dataclass(frozen=True, slots=True)
class OPAPC(Algorithm):
    """Settings of OPAPC."""

    smoothness: float
    strong_convexity: float
    gossip: Gossip

    sums = ()

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return the settings of the convergence theorem."""
        L, mu = landscape.needs_smooth("OPAPC"), landscape.strong_convexity
        if not mu > 0:
            raise AlgorithmError(
                f"OPAPC needs every single cost strongly convex, and one has curvature {mu:.3g}; "
                "use 'nids', or share a small l2 penalty among the agents."
            )
        return cls(smoothness=L, strong_convexity=mu, gossip=Gossip.of(landscape.spectrum))

    def init(self, x: Array, cost: Cost) -> State:
        """Start without a dual correction."""
        return State(x=x, ahead=x, y=np.zeros_like(x))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: K exchanges and one gradient."""
        least, largest = self.gossip.bounds
        mu = self.strong_convexity
        tau = min(1.0, 0.5 * float(np.sqrt(largest / least * mu / self.smoothness)))
        eta = 1.0 / (4.0 * tau * self.smoothness)
        theta = 1.0 / (eta * largest)

        x_g = tau * state.x + (1.0 - tau) * state.ahead
        pull = cost.grad(x_g) - mu * x_g
        half = (state.x - eta * (pull + state.y)) / (1.0 + eta * mu)
        y = state.y + theta * self.gossip.apply(half, peers)
        x = (state.x - eta * (pull + y)) / (1.0 + eta * mu)
        return State(x=x, ahead=x_g + 2.0 * tau / (2.0 - tau) * (x - state.x), y=y)
