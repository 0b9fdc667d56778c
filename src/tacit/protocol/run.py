"""One member's run as a table: what follows from what, what is written down first, and what may be said then.

    FRESH ─Begin→ KEYED ─Draw, Reuse→ MASKED ─Commit→ COMMITTED ─Publish→ ROUNDS ─End→ ENDED ─Goodbyes→ PARTED
                                                                                                          │ Erase
    KEYED … ROUNDS ─Supersede→ SUPERSEDED ─Forget→ SUPERSEDED                                           ERASED

A stage is entered when its record is on disk, and only then may its words be said. After a crash the record says
where the run was; everything up to there is done again from what was written, and an event that comes again changes
nothing.

    stage        on disk, before anything else is said                        what may be said from here on
    FRESH        nothing, or a key that nobody has used                       nothing
    KEYED        the session, the agreement, a digest of the cost, the key;   greetings, waiting for each other
                 in a later epoch what was carried into it
    MASKED       whose masks hide the cost: of this key, or carried ones      masks
    COMMITTED    that everybody has all masks                                 nothing more: the ledger is entered
    ROUNDS       that something may have been published                       rounds of the algorithm
    ENDED        the outcome, and how far every link had come                 goodbyes; once more what is asked for
    PARTED       who needs nothing any more: everybody                        goodbyes
    ERASED       the outcome, without any secret                              goodbyes
    SUPERSEDED   by which session; the secrets until that one has them        nothing, ever again

So masks serve one cost and one draw: the digest and the choice made in MASKED cannot change. Whoever may have
published (COMMITTED and later) takes its masks along into a next epoch, and one that has gone on cannot go back.
Whoever has ended has its answer, and is left out of the next epoch: the others cannot count on it, since it erases
its secrets as soon as its neighbours need nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import msgspec

from tacit.errors import TacitError
from tacit.protocol.record import Carried, Mark, Record, Stage


class Word(Enum):
    """What a member says, by what must be on disk before it."""

    GREETING = "greeting"
    BARRIER = "barrier"
    MASK = "mask"
    ROUND = "round"
    GOODBYE = "goodbye"
    ALARM = "alarm"


_SETTING_UP = frozenset({Word.GREETING, Word.BARRIER, Word.ALARM})
_MASKING = _SETTING_UP | {Word.MASK}
_ROUNDS = _MASKING | {Word.ROUND}
MAY_SAY: dict[Stage, frozenset[Word]] = {
    Stage.FRESH: frozenset(),
    Stage.KEYED: _SETTING_UP,
    Stage.MASKED: _MASKING,
    Stage.COMMITTED: _MASKING,
    Stage.ROUNDS: _ROUNDS,
    Stage.ENDED: _ROUNDS | {Word.GOODBYE},
    Stage.PARTED: frozenset({Word.GREETING, Word.GOODBYE}),
    Stage.ERASED: frozenset({Word.GREETING, Word.GOODBYE}),
    Stage.SUPERSEDED: frozenset(),
}


# events ---------------------------------------------------------------------------------------------------------


class Begin(NamedTuple):
    """The member takes part, for the first time or again after a stop."""

    session: str
    cost: bytes
    agreement: bytes = b""
    neighbours: tuple[str, ...] = ()
    key: bytes = b""
    """A fresh one; a key that is there already is kept."""
    carried: Carried | None = None


class Draw(NamedTuple):
    """Masks of this run's own key are about to be sent."""

    once: bool = False
    """Whether every mask serves one sum, so that other masks are no second view of the cost."""


class Reuse(NamedTuple):
    """The carried masks are taken up again: somebody has published under them."""


class Commit(NamedTuple):
    """Everybody has all masks."""


class Publish(NamedTuple):
    """The ledger is entered, and the first round may leave."""


class End(NamedTuple):
    """All have stopped in the same round."""

    marks: Sequence[Mark]
    outcome: bytes


class Goodbyes(NamedTuple):
    """These neighbours need nothing any more."""

    names: Iterable[str]


class Erase(NamedTuple):
    """The outcome is kept, and every secret goes."""


class Supersede(NamedTuple):
    """A later epoch takes over what is here."""

    by: str
    """Its session."""
    previous: str
    """The session that it says it goes on from."""
    cost: bytes


class Forget(NamedTuple):
    """The later epoch has what it needs."""


Event = Begin | Draw | Reuse | Commit | Publish | End | Goodbyes | Erase | Supersede | Forget


def step(record: Record, event: Event) -> Record:
    """Return the record after an event; the same one where it has happened before."""
    rule = TABLE[type(event)].get(record.stage)
    if rule is None:
        raise TacitError(f"a run that is {record.stage.value} has no {type(event).__name__.lower()} to come.")
    return rule(record, event)


def carry(record: Record, *, by: str, previous: str, journal: list[list[bytes]], x: bytes) -> Carried:
    """Return what the epoch *by* takes over from this record: the masks that hide the cost, wherever drawn.

    *journal* is what the neighbours sent here while setting up, and *x* the own estimate.
    """
    if record.has_ended:
        raise TacitError(_ANSWERED)
    _refuse_stranger(record, by, previous)
    if record.carried is not None and not record.drawn:  # this epoch went on with the masks of an earlier one
        committed = record.carried.committed or record.committed
        return msgspec.structs.replace(record.carried, committed=committed, x=x or record.carried.x)
    return Carried(record.agreement, record.key, journal, record.cost, record.committed, x)


# rules ----------------------------------------------------------------------------------------------------------


def _bound(record: Record, event: Begin) -> Record:
    if event.carried is not None and event.carried.cost != event.cost:
        raise TacitError(_OTHER_DATA)
    return _replace(
        record,
        stage=Stage.KEYED,
        session=event.session,
        agreement=event.agreement,
        neighbours=event.neighbours,
        cost=event.cost,
        key=record.key or event.key,
        carried=event.carried,
    )


def _begun_before(record: Record, event: Begin) -> Record:
    if record.session != event.session:
        raise TacitError("belongs to another agreement.")
    if record.cost != event.cost:
        raise TacitError(_OTHER_DATA)
    return record


def _no_way_back(record: Record, event: Begin) -> Record:
    raise TacitError("this member has gone on in a later epoch, and cannot go back.")


def _drawn(record: Record, event: Draw) -> Record:
    if record.carried is not None and record.carried.committed and not event.once:
        raise TacitError(_SECOND_VIEW)
    return _replace(record, stage=Stage.MASKED, drawn=True)


def _drawn_before(record: Record, event: Draw) -> Record:
    if not record.drawn:
        raise TacitError(_SECOND_VIEW)
    return record


def _reused(record: Record, event: Reuse) -> Record:
    if record.carried is None:
        raise TacitError("has no masks of an earlier epoch.")
    return _replace(record, stage=Stage.MASKED)


def _reused_before(record: Record, event: Reuse) -> Record:
    if record.drawn:
        raise TacitError("has drawn masks of its own: those of an earlier epoch do not serve any more.")
    return record


def _committed(record: Record, event: Commit) -> Record:
    return _replace(record, stage=Stage.COMMITTED, committed=True)


def _published(record: Record, event: Publish) -> Record:
    return _replace(record, stage=Stage.ROUNDS)


def _same(record: Record, event: Event) -> Record:
    return record


def _ended(record: Record, event: End) -> Record:
    if len(event.marks) != len(record.neighbours):
        raise TacitError(f"has {len(record.neighbours)} link(s), and {len(event.marks)} came to an end.")
    return _replace(record, stage=Stage.ENDED, marks=tuple(event.marks), outcome=event.outcome)


def _parted(record: Record, event: Goodbyes) -> Record:
    gone = {*record.goodbyes, *event.names}
    strangers = gone.difference(record.neighbours)
    if strangers:
        raise TacitError(f"{min(strangers)} says goodbye, and is no neighbour.")
    names = tuple(name for name in record.neighbours if name in gone)
    return _replace(record, goodbyes=names, stage=Stage.PARTED if names == record.neighbours else Stage.ENDED)


def _erased(record: Record, event: Erase) -> Record:
    return Record(
        stage=Stage.ERASED,
        session=record.session,
        agreement=record.agreement,
        neighbours=record.neighbours,
        marks=record.marks,
        outcome=record.outcome,
        goodbyes=record.goodbyes,
    )


def _superseded(record: Record, event: Supersede) -> Record:
    _refuse_stranger(record, event.by, event.previous)
    if record.cost != event.cost:
        raise TacitError(_OTHER_DATA)
    return _replace(record, stage=Stage.SUPERSEDED, successor=event.by)


def _answered(record: Record, event: Supersede) -> Record:
    raise TacitError(_ANSWERED)


def _forgotten(record: Record, event: Forget) -> Record:
    return Record(stage=Stage.SUPERSEDED, session=record.session, successor=record.successor)


def _refuse_stranger(record: Record, by: str, previous: str) -> None:
    if record.successor not in ("", by):
        raise TacitError(f"this member has gone on under another agreement, session {record.successor[:16]}.")
    if not record.key or not record.cost or record.session != previous:
        raise TacitError("does not belong to the epoch before this one.")


_SECOND_VIEW = "has published under masks of an earlier epoch: others would be a second view of the same cost."
_ANSWERED = (
    "this member came to the end of the epoch before, and has its answer: start it once more with the manifest of "
    "that epoch to see it. The others go on without it too, by a next epoch that leaves it out."
)
_OTHER_DATA = "was begun with other data; a run must end with those it began with."
Rule = Callable[[Record, Any], Record]
_replace = msgspec.structs.replace
_AFTER_MASKS = (Stage.MASKED, Stage.COMMITTED, Stage.ROUNDS)
_RUNNING = (Stage.KEYED, *_AFTER_MASKS)
_ENDING = (Stage.ENDED, Stage.PARTED)
_LIVING = (*_RUNNING, *_ENDING)

TABLE: dict[type[Event], dict[Stage, Rule]] = {
    Begin: {Stage.FRESH: _bound, **dict.fromkeys(_LIVING, _begun_before), Stage.SUPERSEDED: _no_way_back},
    Draw: {Stage.KEYED: _drawn, **dict.fromkeys(_AFTER_MASKS, _drawn_before)},
    Reuse: {Stage.KEYED: _reused, **dict.fromkeys(_AFTER_MASKS, _reused_before)},
    Commit: {Stage.MASKED: _committed, Stage.COMMITTED: _same, Stage.ROUNDS: _same},
    Publish: {Stage.COMMITTED: _published, Stage.ROUNDS: _same},
    End: {Stage.ROUNDS: _ended},
    Goodbyes: {Stage.ENDED: _parted, Stage.PARTED: _same},
    Erase: {Stage.PARTED: _erased, Stage.ERASED: _same},
    Supersede: {**dict.fromkeys((*_RUNNING, Stage.SUPERSEDED), _superseded), **dict.fromkeys(_ENDING, _answered)},
    Forget: {Stage.SUPERSEDED: _forgotten},
}
"""Which rule answers an event at a stage; where there is none, the event cannot happen."""
