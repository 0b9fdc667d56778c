"""Hidden step sizes: every agent moves when it likes, by a step that it keeps to itself.

    z_i = Σ_j w_ij x_j
    x_i⁺ = Π( z_i − α_i ∇h_i(z_i) )  if agent i is awake,  z_i if not        α_i = c/(s_i + k_i)

k_i counts how often i has been awake; how likely that is (its π_i), and its offset s_i, are private,
heterogeneous and random. Since k_i grows like π_i·k, agents that move rarely move farther: all pull equally in
the end, and the limit is the optimum.

Lou, Yu, Wang, Yi, Privacy Preservation in Distributed Subgradient Optimization Algorithms, IEEE Transactions on
Cybernetics 48(7), 2018 (online 2017), arXiv 1512.08822. The paper shows that its own attack fails; it bounds no
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.algorithms import Landscape
from tacit.baselines.approach import Demonstration, Listeners
from tacit.baselines.domain import Domain, clipped
from tacit.baselines.gossiping import best_of, noisily, unfit
from tacit.baselines.noise import drawn_from
from tacit.baselines.optimum import reference
from tacit.solving import Problem
from tacit.typing import Algorithm, Array, Cost, Peers

_NO_ROUND = 2**32 - 1  # where private settings are drawn
_RARELY = 0.3
_OFFSETS = (1.0, 10.0)


class AwakeState(NamedTuple):
    """What an agent carries from round to round."""

    x: Array
    k: Array
    awake: Array
    """How often it was."""


@dataclass(frozen=True, slots=True)
class HiddenSteps(Algorithm):
    """Settings; *seed* is None for what an attacker takes for it: everybody awake, with the mean step."""

    step_size: float
    radius: float
    centre: tuple[float, ...]
    seed: int | None = None

    exact = False
    sums = ()

    def init(self, x: Array, cost: Cost) -> AwakeState:
        """Start at the public point, with nobody awake so far."""
        return AwakeState(x=x, k=np.zeros(()), awake=np.zeros((*x.shape[:-1], 1)))

    def step(self, state: AwakeState, peers: Peers, cost: Cost) -> AwakeState:
        """Run one round: one exchange, and a gradient of those who are awake."""
        z = peers.mix(state.x)
        if self.seed is None:
            mean = self.step_size / (sum(_OFFSETS) / 2.0 + float(state.k))
            return AwakeState(x=z - mean * cost.grad(z), k=state.k + 1, awake=state.awake + 1)
        private = drawn_from(self.seed, _NO_ROUND)
        often = private.uniform(_RARELY, 1.0, state.awake.shape)
        offset = private.uniform(*_OFFSETS, state.awake.shape)
        awake = drawn_from(self.seed, float(state.k)).random(state.awake.shape) < often
        size = self.step_size / (offset + state.awake)
        centre = np.asarray(self.centre)
        moved = centre + clipped(z - size * cost.grad(z) - centre, self.radius)
        return AwakeState(x=np.where(awake, moved, z), k=state.k + 1, awake=state.awake + awake)


@dataclass(frozen=True, slots=True)
class StepHiding:
    """Steps, and when they are taken, that nobody else knows; to be compared."""

    rounds: int = 2000
    name: str = "hidden step sizes"
    source: str = "Lou, Yu, Wang & Yi 2017"
    assumes: str = "that nobody guesses steps, or when they are taken; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        return unfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Run with the best of some steps."""
        domain = Domain.around(problem, reference(problem))
        mean = Landscape(problem.stack, problem.network).mean_strong_convexity
        slow = 1.0 / mean if mean > 0 else 10.0 / domain.smoothness
        choices = [
            HiddenSteps(step_size=factor * slow, radius=domain.radius, centre=tuple(problem.x0.tolist()))
            for factor in (0.3, 1.0, 3.0)
        ]
        best, rounds = best_of(problem, [(each, self.rounds) for each in choices])
        return noisily(problem, lambda who: best, rounds, listeners, how="asynchronous DGD, private steps")
