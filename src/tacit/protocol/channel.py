"""One link's memory: what was sent and may be asked for again, what came and waits to be used.

A *channel* lives as long as the run, over any number of connections. Messages are numbered from 0 each way.

    next_out       the number of the next message that nobody has drawn up yet
    cursor         the number of the next message that the algorithm will send; behind next_out after a restart,
                   while the algorithm draws up again what was already sent
    written        messages before this one are committed, and may go on a link
    announced      messages before this one the peer may have heard; beyond next_out where a power cut has taken
                   what was said last: it is drawn up again, and the peer ignores what it has
    outbox         messages sent and not yet acknowledged: the peer may want them again
    expected       the number of the next message that may arrive
    used           messages handed to the algorithm
    safe           messages used before the last checkpoint: acknowledged, never wanted again

A *dialogue* is what is said on one connection under it, with a state of its own:

    state     frame      then
    NEW       HELLO      judge version, session and name; send again what the peer wants; OPEN
    OPEN      DATA       next in order: keep; seen before: ignore; anything else: violation
    OPEN      PING, BYE  –
    any       other      violation

A violation closes the connection and is counted; the channel is untouched, and the next connection goes on from it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto

import msgspec

from tacit.errors import ProtocolError, TacitError
from tacit.protocol.alarm import Alarm
from tacit.protocol.frames import Bytes, Frame, Kind, Parser, Parting, Shelved, fetched
from tacit.protocol.versions import PROTOCOL, SOFTWARE, SPOKEN, mismatch

# Agents go round by round, so that few messages wait at a time; a peer that makes this agent hold more is at fault.
_AHEAD = 4096  # messages that may wait here
_AHEAD_BYTES = 1 << 26
_KEPT_BYTES = 1 << 28  # of messages that a peer has not acknowledged


class Hello(msgspec.Struct, frozen=True):
    """The first frame each way. Fields that are not known here are of a later tacit, and are ignored."""

    session: str
    """The hash of the manifest: the same at every agent, or nothing is said."""
    parts: dict[str, str]
    """Short hashes of its parts, to name the one that differs."""
    name: str
    to: str
    wanted: int
    """The number of the first message that this side does not have."""
    columns: str = ""
    """A hash of the names of its columns, bound to the session; empty where its data have no names."""
    limits: str = ""
    """A hash of the limits on x in its cost, bound to the session, where they decide the next point of all."""
    protocol: int = PROTOCOL
    """Which it speaks on this link."""
    software: str = SOFTWARE
    """Its version of tacit, for people."""


class _Versions(msgspec.Struct, frozen=True):
    """As much of a greeting as can be read in any protocol."""

    protocol: int = 0
    software: str = ""


class Channel:
    """Messages to and from one neighbour."""

    def __init__(
        self,
        *,
        me: str,
        neighbour: str,
        session: str,
        parts: dict[str, str],
        limit: int,
        columns: str = "",
        limits: str = "",
        protocol: int = PROTOCOL,
        following: str = "",
    ) -> None:
        self.me, self.neighbour, self.session, self.parts, self.limit = me, neighbour, session, parts, limit
        self.columns, self.limits, self.protocol, self.following = columns, limits, protocol, following
        self.speaks = protocol if protocol in SPOKEN else PROTOCOL
        """What this side greets with: the protocol of the run, or what a tacit speaks that cannot take part."""
        self.outbox: deque[tuple[int, Bytes | Shelved]] = deque()
        self.inbox: deque[Bytes | Shelved] = deque()
        self.next_out = self.cursor = self.written = self.expected = self.used = self.safe = 0
        self.announced: float = 0  # infinite until the peer tells
        self.confirmed = 0
        """Messages before this one the peer has acknowledged."""
        self._waiting = self._kept = 0  # bytes in the inbox and in the outbox
        self.finished = False
        """Whether the peer has said BYE: it needs nothing more."""
        self.goodbyes = 0
        """How often it has said so here: every time it wants to hear that this was noted."""
        self.noted = False
        """Whether the peer has written down that this side needs nothing more: it will not wait for this side."""
        self.unfit = False
        """Whether the peer has said that its data do not match, and has not come back since."""
        self.outdated = False
        """Whether the peer knows of more that passed here than this side does: its file is lost, or an old one."""
        self.alarm: Alarm | None = None
        """Why the peer has stopped the run, if it has, and has not come back since."""

    @property
    def needs_nothing(self) -> bool:
        """Whether the peer has said goodbye, or has acknowledged everything there was."""
        return self.finished or (self.next_out > 0 and self.confirmed >= self.next_out)

    @property
    def kept_from(self) -> int:
        """The number of the first message that the peer may want again."""
        return self.outbox[0][0] if self.outbox else self.next_out

    def put(self, body: bytes) -> Frame | None:
        """Take the next message to send; return it as a frame, or None if it was sent before a restart."""
        if len(body) > self.limit:  # which the neighbour would refuse, again and again
            raise ProtocolError(
                f"a message of {len(body)} bytes is due, and {self.limit} are the most in this run."
            )
        number = self.cursor
        self.cursor += 1
        if number < self.next_out:
            if any(k == number and fetched(kept) != body for k, kept in self.outbox):
                raise TacitError(
                    "after a restart this agent would say something else than before: its data or its software "
                    "have changed. The run cannot go on without giving something away; start a new one."
                )
            return None
        if self._kept + len(body) > max(_KEPT_BYTES, 8 * self.limit):
            raise ProtocolError(f"{self.neighbour} acknowledges nothing: no more can be kept for it.")
        self.outbox.append((number, body))
        self._kept += len(body)
        self.next_out += 1
        return Frame(Kind.DATA, number, self.safe, body)

    def shelve(self, number: int, shelved: Shelved) -> None:
        """Keep the last message, which is put, elsewhere than in memory."""
        if self.outbox[-1][0] != number:
            raise TacitError(f"message {number} is not the last one.")
        self.outbox[-1] = number, shelved

    def committed(self) -> None:
        """Note that all messages so far are written down: before that nobody gets them, whoever asks."""
        self.written = self.next_out

    def restore(
        self,
        outbox: Sequence[tuple[int, Bytes | Shelved]],
        journal: Sequence[Bytes | Shelved],
        *,
        cursor: int,
        used: int,
        forgetful: bool = False,
    ) -> None:
        """Begin again after a restart, with what may be asked for and with what came while setting up.

        *cursor* and *used* are those of the last checkpoint, or 0 without one. A *forgetful* agent may have said
        more than it knows of: messages since the checkpoint, which it will draw up again.
        """
        self.announced = math.inf if forgetful else 0
        self.outbox, self.inbox = deque(outbox), deque(journal)
        self._kept, self._waiting = sum(len(body) for _, body in outbox), sum(map(len, journal))
        self.next_out = self.written = max(cursor, outbox[-1][0] + 1 if outbox else 0)
        self.expected, self.safe = max(used, len(journal)), used

    def rewind(self, *, cursor: int, used: int) -> None:
        """Go on from a checkpoint, once the setting-up has been done again."""
        self.cursor, self.used = cursor, used

    def take(self) -> Bytes | None:
        """Return the next message for the algorithm; None if it has not come."""
        if not self.inbox:
            return None
        self.used += 1
        body = self.inbox.popleft()
        self._waiting -= len(body)
        return fetched(body)

    def hello(self) -> Frame:
        """Return the greeting of a new connection."""
        greeting = Hello(
            self.session,
            self.parts,
            self.me,
            self.neighbour,
            self.expected,
            self.columns,
            self.limits,
            self.speaks,
        )
        return Frame(Kind.HELLO, 0, self.safe, msgspec.json.encode(greeting))

    def refuse_unsent(self, number: int) -> None:
        """Refuse the acknowledgement of a message that was never sent."""
        if number > max(self.next_out, self.announced):
            raise ProtocolError(f"{self.neighbour} acknowledged a message that was never sent.")

    def acknowledged(self, number: int) -> None:
        """Forget what the peer will not ask for again."""
        self.refuse_unsent(number)
        self.confirmed = max(self.confirmed, number)
        while self.outbox and self.outbox[0][0] < number:
            self._kept -= len(self.outbox.popleft()[1])

    def wanted(self, number: int) -> list[Frame]:
        """Return the messages from *number* on, to send again."""
        if number < self.kept_from:
            raise ProtocolError(
                f"{self.neighbour} wants message {number}, and has said that it would want none before "
                f"{self.kept_from}: its file of this run is lost, or an older one was put back. It was told so; "
                "this run goes on with the file that it had, or without it."
            )
        if number > max(self.next_out, self.announced):
            raise ProtocolError(
                f"{self.neighbour} wants message {number}, and the file of this member knows of {self.next_out} "
                "that were sent: it is not that of the run, or an older one."
            )
        return [
            Frame(Kind.DATA, k, self.safe, fetched(body)) for k, body in self.outbox if number <= k < self.written
        ]

    def arrived(self, frame: Frame) -> None:
        """Keep the next message; ignore one that was kept before."""
        if frame.number > self.expected:
            raise ProtocolError(f"{self.neighbour} sent message {frame.number} before message {self.expected}.")
        if frame.number < self.expected:
            return
        if len(self.inbox) >= _AHEAD or self._waiting > max(_AHEAD_BYTES, 4 * self.limit):
            raise ProtocolError(f"{self.neighbour} sends faster than the algorithm asks: a flood.")
        self.inbox.append(frame.body)
        self._waiting += len(frame.body)
        self.expected += 1


class Phase(Enum):
    """How far a dialogue has come."""

    NEW = auto()
    OPEN = auto()


class Dialogue:
    """What is said on one connection of a channel. Bytes in, frames out; no socket in sight."""

    def __init__(self, channel: Channel) -> None:
        self.channel, self.phase = channel, Phase.NEW
        self._parser = Parser(channel.limit)
        self.last_words: Frame | None = None
        """What the peer is still to hear where a violation ends the dialogue."""
        self._rules = _TABLE[Phase.NEW]

    @property
    def room(self) -> memoryview | None:
        """Where the rest of a long message belongs that has begun to come."""
        return self._parser.room

    def filled(self, count: int) -> list[Frame]:
        """Take note that so many bytes were put into the room; return the frames to send in answer."""
        return self._heard(self._parser.filled(count))

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes that arrived; return the frames to send in answer."""
        return self._heard(self._parser.feed(data))

    def _heard(self, frames: list[Frame]) -> list[Frame]:
        answers: list[Frame] = []
        for frame in frames:
            rule = self._rules.get(frame.kind)
            if rule is None:
                raise ProtocolError(
                    f"{self.channel.neighbour} sent {frame.kind.name} where the link is {self.phase.name}."
                )
            answers += rule(self, frame)
        return answers

    def _greeted(self, frame: Frame) -> Sequence[Frame]:
        channel = self.channel
        try:
            versions = msgspec.json.decode(frame.body, type=_Versions)
            if versions.protocol != channel.protocol:
                raise ProtocolError(
                    mismatch(channel.neighbour, versions.protocol, versions.software, channel.protocol)
                )
            greeting = msgspec.json.decode(frame.body, type=Hello)
        except (msgspec.MsgspecError, ValueError) as error:  # ValueError: text that is none
            raise ProtocolError("a peer's greeting cannot be read.") from error
        if channel.following and greeting.session == channel.following:
            channel.finished = channel.noted = True  # it has its answer, or would not be there
            raise ProtocolError(f"{channel.neighbour} has gone on to the next run.")
        if greeting.session != channel.session:
            differ = [name for name, value in channel.parts.items() if greeting.parts.get(name) != value]
            raise ProtocolError(
                f"{channel.neighbour} has another agreement, different in: {', '.join(differ)}. Compare the two."
            )
        if (greeting.name, greeting.to) != (channel.neighbour, channel.me):
            raise ProtocolError(f"{channel.neighbour} greets as another member.")
        if greeting.columns and channel.columns and greeting.columns != channel.columns:
            raise ProtocolError(
                f"{channel.neighbour} has other columns than this member, or in another order. Compare the first "
                "lines of the files, or agree on a data dictionary."
            )
        if greeting.limits and channel.limits and greeting.limits != channel.limits:
            raise ProtocolError(
                f"{channel.neighbour} has other limits on x in its cost than this member: the two would come to "
                "different points. Agree on one box."
            )
        known = max(channel.next_out, channel.announced)
        channel.outdated = max(greeting.wanted, frame.acknowledged) > known
        if greeting.wanted < channel.kept_from:
            self.last_words = Frame(Kind.BYE, 0, 0, Parting.LOST.value)
        again = channel.wanted(greeting.wanted)
        channel.refuse_unsent(frame.acknowledged)
        channel.announced = min(channel.announced, greeting.wanted)
        channel.acknowledged(frame.acknowledged)
        self.phase, self._rules = Phase.OPEN, _TABLE[Phase.OPEN]
        channel.unfit, channel.alarm = False, None
        return again

    def _data(self, frame: Frame) -> Sequence[Frame]:
        channel = self.channel
        news = frame.acknowledged > channel.confirmed
        if news:
            channel.refuse_unsent(frame.acknowledged)
        channel.arrived(frame)
        if news:
            channel.acknowledged(frame.acknowledged)
        return ()

    def _ping(self, frame: Frame) -> Sequence[Frame]:
        self.channel.acknowledged(frame.acknowledged)
        return ()

    def _bye(self, frame: Frame) -> Sequence[Frame]:
        alarm = Alarm.decode(bytes(frame.body))
        try:
            why = Parting(frame.body) if alarm is None else Parting.STOPPED
        except ValueError:
            raise ProtocolError(f"{self.channel.neighbour} says goodbye in words that nobody knows.") from None
        self.channel.acknowledged(frame.acknowledged)
        self.channel.outdated = why is Parting.LOST
        self.channel.unfit, self.channel.alarm = why is Parting.UNFIT, alarm or self.channel.alarm
        self.channel.finished = self.channel.finished or why is Parting.DONE
        self.channel.goodbyes += why is Parting.DONE
        self.channel.noted = self.channel.noted or why is Parting.NOTED
        return ()


_TABLE: dict[Phase, dict[Kind, Callable[[Dialogue, Frame], Sequence[Frame]]]] = {
    Phase.NEW: {Kind.HELLO: Dialogue._greeted},
    Phase.OPEN: {Kind.DATA: Dialogue._data, Kind.PING: Dialogue._ping, Kind.BYE: Dialogue._bye},
}
