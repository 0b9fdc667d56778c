"""The sections of a manifest: what it adds to those that it shares with a problem file."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import msgspec

from tacit.differential import AnswerGuarantee, DifferentialPrivacy
from tacit.errors import InputError
from tacit.masks import LEVELS, Mechanism, has_sigma
from tacit.runtimes.peers.seat import PATIENCE, SILENCE
from tacit.runtimes.stopping import StoppingRule
from tacit.solving.sections import AnswerSection, Costs, Privacy, Stopping


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One member."""

    address: str
    """Where it listens: host:port; empty where it only dials out, and nobody can connect to it."""
    certificate: str
    """Its certificate, as `tacit keygen` wrote it."""
    signed: str = ""
    """Where it follows another one: the signature of the key before it, in hexadecimal."""


class Masks(Privacy, frozen=True, forbid_unknown_fields=True):
    """How costs are hidden."""

    any: int = 1
    """How many members may collude: what the run is made for, and what checks and statements are about."""
    hide: float | None = None
    """How large a difference is to be hidden: statements then say how often a guess is right."""
    answer: AnswerSection | msgspec.UnsetType = msgspec.UNSET
    """What is promised of the answer itself; unset it leaves no trace, and sessions are those of before."""

    @classmethod
    def of(cls, masks: Mechanism | None, **more: Any) -> Self:
        """Return the section that stands for *masks*, with what is promised beside them."""
        if masks is not None and masks.answer is not None:
            more = {"answer": AnswerSection.of(masks.answer), "any": masks.answer.any} | more
        return super().of(masks, **more)

    def mechanism(self) -> Mechanism | None:
        """Return the mechanism."""
        if self.any < 0:
            raise InputError(f"[privacy] any = {self.any} must not be negative: how many members may collude.")
        masks = self.masks()
        return masks if self.answer is msgspec.UNSET else self.answer.promised_with(masks)

    @property
    def promise(self) -> DifferentialPrivacy | None:
        """What is promised of the answer; None where it is exact."""
        return None if self.answer is msgspec.UNSET else self.answer.promise()


class Stop(Stopping, frozen=True, forbid_unknown_fields=True):
    """When to stop, and how long to wait."""

    floor: float = 0.0
    patience: float = PATIENCE
    """Seconds to wait for a neighbour before giving up with the state kept."""
    idle: float = SILENCE
    """Seconds of silence after which a link is dialled again."""

    def rule(self) -> StoppingRule:
        """Return the rule; refuse numbers that no run can keep to."""
        for name in ("patience", "idle"):
            if not getattr(self, name) > 0:
                raise InputError(f"[stop] {name} = {getattr(self, name)} must be positive: seconds.")
        if not self.floor >= 0:
            raise InputError(f"[stop] floor = {self.floor} must not be negative.")
        return super().rule()


class Model(Costs, frozen=True, forbid_unknown_fields=True):
    """What the members fit together, where that is a regression: the same columns and penalties for all."""

    shares: int | None = None
    """Among how many members the penalties are split: all, unless given. Whoever leaves takes its share along."""
    records: int | None = None
    """Every member holds at least so many records: what the answer tells is counted with that."""


class Earlier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run that came before, as ledgers know it: what it told can be subtracted from what this one tells."""

    name: str
    """Title, number and the first letters of the session."""
    members: list[str]
    links: list[tuple[str, str]]
    level: str
    sigma: float | None = None
    """None for secret sums."""
    answer: AnswerGuarantee | msgspec.UnsetType = msgspec.UNSET
    """What held of its answer, where that carried noise: nothing is told by subtraction then."""

    def checked(self) -> None:
        """Refuse what no run can have been."""
        strangers = [name for link in self.links for name in link if name not in self.members]
        if strangers:
            raise InputError(f"[[earlier]] {self.name}: a link joins {strangers[0]}, who was no member.")
        gaussian = self.level in LEVELS and has_sigma(self.level)
        if self.level not in LEVELS or gaussian != (self.sigma is not None) or not (self.sigma or 1.0) > 0.0:
            raise InputError(
                f"[[earlier]] {self.name}: level = {self.level!r} and sigma = {self.sigma} do not go together."
            )


class Repeat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often the run is repeated, with masks of its own every time."""

    runs: int = 1
    every: float = 0.0
    """Seconds from the beginning of one run to that of the next."""
    changes: Literal["refuse", "accept"] = "refuse"
    """Whether members' records may change from run to run: the difference of two runs tells what has."""

    def checked(self) -> None:
        """Refuse numbers that no member can keep to."""
        if self.runs < 1:
            raise InputError(f"[repeat] runs = {self.runs} must be at least 1.")
        if not (math.isfinite(self.every) and self.every >= 0.0):
            raise InputError(f"[repeat] every = {self.every} must be seconds.")
        if self.runs > 1 and not self.every:
            raise InputError(f"[repeat] runs = {self.runs}: every must say how many seconds lie between two runs.")


def address_of(member: Member) -> tuple[str, int]:
    """Return host and port."""
    return host_and_port(member.address, "address")


def host_and_port(text: str, field: str) -> tuple[str, int]:
    """Return the two parts of what a *field* says."""
    host, _, port = text.rpartition(":")
    if not host.strip("[]") or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f"{field} = {text!r} must be host:port.")
    return host.strip("[]"), int(port)
