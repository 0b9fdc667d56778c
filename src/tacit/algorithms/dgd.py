"""Decentralised (sub)gradient descent.

    x⁺ = prox_{γ_k ψ}( W x − γ_k ∇h(x) )

With a constant step it stops near the optimum, not at it: its bias grows with σ, so masks make it
useless. With steps γ_k = γ₀ / (k + 1)^p, ½ < p ≤ 1, the bias dies out, slowly. A rough term enters by its
proximal map, which is a subgradient taken at the new point.

Nedić & Ozdaglar, IEEE TAC 54(1), 2009; the method the paper names for phase 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.typing import Algorithm, Array, Cost, Peers


class State(NamedTuple):
    """What an agent carries from round to round."""

    x: Array  # estimate of the minimiser
    k: Array  # rounds so far


@dataclass(frozen=True, slots=True)
class DGD(Algorithm):
    """Settings of decentralised gradient descent; decay = 0 is the constant step."""

    step_size: float
    decay: float = 0.0

    exact = False
    handles_rough = True
    sums = ()

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return half the largest stable step, (1 + λₙ)/L."""
        L = landscape.needs_smooth("DGD")
        return cls(step_size=0.5 * (1.0 + landscape.spectrum.smallest) / L if L else 1.0)

    def init(self, x: Array, cost: Cost) -> State:
        """Start counting rounds."""
        return State(x=x, k=np.zeros(()))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: one exchange and one gradient."""
        gamma = self.step_size / (state.k + 1) ** self.decay
        x = cost.rough_prox(peers.mix(state.x) - gamma * cost.grad(state.x), gamma)
        return State(x=x, k=state.k + 1)


@dataclass(frozen=True, slots=True)
class DiminishingDGD(DGD):
    """DGD with steps γ₀ / (k + 1)^decay: converges, slowly."""

    decay: float = 0.75
