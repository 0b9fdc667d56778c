"""Several answers about the same records: squares of μ add up, and a budget says when it is enough.

    μ² = Σ_k μ_k²      of any number of runs, each chosen by what the others gave (Dong, Roth & Su, 2022, Cor. 3.3)

A budget is a value: what was spent is kept by whoever holds it. It counts runs over the same records; a run over
other people's records costs them nothing, but nobody can know that of records that are private.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from tacit.differential.guarantee import AnswerGuarantee
from tacit.differential.promise import DifferentialPrivacy
from tacit.differential.tradeoff import TradeOff
from tacit.errors import InputError, RefusedError

_ROUNDING = 1e-12  # of μ²: a run that spends what is left, to the last digit, is within the budget


@dataclass(frozen=True, slots=True)
class AnswerBudget:
    """How much all answers about the same records may tell, and what they have told: (ε, δ) for all of them."""

    epsilon: float
    delta: float
    spent: tuple[AnswerGuarantee, ...] = ()

    def __post_init__(self) -> None:
        DifferentialPrivacy(epsilon=self.epsilon, delta=self.delta, clip=1.0)  # refuses what is no pair

    @property
    def mu(self) -> float:
        """What all runs together may spend."""
        return TradeOff.of_epsilon_delta(self.epsilon, self.delta).mu

    @property
    def mu_left(self) -> float:
        """What one more run may spend: √(μ² − Σ μ_k²)."""
        return math.sqrt(max(self.mu**2 - composed(self.spent) ** 2, 0.0))

    def refuse(self, promise: DifferentialPrivacy) -> None:
        """Refuse a run that would spend more than is left, before it begins."""
        together = composed(self.spent) ** 2 + promise.mu**2
        if together > self.mu**2 * (1.0 + _ROUNDING):
            raise RefusedError(
                f"this run would take the answers about these records to μ = {math.sqrt(together):.4g}, and "
                f"({self.epsilon:g}, {self.delta:g}) allows {self.mu:.4g}: {len(self.spent)} run(s) have spent "
                f"{composed(self.spent):.4g} of it. Ask for a smaller epsilon, or for no further answer."
            )

    def after(self, guarantee: AnswerGuarantee | None) -> Self:
        """Return the budget after a run; a run without a guarantee leaves none, and is refused."""
        if guarantee is None:
            raise InputError("a run without a promise about its answer tells it exactly: no budget covers that.")
        return replace(self, spent=(*self.spent, guarantee))


def composed(guarantees: Iterable[AnswerGuarantee]) -> float:
    """Return μ of all of them together."""
    return math.sqrt(sum(each.mu**2 for each in guarantees))
