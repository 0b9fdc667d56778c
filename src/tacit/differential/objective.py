r"""Objective perturbation: what the minimiser of costs with a noisy slope tells of one record.

    x* = argmin Σ h(x) + bᵀx + λ|x|²/2,   b ~ N(0, σ²I)          whoever sees x*, and nothing else
    records enter as f(aᵀx),  |f'||a| ≤ L,  0 ≤ f''|a|² ≤ β      S = L/σ,  κ = β/λ

*One scalar differs.* Let w = −∇F(x*)/σ, F the costs without the record. Without the record w = b/σ; with it
w − (f'(aᵀx*)/σ)a = b/σ. So what is perpendicular to a is the same function of x* in both worlds and has the same
law; given that, the part v along a is N(0, 1) without the record, and v − s(v) is N(0, 1) with it, s = f'|a|/σ.
Moving v moves aᵀx* by −σ|a|·eᵀ∇²F⁻¹e with e = a/|a| and ∇²F ⪰ λI, so s falls: 0 ≤ −s' ≤ κ, and |s| ≤ S.

*Without against with* (f' of one sign, say s ≥ 0). What counts is [φ(v) − e^ε(1 − s')φ(v − s)]₊. It is positive
only where v < s/2 − ε/s < s, and there φ(v − s) falls in s: it is at most [φ(v) − e^ε φ(v − S)]₊, whose integral is
the Gaussian mechanism's δ_G(ε; S).

*With against without.* Let c = −s' and v₀(s) = ε/s + s/2, where φ(v − s) = e^ε φ(v). The excess
[(1 + c)φ(v − s) − e^ε φ(v)]₊ is convex in c, hence at most what the chord from c = 0 to c = κ says: below v₀ it is
(c/κ)·[(1 + κ)φ(v − s) − e^ε φ(v)]₊, a charge on the levels ds = c·dv that s passes. Above v₀ it is the derivative
of Φ(v − s(v)) − e^ε Φ(v); an excursion above v₀ from level s₁ to s₂ adds δ_G(s₁) − δ_G(s₂), and δ_G' = φ(ε/s − s/2)
is that charge at v = v₀. As s only falls, no level is charged twice:

    δ ≤ U = ∫₀^S (1/κ) max_{v ≤ v₀(s)} [(1 + κ)φ(v − s) − e^ε φ(v)] ds ≥ δ_G(ε; S)

The maximum lies at v₀ where s²(1 + κ/2) ≥ κε, and elsewhere at the only root v > s of (1 + κ)φ(v − s)(v − s) =
e^ε φ(v)v. For logistic costs f'' = f'(1 − f'), so that κ may be 4κ(s/S)(1 − s/S) at level s.
*Two signs.* If 1 + κ ≤ e^ε the excess needs v and s of the same sign, and s falls: only one sign counts, and U
holds, beside 2δ_G for the other direction. Otherwise 2U does.

Beside it the bound of Redberg, Koskela & Wang (NeurIPS 2023): 2δ_G(ε̃; S) for ε̃ = ε + log(1 − κ) ≥ S²/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from tacit.differential.tradeoff import TradeOff
from tacit.errors import InputError
from tacit.typing import Response

_MOST = 100.0  # of ε: beyond it nothing is promised
_LEAST = 1e-9  # of ε
_INTEGRAL = 1e-6  # relative: the integral errs by far less, and δ is rounded up by as much
_NEAR = 1e-12


@dataclass(frozen=True, slots=True)
class PerturbedObjective:
    """What x* tells of one record: S, how far it reaches in deviations of the noise, and κ, how far it bends."""

    reach: float
    kappa: float
    response: Response = "one sign"

    def __post_init__(self) -> None:
        if not (0.0 < self.reach < math.inf and 0.0 <= self.kappa < math.inf):
            raise InputError(
                f"reach = {self.reach} and kappa = {self.kappa}: both are numbers, and there is noise and a ridge."
            )

    def delta(self, epsilon: float) -> float:
        """Return δ(ε), an upper bound.

        >>> profile = PerturbedObjective(reach=0.2367, kappa=0.2, response="logistic")
        >>> f"{profile.delta(1.0):.3g} by this, {profile.published_delta(1.0):.3g} as published"
        '1.05e-06 by this, 9.45e-05 as published'
        """
        from scipy.integrate import quad  # heavy, and only this needs it

        S, gaussian = self.reach, TradeOff(self.reach).delta(epsilon)
        kink = math.sqrt(self.kappa * epsilon / (1.0 + self.kappa / 2.0))
        ends = [0.0, min(kink, 0.5 * S), S]
        parts = (
            quad(self._charge(epsilon), low, high, epsabs=0.0, epsrel=1e-9, limit=400, full_output=1)[0]
            for low, high in pairwise(ends)
        )
        whole = (1.0 + _INTEGRAL) * max(sum(parts), gaussian)
        if self.response == "two signs":
            whole = 2.0 * whole if 1.0 + self.kappa > math.exp(epsilon) else max(2.0 * gaussian, whole)
        return min(whole, 1.0)

    def epsilon(self, delta: float) -> float:
        """Return the smallest ε at which δ(ε) ≤ *delta*; infinite where there is none to speak of."""
        return _smallest(self.delta, delta)

    def published_delta(self, epsilon: float) -> float:
        """Return the published bound on δ(ε); 1 where it says nothing."""
        if self.kappa >= 1.0:
            return 1.0
        left = epsilon + math.log1p(-self.kappa)
        if left >= self.reach**2 / 2.0:
            return min(2.0 * TradeOff(self.reach).delta(left), 1.0)
        below = left - self.reach**2 / 2.0
        return min(
            -math.expm1(below) + math.exp(below) * 2.0 * TradeOff(self.reach).delta(self.reach**2 / 2.0), 1.0
        )

    def published_epsilon(self, delta: float) -> float:
        """Return the ε that the published bound gives."""
        return _smallest(self.published_delta, delta)

    def _charge(self, epsilon: float) -> Callable[[float], float]:
        S, most = self.reach, self.kappa
        if self.response != "logistic":
            return lambda s: charge(s, most, epsilon)
        return lambda s: charge(s, 4.0 * most * (s / S) * (1.0 - s / S), epsilon)


def charge(s: float, kappa: float, epsilon: float) -> float:
    """Return (1/κ) max_{v ≤ v₀} [(1 + κ)φ(v − s) − e^ε φ(v)]: what a response pays for passing level s."""
    if s <= 0.0:
        return 0.0
    if s * s * (1.0 + kappa / 2.0) >= kappa * epsilon:
        return _phi(epsilon / s - s / 2.0)
    from scipy.optimize import brentq

    def ahead(v: float) -> float:
        return math.log1p(kappa) + s * v - s * s / 2.0 - epsilon - math.log(v / (v - s))

    v = brentq(ahead, s * (1.0 + _NEAR), epsilon / s + s / 2.0, rtol=1e-13)
    first = _phi(v - s)
    gain = math.expm1(s * v - s * s / 2.0 - epsilon) if first > 0.0 else 0.0  # φ(v−s) − e^ε φ(v), over e^ε φ(v)
    return float(first * (1.0 + gain / (1.0 + gain) / kappa)) if first > 0.0 else 0.0


def _phi(v: float) -> float:
    return math.exp(-0.5 * v * v) / math.sqrt(2.0 * math.pi)


def _smallest(profile: Callable[[float], float], delta: float) -> float:
    """Return the smallest ε at which a falling profile is at most *delta*."""
    low, high = _LEAST, _MOST
    if profile(high) > delta:
        return math.inf
    if profile(low) <= delta:
        return low
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if profile(middle) <= delta else (middle, high)
    return high
