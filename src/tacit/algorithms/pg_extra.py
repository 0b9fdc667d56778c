"""PG-EXTRA: EXTRA with a proximal step for what has no gradient.

    z  = W x − α ∇f(x) + c
    x⁺ = prox_{αψ}(z)
    c⁺ = c + (W x − x)/2

Shi, Ling, Wu, Yin, IEEE TSP 63(22), 2015. Safe step: α < (1 + λₙ)/L; any α where f is affine (P-EXTRA).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tacit.algorithms.extra import State
from tacit.algorithms.landscape import Landscape
from tacit.typing import Algorithm, Array, Cost, Peers


@dataclass(frozen=True, slots=True)
class PGEXTRA(Algorithm):
    """Settings of PG-EXTRA."""

    step_size: float

    handles_rough = True
    sums = ()

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return 0.9 of the largest safe step; 1 where there is no gradient to limit it."""
        landscape.needs_convex("PG-EXTRA")
        L = landscape.needs_smooth("PG-EXTRA")
        return cls(step_size=0.9 * (1.0 + landscape.spectrum.smallest) / L if L else 1.0)

    def dual_growth(self, degree: float) -> float:
        """Return the most by which c/α grows in a round, where agents are within 1 of each other."""
        return degree / (degree + 1.0) / (2.0 * self.step_size)

    def init(self, x: Array, cost: Cost) -> State:
        """Start without any accumulated disagreement."""
        return State(x=x, c=np.zeros_like(x))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: one exchange, one gradient and one proximal step."""
        mixed = peers.mix(state.x)
        z = mixed - self.step_size * cost.grad(state.x) + state.c
        return State(x=cost.rough_prox(z, self.step_size), c=state.c + (mixed - state.x) / 2)
