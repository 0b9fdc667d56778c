"""The sum of everybody's numbers: one sum, and nothing to optimise.

    x = Σ_i α_i        α_i the affine part, such as `Affine(numbers)` has

What counts, means, variances and summed Hessians are made of. It runs wherever an algorithm runs, under the same
masks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.typing import Algorithm, Array, Cost, Peers, Summand


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the sum, after the one round
    error: Array  # infinite before, zero then


@dataclass(frozen=True, slots=True)
class Total(Algorithm):
    """Settings of a sum: there are none."""

    handles_nonconvex = True
    sums = (Summand.NUMBERS,)

    def init(self, x: Array, cost: Cost) -> State:
        """Start with nothing known."""
        return State(x=x, error=np.array(np.inf))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Add up."""
        return State(x=peers.sum(cost.affine), error=np.array(0.0))
