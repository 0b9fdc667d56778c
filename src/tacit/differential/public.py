"""What holds for a public who sees the answer, and nothing else: every record, by objective perturbation.

    δ(ε) of x*        `PerturbedObjective`, with σ² = (n − t)τ²: t agents may tell their shares, too
    published         x̂ + N(0, s²I),   |x̂ − x*| ≤ d:   2d/s-GDP beside it (after Iyengar et al., S&P 2019)

x̂ is not x*: a run stops, and shares lie on a lattice, so that x̂ as it is would tell two worlds apart by its last
digits. A little noise on what is published covers both. Agents see more than x̂: nothing of this holds against them.
"""

from __future__ import annotations

import msgspec

from tacit.differential.objective import PerturbedObjective
from tacit.differential.tradeoff import TradeOff
from tacit.showing import Readable

SMOOTHED = 0.01
"""μ of the last digits, of S: what hides them costs next to nothing."""
_REST = 0.05  # of δ: what the last digits may take of it


class PublicGuarantee(msgspec.Struct, Readable, frozen=True, kw_only=True):
    """(ε, δ)-differential privacy of every record, against whoever sees the published answer and nothing else."""

    epsilon: float
    delta: float
    published_epsilon: float | None
    """The ε that the published bound gives (Redberg, Koskela & Wang, 2023); None where it gives none."""
    reach: float
    """S: what one record moves the slope, in deviations of the noise."""
    kappa: float
    """κ: what one record bends, in units of the ridge."""
    ridge: float
    """λ, public, on every unknown."""
    response: str
    any: int
    """How many agents may tell the public their own records and shares, and nothing that they heard."""
    smoothing: float
    """The deviation of the noise on what is published, in units of how far the run may be from the minimiser."""

    def headline(self) -> str:
        """Return the guarantee in one line."""
        return (
            f"What is published is ({self.epsilon:.4g}, {self.delta:g})-differentially private for every record, "
            "against whoever sees it and nothing else; against agents nothing of this holds."
        )

    def statement(self) -> str:
        """Return the guarantee in words, with its conditions."""
        beside = "no ε" if self.published_epsilon is None else f"an ε of {self.published_epsilon:.4g}"
        return (
            f"{self.headline()} It holds where costs are convex and unconstrained, records enter by one score with "
            f"a bounded slope (S = {self.reach:.4g}), a public ridge of {self.ridge:g} is on every unknown "
            f"(κ = {self.kappa:.4g}), no coefficient meets the public bound, and the run comes as near to the "
            f"minimiser as declared. The published bound (Redberg, Koskela & Wang, 2023) gives {beside} here. "
            "Not covered: agents, who see more than the answer; sums of exact gradients, whose differences have no "
            "noise; a second publication of the same run."
        )

    def __str__(self) -> str:
        return self.statement()


def public_guarantee(profile: PerturbedObjective, *, delta: float, ridge: float, any: int) -> PublicGuarantee:
    """Return what *profile* gives at *delta*, with the noise that hides the last digits."""
    last = TradeOff(SMOOTHED * profile.reach)
    beside = profile.published_epsilon((1.0 - _REST) * delta)
    rest = _epsilon_of(last, _REST * delta)
    return PublicGuarantee(
        epsilon=profile.epsilon((1.0 - _REST) * delta) + rest,
        delta=delta,
        published_epsilon=beside + rest if beside < 100.0 else None,
        reach=profile.reach,
        kappa=profile.kappa,
        ridge=ridge,
        response=profile.response,
        any=any,
        smoothing=2.0 / last.mu,
    )


def _epsilon_of(last: TradeOff, delta: float) -> float:
    """Return the ε at which δ(ε) = *delta*, from above."""
    low, high = 0.0, 1.0
    while last.delta(high) > delta:
        high *= 2.0
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if last.delta(middle) <= delta else (middle, high)
    return high
