"""Several answers about the same records: squares of μ add up, and a budget says when it is enough.

    μ² = Σ_k μ_k²      of any number of runs, each chosen by what the others gave (Dong, Roth & Su, 2022, Cor. 3.3)

Whatever the masks were: runs of all kinds add up. What changes between two worlds must be the same in all of them:

    a budget for      a run that protects records      a run that protects labels
    records           μ                                ∞: features were in the open
    labels            2μ: one record out, one in       μ

A budget is a value: what was spent is kept by whoever holds it, as a ledger does. It counts runs over the same
records; a run over other people's records costs them nothing, but nobody can know that of records that are private.
So nothing here looks at a record, and what is refused tells nothing of any.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from tacit.differential.guarantee import AnswerGuarantee, Unit
from tacit.differential.promise import DifferentialPrivacy
from tacit.differential.tradeoff import TradeOff
from tacit.errors import InputError, RefusedError
from tacit.showing import Readable

_ROUNDING = 1e-12  # of μ²: a run that spends what is left, to the last digit, is within the budget


@dataclass(frozen=True, slots=True)
class AnswerBudget(Readable):
    """How much all answers about the same records may tell, and what they have told: (ε, δ) for all of them."""

    epsilon: float
    delta: float
    spent: tuple[AnswerGuarantee, ...] = ()
    unit: Unit = "record"
    """What differs between two worlds that all answers together must not tell apart."""

    def __post_init__(self) -> None:
        DifferentialPrivacy(epsilon=self.epsilon, delta=self.delta, clip=1.0)  # refuses what is no pair

    def __str__(self) -> str:
        return (
            f"All answers about the same {self.unit}s together may be ({self.epsilon:g}, {self.delta:g})-"
            f"differentially private: {len(self.spent)} run(s) have spent μ = {self.mu_spent:.4g} of {self.mu:.4g}."
        )

    @property
    def mu(self) -> float:
        """What all runs together may spend."""
        return TradeOff.of_epsilon_delta(self.epsilon, self.delta).mu

    @property
    def mu_spent(self) -> float:
        """What the runs so far have spent."""
        return composed(self.spent, self.unit)

    @property
    def mu_left(self) -> float:
        """What one more run may spend: √(μ² − Σ μ_k²)."""
        return math.sqrt(max(self.mu**2 - self.mu_spent**2, 0.0))

    def refusal(self, mu: float, *, runs: int = 1) -> str | None:
        """Return why so many runs that spend *mu* each would be too many; None where they are not."""
        together = self.mu_spent**2 + runs * mu**2
        if together <= self.mu**2 * (1.0 + _ROUNDING):
            return None
        these = "this run" if runs == 1 else f"these {runs} runs"
        return (
            f"{these} would take the answers about these records to μ = {math.sqrt(together):.4g}, and "
            f"({self.epsilon:g}, {self.delta:g}) allows {self.mu:.4g}: {len(self.spent)} run(s) have spent "
            f"{self.mu_spent:.4g} of it"
        )

    def refuse(self, promise: DifferentialPrivacy) -> None:
        """Refuse a run that would spend more than is left, before it begins."""
        why = self.refusal(promise.mu)
        if why is not None:
            raise RefusedError(f"{why}. Ask for a smaller epsilon, or for no further answer.")

    def after(self, guarantee: AnswerGuarantee | None) -> Self:
        """Return the budget after a run; a run without a guarantee leaves none, and is refused."""
        if guarantee is None:
            raise InputError("a run without a promise about its answer tells it exactly: no budget covers that.")
        return replace(self, spent=(*self.spent, guarantee))


def composed(guarantees: Iterable[AnswerGuarantee], unit: Unit = "record") -> float:
    """Return μ of all of them together, for worlds that differ in one record, or in one label."""
    return math.sqrt(sum(mu_for(unit, each) ** 2 for each in guarantees))


def mu_for(unit: Unit, guarantee: AnswerGuarantee) -> float:
    """Return μ of a run for worlds that differ in one record, or in one label."""
    if guarantee.unit == unit:
        return guarantee.mu
    return 2.0 * guarantee.mu if unit == "label" else math.inf
