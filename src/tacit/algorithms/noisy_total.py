"""The sum of everybody's numbers with noise: one sum, in which one record hardly shows.

x = Σ_i α_i + noise        scaled to what one record can move
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.typing import Algorithm, Array, Cost, Findings, Peers, Summand


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the sum, after the one round
    error: Array  # infinite before, zero then


@dataclass(frozen=True, slots=True)
class NoisyTotal(Algorithm):
    """How far one record moves the sum at most, and the deviation of the noise in units of that."""

    slope: float
    noise: float

    bounded = True
    handles_nonconvex = True
    sums = (Summand.NUMBERS,)

    def findings(self, state: State) -> Findings:
        """Return the noise of every number."""
        return Findings(noise=np.full(len(state.x), self.slope * self.noise))

    def init(self, x: Array, cost: Cost) -> State:
        """Start with nothing known."""
        return State(x=x, error=np.array(np.inf))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Add up."""
        return State(x=self.slope * peers.sum(cost.affine / self.slope), error=np.array(0.0))
