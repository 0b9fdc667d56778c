"""NIDS: exact, with a step that does not depend on the network.

    v  = 2x − z − α(∇f(x) + d)
    u  = (v − W v)/2
    d⁺ = d + u/α
    z⁺ = x − α(∇f(x) + d⁺)
    x⁺ = prox_{αψ}(z⁺)

Li, Shi, Yan, IEEE TSP 67(17), 2019, with one step for all agents, written with its dual variable d so
that no round is special; the first d may be a warm one (`chebyshev`). Where ψ = 0, z = x. Safe step:
α < 2/L, whatever the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.chebyshev import NO_GOSSIP, Gossip
from tacit.algorithms.landscape import Landscape
from tacit.typing import Algorithm, Array, Cost, Peers


class State(NamedTuple):
    """What an agent carries from round to round."""

    x: Array  # estimate of the minimiser
    z: Array  # the point whose proximal map is x
    d: Array  # dual variable: at the end it cancels the own gradient
    low: Array  # what rounding has cut off d so far
    begun: Array  # 0 before the first round


@dataclass(frozen=True, slots=True)
class NIDS(Algorithm):
    """Settings of NIDS."""

    step_size: float
    warmup: Gossip = NO_GOSSIP

    handles_rough = True
    sums = ()

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return 1.6/L, well inside the safe range; 1 where there is no gradient to limit it."""
        landscape.needs_convex("NIDS")
        L = landscape.needs_smooth("NIDS")
        return cls(step_size=1.6 / L if L else 1.0, warmup=Gossip.warming(landscape))

    def dual_growth(self, degree: float) -> float:
        """Return the most by which d grows in a round, where agents are within 1 of each other."""
        return np.inf if self.warmup.exchanges else degree / (degree + 1.0) / (2.0 * self.step_size)

    def init(self, x: Array, cost: Cost) -> State:
        """Start without a dual correction."""
        return State(x=x, z=x, d=np.zeros_like(x), low=np.zeros_like(x), begun=np.array(0.0))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: one exchange, one gradient and one proximal step; before the first, the warm start."""
        x, alpha, g = state.x, self.step_size, cost.grad(state.x)
        before = state.d if state.begun else self.warmup.balance(g, peers)
        downhill = x - alpha * (g + before + state.low)
        v = downhill + x - state.z
        u = (v - peers.mix(v)) / 2
        z = downhill - u
        # masks make d as large as σ and its increments tiny: without `low`, rounding would let Σ d leave zero
        more = u / alpha + state.low
        d = before + more
        return State(x=cost.rough_prox(z, alpha), z=z, d=d, low=more - (d - before), begun=np.array(1.0))
