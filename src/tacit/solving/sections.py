"""The sections that `problem.toml` and `federation.toml` share: the same fields, meaning and messages.

    [privacy]             how costs are hidden         `Privacy`
    [privacy.answer]      what the answer promises     `AnswerSection`
    [stop]                when a run is over           `Stopping`
    [costs], [model]      what is fitted               `Costs`
    [algorithm]           a name and its settings      `tacit.solving.algorithm_section`

Each file derives from them what it alone has to say. The order of the fields is that in which a manifest is hashed,
and the hash names a session: whatever is new goes to the end of a class that derives.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import msgspec

from tacit.differential import DifferentialPrivacy
from tacit.differential.promise import SUMS
from tacit.errors import InputError
from tacit.masks import (
    Level,
    Mechanism,
    Way,
    effective_sigma,
    has_sigma,
    level_of,
    masks_at,
    misfits,
    needs_sigma,
    with_answer,
)
from tacit.runtimes import MAX_ROUNDS, TOLERANCE, StoppingRule
from tacit.tables import Reading


class Privacy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The level of protection and its settings."""

    level: Level
    sigma: float | None = None
    bound: float | None = None
    words: int = 1
    pairing: Way = "both"
    """How the ends of a link come to know its random terms; "seeds" saves messages, and is computational."""

    @classmethod
    def of(cls, masks: Mechanism | None, **more: Any) -> Self:
        """Return the section that stands for *masks*; refuse masks that have no level."""
        if masks is None:
            return cls("none", **more)
        return cls(level_of(masks), masks.sigma, masks.bound, masks.words or 1, masks.pairing, **more)

    def masks(self, *, seed: int | None = None) -> Mechanism | None:
        """Return the mechanism that the section stands for; None at level "none"."""
        if has_sigma(self.level) and self.sigma is None:
            raise InputError(f"[privacy] {needs_sigma(self.level)}")
        return masks_at(
            self.level, sigma=self.sigma, bound=self.bound, words=self.words, seed=seed, pairing=self.pairing
        )

    def misfits(self) -> list[str]:
        """Return which settings mean nothing to the level, a sentence each."""
        return [f"[privacy] {each}" for each in misfits(self.level, sigma=self.sigma, words=self.words)]

    @property
    def effective_sigma(self) -> float:
        """The σ that a guarantee is made with: infinite for secret sums, 0 where nothing is hidden."""
        masks = self.masks()
        return 0.0 if masks is None else effective_sigma(masks)


class AnswerSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is promised of the answer itself: (ε, δ), and the public limits that it is promised under."""

    epsilon: float
    delta: float
    clip: float | None = None
    any: int = 1
    labels: float | None = None
    records: int | None = None
    sums: int = SUMS

    @classmethod
    def of(cls, promise: DifferentialPrivacy) -> Self:
        """Return the section that stands for *promise*."""
        return cls(**dataclasses.asdict(promise))

    def promise(self) -> DifferentialPrivacy:
        """Return the promise; refuse one that cannot be kept."""
        return DifferentialPrivacy(**msgspec.structs.asdict(self))

    def promised_with(self, masks: Mechanism | None) -> Mechanism:
        """Return the masks with shares beside them; refuse to do without masks."""
        if masks is None:
            raise InputError(
                "[privacy.answer] needs masks, which keep shares secret; choose a level other than 'none'."
            )
        return with_answer(masks, self.promise())


class Stopping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When to stop."""

    tolerance: float = TOLERANCE
    max_rounds: int = MAX_ROUNDS

    def rule(self) -> StoppingRule:
        """Return the rule; refuse numbers that no run can keep to."""
        return StoppingRule(tolerance=self.tolerance, max_rounds=self.max_rounds)


class Costs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is fitted, and with which penalties."""

    family: str
    target: str | None = None
    """The label's column; the last one unless named."""
    intercept: bool = False
    l1: float = 0.0
    l2: float = 0.0
    delta: float = 1.35
    """Of Huber costs: where a residual stops counting as a square."""

    @property
    def reading(self) -> Reading:
        """How CSV files are to be read: as they look."""
        return Reading()
