"""Gradient tracking (adapt-then-combine): linear convergence with a constant step.

    x⁺ = W (x − α y)                  descend along the tracked gradient
    y⁺ = W (y + ∇h(x⁺) − ∇h(x))       keep  mean(y) = mean(∇h(x))

Xu, Zhu, Soh, Xie, CDC 2015; Di Lorenzo & Scutari, IEEE TSIPN 2(2), 2016. The costs need not be convex
one by one: their average must be.

*Step.* Convex costs and W ⪰ 0 (lazy weights): α < 2/L (Alghunaim, Ryu, Yuan, Sayed, IEEE TAC 66(6),
2021: its condition on W² and I − W is λ³ + λ ≤ 2, which holds for all λ in [0, 1]). A long step slows the
agreement of a badly connected network, whose slowest mode shrinks by 1 − (1 − λ₂)²/αL a round, so the step is at
most (1 − λ₂)/√(Lμ_g). Otherwise the
errors (of the mean, of agreement, of tracking) contract by the matrix A(α) below, and α is the
largest step, up to a safety factor, at which its spectral radius is below one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.errors import AlgorithmError
from tacit.typing import Algorithm, Array, Cost, Peers


class State(NamedTuple):
    """What an agent carries from round to round."""

    x: Array  # estimate of the minimiser
    y: Array  # estimate of the mean gradient
    g: Array  # ∇h(x), kept so that a round evaluates the gradient once


@dataclass(frozen=True, slots=True)
class GradientTracking(Algorithm):
    """Settings of gradient tracking."""

    step_size: float

    handles_nonconvex = True
    sums = ()
    weights = "lazy"

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return settings with a step that is proven safe for these costs and weights."""
        L = landscape.needs_curved("gradient tracking")
        if landscape.is_convex and landscape.weights == "lazy":
            mu, gap = landscape.mean_strong_convexity, 1.0 - landscape.spectrum.second
            balanced = gap / np.sqrt(L * mu) if mu > 0 else np.inf
            return cls(step_size=float(min(0.7 / L, balanced)))
        return cls(step_size=0.9 * _largest_contracting_step(landscape, L))

    def init(self, x: Array, cost: Cost) -> State:
        """Start the tracker at the own gradient."""
        g = cost.grad(x)
        return State(x=x, y=g, g=g)

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: two exchanges and one gradient."""
        x = peers.mix(state.x - self.step_size * state.y)
        g = cost.grad(x)
        y = peers.mix(state.y + g - state.g)
        return State(x=x, y=y, g=g)


def contraction(step: float, *, L: float, L_mean: float, mu_mean: float, second: float, smallest: float) -> float:
    """Return the spectral radius of A(α), which bounds the errors of any smooth costs from round to round.

    The errors are (|x̄ − x*|, |x − 1x̄|/√n, |y − 1ȳ|/√n), and A(α) has the rows
    (1 − αμ, αL, 0), (0, λ, αλ), (αλ L L_mean, λL(ω + αL), λ(1 + αλL)) with λ = |W − J|, ω = 1 − λₙ.
    """
    lam, omega = max(abs(second), abs(smallest)), 1.0 - smallest
    A = np.array(
        [
            [1 - step * mu_mean, step * L, 0],
            [0, lam, step * lam],
            [step * lam * L * L_mean, lam * L * (omega + step * L), lam * (1 + step * lam * L)],
        ]
    )
    return float(np.abs(np.linalg.eigvals(A)).max())


def _largest_contracting_step(landscape: Landscape, L: float) -> float:
    mu_mean, L_mean = landscape.mean_strong_convexity, landscape.mean_smoothness
    if not mu_mean > 0:
        raise AlgorithmError(
            f"gradient tracking cannot choose a step: the average cost is only known to have curvature "
            f"{mu_mean:.3g} or more, and it needs a positive bound; give the costs' strong convexity, or "
            "the step size."
        )
    second, smallest = landscape.spectrum

    def contracts(step: float) -> bool:
        return contraction(step, L=L, L_mean=L_mean, mu_mean=mu_mean, second=second, smallest=smallest) < 1

    low, high = 0.0, 2.0 / (mu_mean + L_mean)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if contracts(middle) else (low, middle)
    return low
