"""Correlated noise in every round, some of which does not cancel: DECOR.

    u_i = clip(∇h_i(x_i), C) + Σ_j (r_ij − r_ji) + v_i        r ~ N(0, σ_cor²/2) a pair,  v ~ N(0, σ_cdp²), fresh
    x⁺  = W (x − γ u)

Against an observer who knows no pair's noise, K rounds are μ-Gaussian differentially private for an agent's
gradient, μ² = K (2C)² max_i [(σ_cdp² I + σ_cor² L)⁻¹]_ii; against a coalition L is that of the honest graph.
σ_cor = 0 is local noise, σ_cor → ∞ that of a curator.

Allouah, Koloskova, El Firdoussi, Jaggi, Guerraoui, The Privacy Power of Correlated Noise in Decentralized
Learning, ICML 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.domain import Domain, clipped
from tacit.baselines.gossiping import best_of, noisily, unfit
from tacit.baselines.noise import drawn_from
from tacit.baselines.optimum import reference
from tacit.certificates import TradeOff
from tacit.errors import InputError
from tacit.network import Network
from tacit.solving import Problem
from tacit.typing import Algorithm, Array, Cost, Peers


class CorrelatedState(NamedTuple):
    """What an agent carries from round to round."""

    x: Array
    k: Array


@dataclass(frozen=True, slots=True)
class CorrelatedNoise(Algorithm):
    """Settings; *seed* is None for the algorithm without its noise, as an attacker runs it."""

    step_size: float
    clip: float
    pairwise: float
    """σ_cor: the deviation of a pair's noise."""
    own: float
    """σ_cdp: the deviation of what does not cancel."""
    reverse: tuple[int, ...]
    """Which directed link is the other direction of each."""
    silent: tuple[int, ...] = ()
    """Directed links whose noise the listening coalition knows: it takes it off, so that none is left."""
    seed: int | None = None

    exact = False
    sums = ()

    def init(self, x: Array, cost: Cost) -> CorrelatedState:
        """Start at the public point."""
        return CorrelatedState(x=x, k=np.zeros(()))

    def step(self, state: CorrelatedState, peers: Peers, cost: Cost) -> CorrelatedState:
        """Run one round: one exchange; the noise of pairs comes from seeds that they share."""
        if self.seed is None:
            return CorrelatedState(x=peers.mix(state.x - self.step_size * cost.grad(state.x)), k=state.k + 1)
        rng, m = drawn_from(self.seed, float(state.k)), state.x.shape[-1]
        sent = rng.normal(0.0, self.pairwise / np.sqrt(2.0), (peers.links, m))
        sent[list(self.silent)] = 0.0
        net = peers.total(sent - sent[list(self.reverse)])
        noisy = clipped(cost.grad(state.x), self.clip) + net + rng.normal(0.0, self.own, state.x.shape)
        return CorrelatedState(x=peers.mix(state.x - self.step_size * noisy), k=state.k + 1)


def directions(network: Network, coalition: Sequence[int] = ()) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which directed link is the other direction of each, and which of them a coalition has an end of."""
    ends = sorted([(int(i), int(j)) for i, j in network.links] + [(int(j), int(i)) for i, j in network.links])
    place = {pair: k for k, pair in enumerate(ends)}
    near = tuple(k for k, (i, j) in enumerate(ends) if i in coalition or j in coalition)
    return tuple(place[j, i] for i, j in ends), near


def sensitivity(network: Network, *, pairwise: float, own: float, coalition: Sequence[int] = ()) -> float:
    """Return max_i [(σ_cdp² I + σ_cor² L_H)⁻¹]_ii: what a unit change of one gradient is worth, squared."""
    honest = [i for i in range(len(network)) if i not in coalition]
    links = np.array([[i in honest, j in honest] for i, j in network.links]).all(axis=1)
    laplacian = np.zeros((len(network), len(network)))
    for i, j in network.links[links]:
        laplacian[[i, j], [i, j]] += 1.0
        laplacian[[i, j], [j, i]] -= 1.0
    inside = laplacian[np.ix_(honest, honest)]
    return float(np.linalg.inv(own**2 * np.eye(len(honest)) + pairwise**2 * inside).diagonal().max())


def calibrated(
    network: Network, *, epsilon: float, delta: float, rounds: int, clip: float, ratio: float,
    coalitions: Sequence[Sequence[int]] = ((),),
) -> float:  # fmt: skip
    """Return σ_cdp so that *rounds* rounds are (ε, δ)-private against each coalition; σ_cor = *ratio* σ_cdp."""
    worth = max(sensitivity(network, pairwise=ratio, own=1.0, coalition=who) for who in coalitions)
    return 2.0 * clip * float(np.sqrt(rounds * worth)) / TradeOff.of_epsilon_delta(epsilon, delta).mu


def published_mu(epsilon: float, delta: float) -> float:
    """Return μ by the paper's conversion, ε = μ²/2 + μ√(2 ln 1/δ): smaller than the exact one, for more noise."""
    width = float(np.log(1.0 / delta))
    return float(np.sqrt(2.0) * (np.sqrt(width + epsilon) - np.sqrt(width)))


def pairing(network: Network, *, own: float, local: float) -> float:
    """Return the smallest σ_cor with which σ_cdp = *own* hides as much as local noise of deviation *local*."""
    low, high = 0.0, local
    while sensitivity(network, pairwise=high, own=own) * local**2 > 1.0:
        low, high = high, 2.0 * high
        if high > 1e6 * local:
            raise InputError(f"no correlated noise beside {own:g} hides as much as local noise of {local:g}.")
    for _ in range(60):
        middle = (low + high) / 2.0
        hides = sensitivity(network, pairwise=middle, own=own) * local**2 <= 1.0
        low, high = (low, middle) if hides else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Decor:
    """Noise that mostly cancels between neighbours, fresh in every round; to be compared."""

    epsilon: float = 1.0
    delta: float = 1e-5
    ratio: float = 10.0
    name: str = "correlated noise"
    source: str = "DECOR: Allouah et al. 2024"
    assumes: str = "a public clip of gradients, seeds shared by neighbours; nobody trusted"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        return unfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Run with the best of some steps, clips and numbers of rounds; calibrated against all who listen."""
        domain = Domain.around(problem, reference(problem))
        reverse, _ = directions(problem.network)
        choices = []
        for factor, share, rounds in product((0.03, 0.1, 0.3), (0.03, 0.3), (50, 200)):
            clip = share * domain.steepest
            own = calibrated(
                problem.network, epsilon=self.epsilon, delta=self.delta, rounds=rounds, clip=clip,
                ratio=self.ratio, coalitions=listeners.coalitions or ((),),
            )  # fmt: skip
            settings = CorrelatedNoise(
                step_size=factor / domain.smoothness, clip=clip, pairwise=self.ratio * own, own=own, reverse=reverse
            )
            choices.append((settings, rounds))
        best, rounds = best_of(problem, choices)
        pledge = Pledge(
            f"({self.epsilon:g}, {self.delta:g}) for clipped gradients",
            f"(ε, δ) = ({self.epsilon:g}, {self.delta:g}) for every agent's clipped gradients over all {rounds} "
            "rounds, against these coalitions.",
        )
        return noisily(
            problem, lambda who: replace(best, silent=directions(problem.network, who)[1]), rounds, listeners,
            how=f"DGD, σ_cor = {self.ratio:g} σ_cdp", promises=listeners.each(pledge),
        )  # fmt: skip
