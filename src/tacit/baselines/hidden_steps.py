"""Hidden step sizes: every agent moves when it likes, by a step that it keeps to itself.

    z_i = Σ_j w_ij x_j
    x_i⁺ = Π( z_i − α_i ∇h_i(z_i) )  if agent i is awake,  z_i if not        α_i = c/(s_i + k_i)

k_i counts how often i has been awake; how likely that is (its π_i), and its offset s_i, are private,
heterogeneous and random. Since k_i grows like π_i·k, agents that move rarely move farther: all pull equally in
the end, and the limit is the optimum.

Lou, Yu, Wang, Yi, Privacy Preservation in Distributed Subgradient Optimization Algorithms, IEEE Transactions on
Cybernetics 48(7), 2017, arXiv 1512.08822: there for changing subgradients, here for costs that stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.baselines.domain import clipped
from tacit.baselines.noise import drawn_from
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
