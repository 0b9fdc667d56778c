"""Differential privacy by noise in messages.

    y_i = x_i + Lap(M_t),  M_t = 2 C √m c pᵗ / (ε (p − q))              what an agent says in round t ≥ 1
    z_i = Σ_j w_ij y_j
    x_i⁺ = Π( z_i − c qᵗ ∇h_i(z_i) )                                    Π onto |x − x₀| ≤ R,  0 < q < p < 1

Given what was said, another cost moves x_i⁺ by 2C c qᵗ at most, √m times as much in the sum of magnitudes, so all
rounds together cost Σ 2C√m c qᵗ/M_{t+1} = ε: every agent's whole cost is ε-differentially private, whoever listens.
Steps must shrink fast for that, and the answer is as far off as O(1/ε²) in the mean square.

Huang, Mitra, Vaidya, Differentially Private Distributed Optimization, ICDCN 2015, arXiv 1401.2596.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.domain import Domain, clipped
from tacit.baselines.gossiping import best_of, noisily, unfit
from tacit.baselines.noise import drawn_from
from tacit.baselines.optimum import reference
from tacit.solving import Problem
from tacit.typing import Algorithm, Array, Cost, Peers


class NoisyState(NamedTuple):
    """What an agent carries from round to round."""

    x: Array
    k: Array


@dataclass(frozen=True, slots=True)
class NoisyMessages(Algorithm):
    """Settings; *seed* is None for the algorithm without its noise, as an attacker runs it."""

    step_size: float
    q: float
    p: float
    epsilon: float
    steepest: float
    radius: float
    centre: tuple[float, ...]
    seed: int | None = None

    exact = False
    sums = ()

    def init(self, x: Array, cost: Cost) -> NoisyState:
        """Start at the public point."""
        return NoisyState(x=x, k=np.zeros(()))

    def step(self, state: NoisyState, peers: Peers, cost: Cost) -> NoisyState:
        """Run one round: one exchange and one gradient."""
        k, gamma = float(state.k), self.step_size * self.q ** float(state.k)
        if self.seed is None:
            z = peers.mix(state.x)
            return NoisyState(x=z - gamma * cost.grad(z), k=state.k + 1)
        scale = self.noise(k, state.x.shape[-1])
        z = peers.mix(state.x + drawn_from(self.seed, k).laplace(0.0, scale, state.x.shape))
        centre = np.asarray(self.centre)
        x = z - gamma * clipped(cost.grad(z), self.steepest)
        return NoisyState(x=centre + clipped(x - centre, self.radius), k=state.k + 1)

    def noise(self, k: float, dim: int) -> float:
        """Return M_t in the round of number k: none is needed in the first, where all say x₀."""
        if k == 0:
            return 0.0
        whole = 2.0 * self.steepest * np.sqrt(dim) * self.step_size / (self.epsilon * (self.p - self.q))
        return float(whole * self.p**k)


@dataclass(frozen=True, slots=True)
class MessageNoise:
    """Laplace noise in messages that shrinks from round to round, to be compared."""

    epsilon: float = 1.0
    rounds: int = 150
    name: str = "noise in messages"
    source: str = "Huang, Mitra & Vaidya 2015"
    assumes: str = "a public bound on x and on gradients; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        return unfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Run with the best of some settings."""
        domain = Domain.around(problem, reference(problem))
        choices = [
            NoisyMessages(
                step_size=factor / domain.smoothness, q=q, p=(q + 1.0) / 2.0, epsilon=self.epsilon,
                steepest=domain.steepest, radius=domain.radius, centre=tuple(problem.x0.tolist()),
            )
            for factor, q in product((0.01, 0.1, 0.5), (0.5, 0.8, 0.95))
        ]  # fmt: skip
        best, rounds = best_of(problem, [(each, self.rounds) for each in choices])
        pledge = Pledge(
            f"ε = {self.epsilon:g} for a cost",
            f"ε = {self.epsilon:g} for every agent's whole cost, whoever listens.",
        )
        return noisily(
            problem, lambda who: best, rounds, listeners, how=f"DGD, Laplace noise, q = {best.q:g}, p = {best.p:g}",
            promises=listeners.each(pledge),
        )  # fmt: skip
