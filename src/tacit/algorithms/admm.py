"""Decentralised ADMM: every agent solves its own regularised problem each round.

    λ⁺ = λ + ρ Σ_j (x − x_j)
    x⁺ = argmin_u h(u) + λ⁺ᵀu + ρ Σ_j |u − (x + x_j)/2|²
       = prox_{h, t}( (x + mean_j x_j)/2 − t λ⁺ ),   t = 1/(2ρ·degree)

Shi, Ling, Yuan, Wu, Yin, IEEE TSP 62(7), 2014. Converges for convex costs with any ρ > 0, smooth or
not, and from any λ with Σ λ = 0, such as a warm one (`chebyshev`); the quadratic term keeps the local
problem bounded even where the mask makes h̃ unbounded below. The bound on the rate in their Theorem 1
is best for a ρ in proportion to 1/√(λ₂λₙ) of the Laplacian: with it, rounds grow with the length of a
path, and not with its square.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.chebyshev import NO_GOSSIP, Gossip
from tacit.algorithms.landscape import Landscape
from tacit.typing import Algorithm, Array, Cost, Peers

_STIFF = 0.35  # measured on Poisson costs on paths, trees, cycles, grids, barbells, stars and regular graphs


class State(NamedTuple):
    """What an agent carries from round to round."""

    x: Array  # estimate of the minimiser
    dual: Array  # λ: the price of disagreement with the neighbours
    begun: Array  # 0 before the first round


@dataclass(frozen=True, slots=True)
class ADMM(Algorithm):
    """Settings of decentralised ADMM."""

    penalty: float
    warmup: Gossip = NO_GOSSIP

    handles_rough = True
    sums = ()

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return ρ = √(L_g μ_g)/d times max(1, 0.35/√γ): typical curvature, and more on long networks."""
        landscape.needs_convex("ADMM")
        degree = float(landscape.network.degrees.mean())
        stiffer = max(1.0, _STIFF / float(np.sqrt(Gossip.of(landscape.spectrum).gap)))
        return cls(penalty=stiffer * _typical_curvature(landscape) / degree, warmup=Gossip.warming(landscape))

    def dual_growth(self, degree: float) -> float:
        """Return the most by which λ grows in a round, where agents are within 1 of each other."""
        return np.inf if self.warmup.exchanges else self.penalty * degree

    def init(self, x: Array, cost: Cost) -> State:
        """Start without a price."""
        return State(x=x, dual=np.zeros_like(x), begun=np.array(0.0))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: one exchange and one proximal step of the whole cost; before the first, the warm start."""
        degree = peers.degree
        before = state.dual
        if self.warmup.exchanges and not state.begun:
            before = self.warmup.balance(cost.grad(state.x), peers)
        theirs = peers.gather(state.x)
        dual = before + self.penalty * (degree * state.x - theirs)
        t = 1.0 / (2.0 * self.penalty * degree)
        x = cost.prox((state.x + theirs / degree) / 2 - t * dual, t)
        return State(x=x, dual=dual, begun=np.array(1.0))


def _typical_curvature(landscape: Landscape) -> float:
    """Return √(L_g μ_g) where it is known, else what the Hessian at the origin suggests, else 1."""
    L, mu = landscape.mean_smoothness, landscape.mean_strong_convexity
    if not np.isfinite(L):
        n, m = len(landscape.network), landscape.cost.dim
        values = np.linalg.eigvalsh(landscape.cost.total_hess(np.zeros((n, m))) / n)
        L, mu = float(values[-1]), float(max(values[0], 0.0))
    if not L > 0:
        return 1.0
    return float(np.sqrt(L * max(mu, 1e-3 * L)))
