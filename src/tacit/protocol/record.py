"""All that a member must remember of its run, beside its messages and checkpoints: one typed record.

`tacit.protocol.run` says how it changes. It is written whole, with a version and a check: another version is
refused, and so is what a disk has changed.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import NamedTuple

import msgspec

from tacit.errors import DamagedError, FileError
from tacit.protocol.sealing import DAMAGED, seal, unseal

VERSION = 3
"""Of the record and of the checkpoints beside it; another one is refused, unless it is an answer and no more."""
_SAME_ANSWERS = (1, 2)  # erased records of these are as today's, but for the check at their end


class Stage(Enum):
    """How far a run has come."""

    FRESH = "fresh"
    KEYED = "keyed"
    MASKED = "masked"
    COMMITTED = "committed"
    ROUNDS = "rounds"
    ENDED = "ended"
    PARTED = "parted"
    ERASED = "erased"
    SUPERSEDED = "superseded"


class Carried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a member takes into the next epoch. As secret as the record that it comes from."""

    agreement: bytes
    """Of the epoch in which the masks were exchanged."""
    key: bytes
    journal: list[list[bytes]]
    """What its neighbours sent then, by link."""
    cost: bytes
    """The digest of the cost: masks serve one cost, and no other."""
    committed: bool
    """Whether anything may have been published under these masks."""
    x: bytes
    """The own estimate at the last checkpoint; empty without one."""

    @property
    def draw(self) -> str:
        """Names the masks: a one-way digest of their key."""
        return _draw_of(self.key)

    def __repr__(self) -> str:
        return "Carried(…)"


class Mark(NamedTuple):
    """How far one link had come: messages sent, messages used."""

    sent: int
    used: int


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that must be remembered of a run beside its messages and checkpoints. Secret until ERASED."""

    version: int = VERSION
    stage: Stage = Stage.FRESH
    session: str = ""
    agreement: bytes = b""
    """What all members agreed on, in words that only a later epoch reads."""
    neighbours: tuple[str, ...] = ()
    cost: bytes = b""
    """A digest of the cost that tells nothing without it."""
    key: bytes = b""
    """Of this run's own masks."""
    drawn: bool = False
    """Whether those hide the cost; otherwise, once MASKED, the carried ones do."""
    committed: bool = False
    """Whether something may have been published under the masks: a later epoch asks, when this stage is over."""
    carried: Carried | None = None
    marks: tuple[Mark, ...] = ()
    """Where every link ended, in the order of the neighbours."""
    outcome: bytes = b""
    goodbyes: tuple[str, ...] = ()
    """Who needs nothing any more."""
    successor: str = ""
    """The session of the epoch that goes on from here."""

    def __repr__(self) -> str:
        return f"Record({self.stage.name}, …)"

    @property
    def draw(self) -> str:
        """Names this run's own masks: a one-way digest of their key; nothing before there is one."""
        return _draw_of(self.key) if self.key else ""

    @property
    def has_begun(self) -> bool:
        """Whether the run is bound to a session and a cost."""
        return self.stage is not Stage.FRESH

    @property
    def has_ended(self) -> bool:
        """Whether the outcome is known: nothing is computed any more."""
        return self.stage in (Stage.ENDED, Stage.PARTED, Stage.ERASED)

    def encode(self) -> bytes:
        """Return the record as bytes."""
        return seal(msgspec.msgpack.encode(self))

    @classmethod
    def decode(cls, data: bytes) -> Record:
        """Return the record; refuse that of another version, and what was cut short or changed."""
        try:
            written = unseal(data)
            head = _head(written) or _Versioned()
        except DamagedError:
            written, unchecked = data, _head(data)
            if unchecked is None or unchecked.version == VERSION:
                raise
            head = unchecked  # of before there were checks
        is_over = head.stage == Stage.ERASED.value
        if head.version != VERSION and not (is_over and head.version in _SAME_ANSWERS):
            raise FileError(
                f"was written by another version of tacit (record {head.version}, and this one reads {VERSION}): "
                "end the run with the version that began it."
            )
        try:
            return msgspec.msgpack.decode(written, type=cls)
        except msgspec.MsgspecError as error:
            raise DamagedError(DAMAGED) from error


class _Versioned(msgspec.Struct):
    version: int = 0
    stage: str = ""


def _head(data: bytes) -> _Versioned | None:
    """Return how a record begins; version 0 for what is none, and nothing where the bytes end too early or late."""
    try:
        return msgspec.msgpack.decode(data, type=_Versioned)
    except msgspec.ValidationError:
        return _Versioned()
    except msgspec.DecodeError:
        return None


def _draw_of(key: bytes) -> str:
    """Return a name for everything that is drawn under a key: a digest that tells nothing about it."""
    return hashlib.sha256(b"tacit: which masks\0" + key).hexdigest()[:32]
