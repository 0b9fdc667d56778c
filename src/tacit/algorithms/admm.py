"""Decentralised ADMM: every agent solves its own regularised problem each round.

    λ⁺ = λ + ρ Σ_j (x − x_j)
    x⁺ = argmin_u h(u) + λ⁺ᵀu + ρ Σ_j |u − (x + x_j)/2|²
       = prox_{h, t}( (x + mean_j x_j)/2 − t λ⁺ ),   t = 1/(2ρ·degree)

Shi, Ling, Yuan, Wu, Yin, IEEE TSP 62(7), 2014. Converges for convex costs with any ρ > 0, smooth or
not; the quadratic term keeps the local problem bounded even where the mask makes h̃ unbounded below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.typing import Array, Cost, Peers, Summand


class State(NamedTuple):
    """What an agent carries from round to round."""

    x: Array  # estimate of the minimiser
    dual: Array  # λ: the price of disagreement with the neighbours


@dataclass(frozen=True, slots=True)
class ADMM:
    """Settings of decentralised ADMM."""

    penalty: float

    exact: ClassVar[bool] = True
    handles_rough: ClassVar[bool] = True
    handles_nonconvex: ClassVar[bool] = False
    sums: ClassVar[tuple[Summand, ...]] = ()
    weights: ClassVar[str] = "metropolis"

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return ρ = √(L_g μ_g)/d: a proximal weight of twice the average cost's typical curvature."""
        landscape.needs_convex("ADMM")
        degree = float(landscape.network.degrees.mean())
        return cls(penalty=_typical_curvature(landscape) / degree)

    def init(self, x: Array, cost: Cost) -> State:
        """Start without a price."""
        return State(x=x, dual=np.zeros_like(x))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: one exchange and one proximal step of the whole cost."""
        degree = peers.degree
        theirs = peers.gather(state.x)
        dual = state.dual + self.penalty * (degree * state.x - theirs)
        t = 1.0 / (2.0 * self.penalty * degree)
        x = cost.prox((state.x + theirs / degree) / 2 - t * dual, t)
        return State(x=x, dual=dual)


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
