"""What a run is to one of its members, beside the job: who it is, who the others are, how it greets them.

A seat is made from whatever the members have agreed on: by `tacit.federation` from a manifest, by
`tacit.runtimes.peers.local` for processes on one machine. The runtime reads nothing else of the agreement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tacit.errors import InputError
from tacit.network import Network
from tacit.protocol.meeting import Meeting, Side, token_of
from tacit.protocol.versions import PROTOCOL
from tacit.runtimes.job import Job
from tacit.spelling import did_you_mean


class Endpoint(NamedTuple):
    """Where a member listens, and how it is known."""

    host: str
    """Empty where it only dials out: nobody can connect to it."""
    port: int
    certificate: str
    """As PEM."""

    @property
    def is_reachable(self) -> bool:
        """Whether others can dial it."""
        return bool(self.host)


class Origin(NamedTuple):
    """An earlier epoch of the same run, as far as its masks need it."""

    job: Job
    members: tuple[str, ...]
    """In the order of the job's agents."""
    epoch: int

    def neighbours(self, me: str) -> list[str]:
        """Return the names of those whom a member was linked to."""
        return neighbours_of(self.job.network, self.members, me)


PATIENCE = 86_400.0
"""Seconds to wait for a neighbour, unless members agree on others."""
SILENCE = 15.0
"""Seconds without a word after which a link is dialled again, unless members agree on others."""


class Lineage(Protocol):
    """The epochs before this one, read from the agreements that state files have kept."""

    def before(self, agreement: bytes) -> Origin:
        """Return the epoch just before this one; refuse it where this one does not follow from it."""

    def origin(self, agreement: bytes) -> Origin:
        """Return the epoch in which masks were exchanged, which may be an earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One member's place in a run. It holds no key and no cost: nothing in it is secret."""

    me: str
    members: Mapping[str, Endpoint]
    """All of them, in the order of the job's agents."""
    session: str
    """The hash that names the run: the same at every member, or nothing is said."""
    parts: Mapping[str, str]
    """Short hashes of the agreement's parts, to name the one that differs."""
    patience: float = PATIENCE
    """Seconds to wait for a neighbour before giving up with the state kept."""
    silence: float = SILENCE
    """Seconds without a word after which a link is dialled again."""
    agreement: bytes = b""
    """All that was agreed on, as the state file keeps it for a later epoch."""
    epoch: int = 0
    """How often members or links have been left out of this run."""
    previous: str = ""
    """The session of the epoch before this one."""
    lineage: Lineage | None = None
    """Reads the agreements of earlier epochs; a first epoch needs none."""
    protocol: int = PROTOCOL
    """What the run is pinned to."""
    relay: tuple[str, int] | None = None
    """Where neighbours meet who both only dial out."""
    meets_as: str = ""
    """What names the links there; the session, unless given."""
    following: str = ""
    """The session of the next run, where there is one: who greets with it needs nothing more of this one."""

    def __post_init__(self) -> None:
        if self.me not in self.members:
            meant = did_you_mean(self.me, self.members)
            raise InputError(f"{self.me!r} is no member; there are {', '.join(self.members)}.{meant}")

    @property
    def index(self) -> int:
        """The number of this member among the job's agents."""
        return list(self.members).index(self.me)

    @property
    def place(self) -> Endpoint:
        """Where this member itself listens, and how it is known."""
        return self.members[self.me]

    @property
    def listens(self) -> tuple[str, int] | None:
        """Where this member listens; nowhere, if it only dials out."""
        return self.place[:2] if self.place.is_reachable else None

    def dials(self, name: str) -> bool:
        """Tell whether this member dials a neighbour: the later in the manifest does, unless only one can.

        Where neither can be dialled, both dial the relay.
        """
        here, there = self.place.is_reachable, self.members[name].is_reachable
        if here != there:
            return there
        return not here or list(self.members).index(name) < self.index

    def meeting(self, name: str) -> Meeting | None:
        """Return how a neighbour is met at the relay; None where one of the two can be dialled."""
        if self.place.is_reachable or self.members[name].is_reachable:
            return None
        first = self.index < list(self.members).index(name)
        return Meeting(token_of(self.meets_as or self.session, self.me, name), Side.FIRST if first else Side.SECOND)

    @property
    def stem(self) -> str:
        """What the names of this member's files of this run begin with."""
        return f"{self.me}-{self.session[:12]}"

    @property
    def former_stem(self) -> str:
        """What the names of its files of the epoch before began with."""
        return f"{self.me}-{self.previous[:12]}"

    def neighbours(self, network: Network) -> list[str]:
        """Return the names of those whom this member is linked to, in the order of the agents."""
        return neighbours_of(network, tuple(self.members), self.me)


def neighbours_of(network: Network, members: tuple[str, ...], me: str) -> list[str]:
    """Return the names of a member's neighbours; *members* are in the order of the agents."""
    return [members[j] for j in network.neighbours(members.index(me))]
