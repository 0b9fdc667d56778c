"""What an approach to privacy is, to whoever compares: it runs a problem, and shows what coalitions saw of the run.

An approach is attacked with the attacks of `tacit.auditing`, so it hands over what those take: a view, and what
everybody knows. Whatever randomness it hides behind is in neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.auditing.trials.runs import Truth
from tacit.runtimes.traffic import Traffic
from tacit.solving import Problem
from tacit.typing import Array


class Pledge(NamedTuple):
    """What is guaranteed against a coalition: in a few words, and in a sentence."""

    short: str
    sentence: str


class Listeners(NamedTuple):
    """Who listens to an approach, by position, and to how many runs of it."""

    coalitions: Sequence[Sequence[int]]
    repeats: int = 1
    seed: int | None = None
    """Of masks and noise; None for fresh ones."""

    def each(self, promise: Pledge) -> list[Pledge]:
        """Return the same promise against every coalition."""
        return [promise] * len(self.coalitions)


class Overhearing(NamedTuple):
    """What one coalition saw of one run, what everybody knows of it, and what was true."""

    view: View
    public: Public
    truth: Truth
    """Known to the simulation alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """One approach on one problem: the answer, what it took, and what coalitions saw."""

    x: Array = field(repr=False)
    """All agents' answers, (n, m)."""
    rounds: int
    traffic: Traffic
    seconds: float
    how: str
    """The algorithm, and what else is to be known of the run, in a few words."""
    overheard: Sequence[Sequence[Overhearing]] = field(repr=False)
    """For every coalition, one or more runs."""
    promises: Sequence[Pledge] = ()
    """For every coalition what is guaranteed; empty where nothing is."""


class Approach(Protocol):
    """One way to keep costs private. Frozen settings."""

    @property
    def name(self) -> str:
        """Return what tables call it."""

    @property
    def source(self) -> str:
        """Return where it comes from: authors and year, or the library."""

    @property
    def assumes(self) -> str:
        """Return who must be trusted, and what the network must be, in a few words."""

    def misses(self, problem: Problem) -> str | None:
        """Return why it does not run here: what is to be installed, or what does not fit; None if it does."""

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Run for the answer, and again with *listeners*."""
