"""EXTRA: exact first-order agreement with one exchange a round.

    x⁺ = W x − α ∇h(x) + c
    c⁺ = c + (W x − x)/2

Shi, Ling, Wu, Yin, SIAM J. Optim. 25(2), 2015, with W̃ = (I + W)/2; c collects the terms that the
paper writes with the previous iterate, so that no round is special. Safe step: α < (1 + λₙ)/L.
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
    c: Array  # accumulated disagreement


@dataclass(frozen=True, slots=True)
class EXTRA(Algorithm):
    """Settings of EXTRA."""

    step_size: float

    sums = ()

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return 0.9 of the largest safe step."""
        landscape.needs_convex("EXTRA")
        L = landscape.needs_curved("EXTRA")
        return cls(step_size=0.9 * (1.0 + landscape.spectrum.smallest) / L)

    def init(self, x: Array, cost: Cost) -> State:
        """Start without any accumulated disagreement."""
        return State(x=x, c=np.zeros_like(x))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: one exchange and one gradient."""
        mixed = peers.mix(state.x)
        x = mixed - self.step_size * cost.grad(state.x) + state.c
        return State(x=x, c=state.c + (mixed - state.x) / 2)
