"""How much of what is hidden a run tells, as data; and the stamps that follow from it.

A run whose sums determine somebody's numbers is NOT PRIVATE for them, and so is one of which nothing rules that
out; one that tells more than half as many combinations as there are hidden numbers gets a caution. So do labels
that are classes, where the told combinations have more bits than the labels: one labelling in 2ᴺ then has the sum,
and whoever can search finds it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tacit.costs.secrets import Noun
from tacit.listing import listed
from tacit.stamps import Stamp, voided

HELD = 16
"""Agents, those with most records, of whom it is kept how many numbers they hold; others hold no more."""
CLOSE = 0.5
"""The share of hidden numbers beyond which a caution is given."""
_REMEDIES: dict[str, str] = {
    "cost": "let more agents take part",
    "unit": "let one agent stand for several units, an area for example, which tells their sum only",
}


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """How much of what is hidden a run tells to the best informed single agent."""

    noun: Literal["label"] | Noun
    """What is hidden, one of it: a label, a record, a cost, a unit's cost curve."""
    hidden: int
    """How many numbers: labels, or all numbers in the records of all other agents."""
    numbers: int
    """Told numbers that depend on them: those expected before a run, those counted after it."""
    rank: int | None = None
    """Independent combinations of hidden numbers among them; None where that was too large to compute."""
    determined: int = 0
    """Hidden numbers that follow exactly."""
    agents: tuple[str, ...] = ()
    """Whose they are."""
    onlooker: str = ""
    """The agent that holds the most itself, and so faces the fewest hidden numbers."""
    a_round: int = 0
    """Told numbers of one round; 0 where they do not add up over rounds."""
    most: int | None = None
    """The most that can be told, however many rounds: as many numbers as the sum of the costs is made of."""
    bits: float | None = None
    """For labels that are classes: how much there is to know of all of them. None where they are real numbers."""
    told_bits: float | None = None
    """And how many bits the told combinations have."""

    coalition: int | None = None
    """The size of a coalition to which somebody's hidden numbers or sums follow; None where none is known."""

    held: tuple[int, ...] = ()
    """Of records behind sums: how many of these numbers other agents hold themselves, the most first, and no more
    than `HELD` of them."""

    counted: bool = True
    """False where costs of which nothing is known take part, so that nobody can say how much is told."""

    @property
    def combinations(self) -> int:
        """How many combinations of hidden numbers are told, at most."""
        return min(self.hidden, self.numbers if self.rank is None else self.rank)

    def hidden_from(self, size: int) -> int:
        """Return how many numbers are hidden from the best informed *size* agents together, at least."""
        others = max(0, size - 1)
        beyond = max(0, others - len(self.held)) * (self.held[-1] if self.held else 0)
        return max(0, self.hidden - sum(self.held[:others]) - beyond)

    @property
    def remedy(self) -> str:
        """What would help."""
        return _REMEDIES.get(self.noun, "take more records or fewer unknowns")

    def sentence(self) -> str:
        """Return the count in words.

        >>> Telling(noun="record", hidden=300, numbers=168, rank=70).sentence()
        'Of 300 hidden numbers 70 combinations are told.'
        """
        if not self.counted:
            return "How much is told was not counted: of some costs the shape is not known."
        most = "at most " if self.rank is None else ""
        return f"Of {self.hidden} hidden numbers {most}{self.combinations} combinations are told."

    def beside(self, numbers: int) -> Telling:
        """Return the same, where so many other numbers about the same records are told as well."""
        if self.most is not None:  # moments, of which all others are made; and that of the labels
            numbers = min(numbers, self.most + 1 - self.numbers)
        rank = None if self.rank is None or self.rank + numbers >= self.hidden else self.rank + numbers
        return msgspec.structs.replace(self, numbers=self.numbers + numbers, rank=rank, most=None)

    def after(self, rounds: int) -> Telling:
        """Return the same, as it is after so many rounds."""
        if not self.a_round:
            return self
        numbers = self.a_round * rounds if self.most is None else min(self.most, self.a_round * rounds)
        return msgspec.structs.replace(self, numbers=max(numbers, self.rank or 0))


def against(tells: Telling | None, size: int) -> list[Stamp]:
    """Return the stamp that a coalition of so many agents adds to what single agents are told."""
    if tells is None or size < 2:
        return []
    if tells.held:
        return _counted(tells, size)
    if tells.coalition is None or not 1 < tells.coalition <= size:
        return []
    sentence = (
        f"what agents of a coalition of {tells.coalition} know together determines {tells.noun}s of another agent, "
        f"or sums that are its own, whatever the masks; {tells.remedy}."
    )
    return [Stamp(reason="answer tells", sentence=sentence)]


def _counted(tells: Telling, size: int) -> list[Stamp]:
    """Return what the count says of so many agents who put together what they hold, if one alone is told less."""
    left, numbers = tells.hidden_from(size), tells.numbers
    if voided(stamps_of(tells)) or numbers <= CLOSE * left:
        return []
    if numbers >= left:
        sentence = (
            f"the run tells up to {numbers} numbers, and hides {left} from {size} agents together: "
            f"nothing rules out that all of them follow, whatever the masks; {tells.remedy}."
        )
        return [Stamp(reason="answer tells", sentence=sentence)]
    sentence = (
        f"of {left} numbers that are hidden from {size} agents together at most {numbers} combinations are told, "
        f"whatever the masks: {tells.remedy} before relying on them."
    )
    return [Stamp(reason="answer tells", sentence=sentence, voids=False)]


def stamps_of(tells: Telling) -> list[Stamp]:
    """Return the stamps that follow from the numbers."""
    if not tells.counted:
        sentence = (
            "how much the run tells was not counted, since of some costs the shape is not known: ask by hand."
        )
        return [Stamp(reason="answer tells", sentence=sentence, voids=False)]
    if tells.determined:
        return [Stamp(reason="answer tells", sentence=_determined(tells), agents=tells.agents)]
    if tells.rank is None and tells.combinations >= tells.hidden:
        sentence = (
            f"the run tells up to {tells.numbers} numbers, and hides {tells.hidden} from agent {tells.onlooker}: "
            f"nothing rules out that all of them follow, whatever the masks; {tells.remedy}."
        )
        return [Stamp(reason="answer tells", sentence=sentence)]
    if tells.combinations > CLOSE * tells.hidden:
        sentence = f"{tells.sentence()[:-1]}, whatever the masks: {tells.remedy} before relying on them."
        return [Stamp(reason="answer tells", sentence=_lower(sentence), voids=False)]
    if tells.bits is not None and tells.told_bits is not None and tells.told_bits > tells.bits:
        sentence = (
            f"the answer tells {tells.combinations} combinations of {tells.hidden} labels to about "
            f"{tells.told_bits / max(tells.combinations, 1):.0f} bits each: whoever can search finds the only "
            f"labels that fit; {tells.remedy}."
        )
        return [Stamp(reason="answer tells", sentence=sentence, voids=False)]
    return []


def _determined(tells: Telling) -> str:
    whose = f"agent(s) {listed(list(tells.agents))}" if tells.agents else "all other agents"
    if tells.noun == "label":
        return (
            f"{tells.determined} label(s) of {whose} follow from the answer and the open features, whatever sigma; "
            f"{tells.remedy}."
        )
    every = "all" if tells.determined >= tells.hidden else f"{tells.determined} of the"
    what = {"unit": "cost curves and demands"}.get(tells.noun, f"{tells.noun}s")
    return (
        f"{every} {tells.hidden} numbers in the {what} of {whose} follow from the sums that "
        f"agent {tells.onlooker} learns, whatever the masks; {tells.remedy}."
    )


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
