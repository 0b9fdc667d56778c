"""Stamps: why a run, or somebody in it, is not private, as data.

    NOT PRIVATE   somebody's secret can be had, for the reason named; whoever reads the run must see it
    NOT PROVEN    nobody knows: a bound on the worst coalition was asked for, and it says nothing
    caution       it could be had by whoever knows a little more, or does the same once more

A stamp is made where the reason is known (the masks, the network, what the answer tells) and travels unchanged
through the record into certificates, their JSON, their statements and every printed summary. Code decides by
`reason`, `agents` and `voids`; the sentence is for people.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

Reason = Literal[
    "no masks",  # nothing was hidden, as asked
    "seed",  # masks that can be drawn again by whoever knows the seed
    "no theorem",  # masks of somebody's own, which are neither Gaussian nor uniform
    "nothing hidden",  # these masks hide nothing of this family of costs
    "one neighbour",  # who knows all masks of an agent
    "two agents",  # each knows the other's part from the sum
    "coalition",  # so many agents as were asked about learn something exactly
    "not proven",  # whether they do is not known: a bound on the worst of them reaches down to zero
    "cut",  # one member of the network separates others, and learns their sums
    "answer tells",  # what a run tells determines a secret, whatever the masks
    "own column",  # a column that is non-zero at one party: its sums are that party's own
    "history",  # an earlier run and this one together tell what changed
    "rounding",  # low-order bits that were not on the lattice
    "made-up parties",  # rows dealt out to parties that do not exist
]


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """One reason, whom it concerns, and the sentence that says so."""

    reason: Reason
    sentence: str
    """Fact, public value and remedy, without the words NOT PRIVATE in front."""
    agents: tuple[str, ...] = ()
    """Those concerned, by name; empty where it concerns everybody."""
    voids: bool = True
    """Whether nobody may rely on the run as private; False for a caution."""

    def __str__(self) -> str:
        return f"{self.word}: {self.sentence}"

    @property
    def word(self) -> str:
        """NOT PRIVATE, NOT PROVEN, or Caution."""
        if not self.voids:
            return "Caution"
        return "NOT PROVEN" if self.reason == "not proven" else "NOT PRIVATE"


OF_THE_NETWORK: frozenset[Reason] = frozenset({"one neighbour", "two agents", "cut", "coalition", "not proven"})
"""Reasons that a certificate finds for itself, against every coalition."""


def beyond_the_network(stamps: Iterable[Stamp]) -> tuple[Stamp, ...]:
    """Return the stamps that hold against every coalition alike."""
    return tuple(stamp for stamp in stamps if stamp.reason not in OF_THE_NETWORK)


def voided(stamps: Iterable[Stamp]) -> bool:
    """Tell whether any of *stamps* makes a run NOT PRIVATE."""
    return any(stamp.voids for stamp in stamps)
