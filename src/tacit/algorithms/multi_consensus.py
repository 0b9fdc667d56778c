"""Accelerated gradient descent with gossip to near agreement after every step.

    s⁺ = M(s + ∇φ(y) − ∇φ(y₋)),   s₀ = ∇φ(y₀) + α         track the mean gradient of h = φ + αᵀx
    x⁺ = M(y − s⁺/L_g)                                    descend
    y⁺ = x⁺ + (1 − β)/(1 + β) (x⁺ − x),   β = √(μ_g/L_g)

M is K exchanges of Chebyshev gossip, which leave 1/T_K of any disagreement. With

    T_K ≥ 14 (L/L_g) √(L_g/μ_g)

the agents follow centralised accelerated descent on the mean cost: its curvatures μ_g and L_g set the number of
steps, and the largest curvature L of a single cost, convex or not, enters through K alone, and so by its logarithm.
That is what makes masks on the curvature affordable without any sum: rounds grow like log σ. The affine part enters
once, at the start: beside a mask of σ = 10⁶ a float64 cannot hold the last changes of a gradient.

Ye, Luo, Zhou, Zhang, *Multi-consensus decentralized accelerated gradient descent*, arXiv 2005.00797 (Mudag), with
the tracker of Ye, Zhou, Luo, Zhang, NeurIPS 2020, and Chebyshev gossip in the place of FastMix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.chebyshev import Gossip
from tacit.algorithms.landscape import Landscape
from tacit.errors import AlgorithmError
from tacit.typing import Algorithm, Array, Cost, Peers

_MARGIN = 14.0


class State(NamedTuple):
    """What an agent carries from round to round."""

    x: Array  # estimate of the minimiser
    y: Array  # the extrapolated point
    s: Array  # estimate of the mean gradient
    g: Array  # ∇φ at the point where s was last brought up to date


@dataclass(frozen=True, slots=True)
class MultiConsensus(Algorithm):
    """Settings of multi-consensus acceleration."""

    mean_smoothness: float
    mean_strong_convexity: float
    gossip: Gossip

    handles_nonconvex = True
    sums = ()
    window = 10  # rounds are many exchanges each: fewer of them must tell whether it converges

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return the settings with enough gossip for the largest curvature that a single cost may have."""
        L = landscape.needs_curved("multi-consensus")
        L_mean, mu_mean = landscape.mean_smoothness, landscape.mean_strong_convexity
        if not (mu_mean > 0 and np.isfinite(L_mean)):
            raise AlgorithmError(
                f"multi-consensus needs an average cost of curvature between two positive numbers, and this one is "
                f"known to lie between {mu_mean:.3g} and {L_mean:.3g}; add a small l2 penalty, or use "
                "'gradient-tracking'."
            )
        wanted = _MARGIN * max(L / L_mean, 1.0) * float(np.sqrt(L_mean / mu_mean))
        return cls(L_mean, mu_mean, Gossip.reaching(landscape.spectrum, wanted))

    def init(self, x: Array, cost: Cost) -> State:
        """Start the tracker at the own gradient."""
        g = _curved(cost, x)
        return State(x=x, y=x, s=g + cost.affine, g=g)

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: 2K exchanges and one gradient."""
        beta = float(np.sqrt(self.mean_strong_convexity / self.mean_smoothness))
        g = _curved(cost, state.y)
        s = self.gossip.average(state.s + g - state.g, peers)
        x = self.gossip.average(state.y - s / self.mean_smoothness, peers)
        y = x + (1.0 - beta) / (1.0 + beta) * (x - state.x)
        return State(x=x, y=y, s=s, g=g)


def _curved(cost: Cost, x: Array) -> Array:
    """Return ∇φ(x): the gradient without the affine part."""
    return cost.with_affine(np.zeros_like(cost.affine)).grad(x)
