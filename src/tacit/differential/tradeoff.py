"""Telling two worlds apart: what an observer of one Gaussian can achieve.

The views of two cost profiles at divergence D_KL are as hard to tell apart as N(0, 1) and N(μ, 1) with
μ = √(2 D_KL): the observer is exactly μ-GDP for that pair (Dong, Roth, Su, J. R. Stat. Soc. B 84(1), 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.later import later

if TYPE_CHECKING:
    from scipy import special
else:
    special = later("scipy.special")

from tacit.showing import Readable


@dataclass(frozen=True, slots=True)
class TradeOff(Readable):
    """The best test between N(0, 1) and N(μ, 1)."""

    mu: float

    def __str__(self) -> str:
        return (
            f"The best guess between two worlds is right {100 * self.guess:.4g} % of the time (μ = {self.mu:.4g})."
        )

    @classmethod
    def at(cls, divergence: float) -> TradeOff:
        """Return the trade-off at a Kullback–Leibler divergence."""
        return cls(math.sqrt(2.0 * divergence))

    @classmethod
    def of_guess(cls, guess: float) -> TradeOff:
        """Return the trade-off at which the best guess is right with probability *guess*."""
        return cls(2.0 * float(special.ndtri(guess)))

    @classmethod
    def of_epsilon_delta(cls, epsilon: float, delta: float) -> TradeOff:
        """Return the weakest trade-off that is (ε, δ)-indistinguishable."""
        from scipy.optimize import brentq  # heavy, and only this target needs it

        high = 1.0
        while cls(high).delta(epsilon) < delta:
            high *= 2.0
        return cls(float(brentq(lambda mu: cls(mu).delta(epsilon) - delta, 0.0, high, xtol=1e-14, rtol=1e-14)))

    def epsilon(self, delta: float) -> float:
        """Return the smallest ε at which δ(ε) is *delta*: 0 where it is less without any."""
        from scipy.optimize import brentq

        if self.delta(0.0) <= delta:
            return 0.0
        if math.isinf(self.mu):
            return math.inf
        high = 1.0
        while self.delta(high) > delta:
            high *= 2.0
        return float(brentq(lambda epsilon: self.delta(epsilon) - delta, 0.0, high, xtol=1e-12))

    def false_negatives(self, false_positives: float) -> float:
        """Return the least share of missed changes at a share of false alarms: Φ(Φ⁻¹(1 − β) − μ)."""
        return float(special.ndtr(special.ndtri(1.0 - false_positives) - self.mu))

    @property
    def auc(self) -> float:
        """Area under the ROC curve: Φ(μ/√2)."""
        return float(special.ndtr(self.mu / math.sqrt(2.0)))

    @property
    def total_variation(self) -> float:
        """Total variation distance: 2Φ(μ/2) − 1."""
        return float(2.0 * special.ndtr(self.mu / 2.0) - 1.0)

    @property
    def guess(self) -> float:
        """How often the best guess between two equally likely worlds is right: Φ(μ/2)."""
        return float(special.ndtr(self.mu / 2.0))

    @property
    def bayes_error(self) -> float:
        """How often that guess is wrong: Φ(−μ/2)."""
        return float(special.ndtr(-self.mu / 2.0))

    def renyi(self, order: float) -> float:
        """Rényi divergence of that order: order·D_KL (so the pair is ρ-zCDP with ρ = D_KL)."""
        return order * self.mu**2 / 2.0

    def delta(self, epsilon: float) -> float:
        """δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), Balle & Wang, ICML 2018, Theorem 8."""
        if self.mu == 0.0:
            return 0.0
        if math.isinf(self.mu):
            return 1.0
        first = float(special.log_ndtr(-epsilon / self.mu + self.mu / 2.0))
        second = epsilon + float(special.log_ndtr(-epsilon / self.mu - self.mu / 2.0))
        return max(-math.exp(first) * math.expm1(min(second - first, 0.0)), 0.0)
