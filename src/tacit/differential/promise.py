"""What is promised of the answer: (ε, δ), for one record or one label, against coalitions of at most t agents.

    δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)          Balle & Wang, ICML 2018, Theorem 8
    μ² = Σ_k μ_k²                                      of K releases: Dong, Roth & Su, 2022, Corollary 3.3

Everything is Gaussian here, so that the currency is μ: a pair (ε, δ) is turned into the largest μ that keeps it,
and μ² is what sums, and runs, spend of it.

These are settings, the same at every agent and open to all. None may be chosen by looking at records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from tacit.differential.tradeoff import TradeOff
from tacit.errors import InputError

_MOST = 100.0  # of ε: beyond it nothing is promised, and exp(ε) is no longer a number that means something
SUMS = 8
"""Sums of gradients that a method of several sums takes, unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class DifferentialPrivacy:
    """A promise about the answer itself: that it hardly depends on any one record.

    *clip* is a public limit on the length of a record's row, its 1 for an intercept included; every agent shortens
    its own longer rows, and nobody learns whether it did. *any* is how many agents may put their views together.
    *labels* is a public limit on the size of a label, for regressions whose labels are numbers. *records* is a
    number of records that is public anyway, if there is one: δ must stay below its inverse. *sums* is how many sums
    of gradients are taken where one sum does not say all.
    """

    epsilon: float
    delta: float
    clip: float | None = None
    any: int = 1
    labels: float | None = None
    records: int | None = None
    sums: int = SUMS

    def __post_init__(self) -> None:
        wrong = [*self._wrong()]
        if wrong:
            raise InputError(" ".join(wrong))

    def _wrong(self) -> list[str]:
        sentences = []
        if not (_is_number(self.epsilon) and 0.0 < self.epsilon <= _MOST):
            sentences.append(f"epsilon = {self.epsilon} must be positive, and at most {_MOST:g}: a small number.")
        if not (_is_number(self.delta) and 0.0 < self.delta < 1.0):
            sentences.append(f"delta = {self.delta} must lie between 0 and 1, far below one over all records.")
        elif self.records is not None and self.delta * self.records >= 1.0:
            sentences.append(
                f"delta = {self.delta:g} is not below 1/{self.records}, one over the public number of records: it "
                "would allow some record to be published as it is."
            )
        if self.clip is None:
            sentences.append(
                "clip is missing: without a public limit on the length of a row, one record can move the answer "
                "anywhere, and no noise hides it."
            )
        elif not (_is_number(self.clip) and self.clip > 0.0):
            sentences.append(f"clip = {self.clip} must be a positive number: the length of the longest row.")
        if not (isinstance(self.any, int) and not isinstance(self.any, bool) and self.any >= 0):
            sentences.append(f"any = {self.any} must be a whole number: how many agents may collude.")
        if self.labels is not None and not (_is_number(self.labels) and self.labels > 0.0):
            sentences.append(f"labels = {self.labels} must be a positive number: the size of the largest label.")
        if self.records is not None and not (isinstance(self.records, int) and self.records > 0):
            sentences.append(f"records = {self.records} must be a whole number of records that is public.")
        if not (isinstance(self.sums, int) and not isinstance(self.sums, bool) and self.sums >= 1):
            sentences.append(f"sums = {self.sums} must be a whole number of at least 1.")
        return sentences

    @property
    def mu(self) -> float:
        """The largest μ that is (ε, δ)-differentially private.

        >>> round(DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0).mu, 4)
        0.2367
        """
        return TradeOff.of_epsilon_delta(self.epsilon, self.delta).mu

    def refuse_few(self, agents: int) -> None:
        """Refuse coalitions that leave fewer than two honest agents."""
        if self.any >= agents - 1:
            raise InputError(
                f"any = {self.any} of {agents} agents leaves {max(agents - self.any, 0)}: noise is shared by at "
                f"least two honest agents; guard against {agents - 2} at most."
            )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
