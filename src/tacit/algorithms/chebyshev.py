"""Chebyshev gossip: a polynomial of the mixing matrix with a much better eigengap.

    G = I − W,  eigenvalues in {0} ∪ [γλ, λ]
    P(G) = I − T_K(c₂(I − c₃G)) / T_K(c₂),   c₂ = (1 + γ)/(1 − γ),  c₃ = 2/((1 + γ)λ)

With K = ⌈1/√γ⌉ exchanges the non-zero eigenvalues of P(G) lie within a constant factor of each other.

A warm start is the same polynomial, once. Masks of deviation σ want dual variables of size σ, which grow in a
round only as far as agents disagree: little where a box or a steep cost confines x, and rounds then grow in
proportion to σ. Start at d₀ = −P(G) g₀, with g₀ the own gradient of the effective cost at the public x₀: it adds up
to zero like every later d, and leaves to the rounds what they would have to do without masks.

Scaman, Bach, Bubeck, Lee, Massoulié, ICML 2017, Algorithm 2; Auzinger, lecture notes on iterative solvers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.network import Spectrum
from tacit.typing import Array, Peers

_WARM = 1e9  # by how much a warm start shrinks what pulls agents apart: masks of any size become small


class Gossip(NamedTuple):
    """The polynomial's public parameters."""

    exchanges: int  # K
    gap: float  # γ = smallest non-zero over largest eigenvalue of I − W
    largest: float  # λ, the largest eigenvalue of I − W

    @classmethod
    def of(cls, spectrum: Spectrum) -> Gossip:
        """Return the polynomial for mixing weights of that spectrum."""
        largest, least = 1.0 - spectrum.smallest, 1.0 - spectrum.second
        gap = min(least / largest, 1.0)
        return cls(exchanges=max(1, math.ceil(1.0 / math.sqrt(gap) - 1e-9)), gap=gap, largest=largest)

    @classmethod
    def reaching(cls, spectrum: Spectrum, factor: float) -> Gossip:
        """Return the polynomial of the lowest degree that shrinks disagreement by *factor*: T_K(c₂) ≥ factor."""
        shortest = cls.of(spectrum)
        if shortest.gap >= 1.0:
            return shortest
        c2 = (1.0 + shortest.gap) / (1.0 - shortest.gap)
        return shortest._replace(exchanges=max(2, math.ceil(math.acosh(max(factor, 1.0)) / math.acosh(c2))))

    @classmethod
    def warming(cls, landscape: Landscape) -> Gossip:
        """Return enough gossip to begin with, where duals that start at zero would take long; else none."""
        if not (landscape.is_masked and landscape.is_confined):
            return NO_GOSSIP
        return cls.reaching(landscape.spectrum, _WARM)

    def balance(self, g: Array, peers: Peers) -> Array:
        """Return d with Σ d = 0 and g + d ≈ mean(g), up to 1/T_K of what it was; 0 without exchanges."""
        return self.average(g, peers) - g if self.exchanges else np.zeros_like(g)

    def average(self, x: Array, peers: Peers) -> Array:
        """Return x with its disagreement shrunk by T_K(c₂), and the mean as it was."""
        if self.gap >= 1.0:  # one exchange and the right scale are enough
            return x - (x - peers.mix(x)) / self.largest
        return x - self.apply(x, peers)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest non-zero eigenvalue that P(G) can have: 1 ∓ 1/T_K(c₂)."""
        if self.exchanges == 1 or self.gap >= 1.0:
            return self.gap * self.largest, self.largest
        c2 = (1.0 + self.gap) / (1.0 - self.gap)
        peak = math.cosh(self.exchanges * math.acosh(c2))
        return 1.0 - 1.0 / peak, 1.0 + 1.0 / peak

    def apply(self, x: Array, peers: Peers) -> Array:
        """Return P(G) x after K exchanges: zero where all agents agree."""
        if self.exchanges == 1 or self.gap >= 1.0:
            return x - peers.mix(x)
        c2 = (1.0 + self.gap) / (1.0 - self.gap)
        c3 = 2.0 / ((1.0 + self.gap) * self.largest)

        def contracted(u: Array) -> Array:
            return u - c3 * (u - peers.mix(u))

        a_before, a = 1.0, c2
        before, current = x, c2 * contracted(x)
        for _ in range(self.exchanges - 1):
            a_before, a = a, 2.0 * c2 * a - a_before
            before, current = current, 2.0 * c2 * contracted(current) - before
        return x - current / a


NO_GOSSIP = Gossip(exchanges=0, gap=1.0, largest=1.0)
"""Duals start at zero."""
