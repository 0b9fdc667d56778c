"""The algorithm's side of the links: send and receive vectors, durably.

What is to be sent is written down, and only then put on the wire; an exchange with all neighbours is one record.
Written is not yet safe: what is written survives a crash of the process, and a power cut takes whatever the disk
was not told to keep. What must be safe before it leaves:

    setting up            everything: masks are drawn once, and what is heard is not asked for again
    secret sums           everything: behind one mask there is one word
    rounds of gossip      nothing; a checkpoint makes safe what was sent before it

A round of gossip is a function of the state, of the keystream and of what the neighbours sent, to the last bit. Let
all agents lose, at any moments, what they had not made safe. Agent i goes on from its checkpoint C_i.

    What i hears again: the messages of j from the first that i had not used at C_i. i has acknowledged none of
    them, as it acknowledges at a checkpoint that is safe. So j has those that it sent before C_j, safe since C_j,
    and says the others again.
    What i says again: messages after C_i that are lost, though j may have used them before C_j. By induction over
    what was heard before what, they have the same bits, and j ignores those that it has (`Channel.announced`).

So nothing is lost that nobody can say again, and everybody goes on to the bits of an undisturbed run. That bits are
the same needs the same data, which a digest ensures, and a machine that rounds as before. After a crash without a
power cut nothing is lost, and an agent that would say something else than before refuses to.

A disk takes as long as many rounds, and nobody waits for it: checkpoints are made safe beside the algorithm, one at
a time, and are acknowledged when they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import cast

from tacit.errors import NetworkError, OutdatedError, StoppedError, TacitError
from tacit.masks import Keystream
from tacit.protocol import Channel, Frame, decode, encode
from tacit.protocol.frames import Bytes
from tacit.protocol.payloads import FLOATS
from tacit.protocol.run import MAY_SAY, Word
from tacit.runtimes.linked_peers import Message
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.store import Store
from tacit.runtimes.phases import Recalled
from tacit.runtimes.transcript import Transcript

_EVERY_SECONDS, _EVERY_MESSAGES, _EVERY_BYTES = 0.5, 512, 1 << 24  # how often a checkpoint is taken
_WITNESSES = 2  # neighbours: one may lie
_BEHIND = 4  # times as much may be sent before the algorithm waits for the disk


class DurableLinks:
    """`Links` that write down first, over connections, and the agent's `Memory`."""

    def __init__(
        self,
        names: Sequence[str],
        connections: Connections,
        store: Store,
        source: Keystream,
        *,
        members: Collection[str] = (),
        transcript: Transcript | None = None,
        gossips: bool = False,
        patience: float = float("inf"),
        on_wait: Callable[[str, float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names, self._members = tuple(names), members
        self._connections, self._store, self._source = connections, store, source
        self._channels: list[Channel] = [connections.neighbours[name].channel for name in names]
        self._transcript = transcript or Transcript()
        self._patience, self._on_wait, self._clock = patience, on_wait, clock
        self._pending: dict[str, list[Frame]] = {}  # by neighbour
        self._rows, self._gossips = range(len(names)), gossips
        self._exposed = False  # whether something drawn up must be safe before it leaves
        self._unsaved = self._unsaved_bytes = 0  # messages and bytes written down since the last checkpoint
        self._safe: list[int] = []  # what was used before the checkpoint that is not safe yet
        self._setting_up = True
        self._saved_at = clock()

    # Links -----------------------------------------------------------------------------------------

    def send(self, neighbour: int, message: Message) -> None:
        """Draw up a message; it leaves when this agent next waits."""
        body = encode(message)
        with self._connections.guard:
            frame = self._channels[neighbour].put(body)
        if frame is not None:
            self._keep([(neighbour, frame.number)], body)
            self._pend(neighbour, frame)

    def receive(self, neighbour: int) -> Message:
        """Wait for the neighbour's next message."""
        self.flush()
        self._wait((neighbour,))
        return self._take((neighbour,))[0]

    def exchange(self, messages: list[Message]) -> list[Message]:
        """Send to all and wait for all; one vector to all neighbours is encoded and kept once."""
        self._draw_up(messages)
        self.flush()
        self._wait(self._rows)
        return self._take(self._rows)

    def _draw_up(self, messages: list[Message]) -> None:
        """Write down one message for every neighbour; what is long is in memory until it is sent, and no longer."""
        drawn: Message | None = None
        bodies: list[tuple[list[tuple[int, int]], bytes]] = []
        with self._connections.guard:
            for row, message in enumerate(messages):
                if message is not drawn:
                    drawn = message
                    bodies.append(([], encode(message)))
                to, body = bodies[-1]
                frame = self._channels[row].put(body)
                if frame is not None:
                    to.append((row, frame.number))
                    self._pend(row, frame)
        for to, body in bodies:
            if to:
                self._keep(to, body)

    def _keep(self, to: list[tuple[int, int]], body: bytes) -> None:
        """Write down a message, with all links that it is for."""
        filed = self._store.sent(to, body)
        if filed is not None:
            with self._connections.guard:
                for row, number in to:
                    self._channels[row].shelve(number, filed)
        self._exposed = self._exposed or self._setting_up or not self._gossips or body[:1] != FLOATS
        self._unsaved += 1
        self._unsaved_bytes += len(body)

    def _pend(self, row: int, frame: Frame) -> None:
        self._pending.setdefault(self._names[row], []).append(frame)

    def _take(self, rows: Sequence[int]) -> list[Message]:
        """Return the next message of each of these neighbours, which are here."""
        with self._connections.guard:
            bodies = [cast(Bytes, self._channels[row].take()) for row in rows]  # nobody else takes
        messages = [decode(body, sender=self._names[row]) for row, body in zip(rows, bodies, strict=True)]
        if self._setting_up:
            for row, body in zip(rows, bodies, strict=True):
                self._store.came(row, self._channels[row].used - 1, body)
        return messages

    def _wait(self, rows: Sequence[int]) -> None:
        """Wait for a message on each of these links."""
        channels, began = self._channels, 0.0

        def here() -> bool:
            for row in rows:
                if not channels[row].inbox:
                    return any(channel.alarm for channel in channels) or self._is_outdated
            return True

        while not self._connections.wait(here, min(1.0, self._patience)):
            if self._connections.failure is not None:
                raise NetworkError("the links of this agent have failed.") from self._connections.failure
            began = began or self._clock() - min(1.0, self._patience)
            waited, missing = self._clock() - began, [row for row in rows if not channels[row].inbox]
            if missing and self._on_wait is not None and waited >= 1.0:
                self._on_wait(self._names[missing[0]], waited)
            if missing and waited >= self._patience:
                raise NetworkError(
                    f"{self._names[missing[0]]} has not answered for {waited:.0f} s; the state is kept, and the "
                    "run goes on when both are back."
                )
        if not all(channels[row].inbox for row in rows):
            self._refuse_to_wait()

    @property
    def _is_outdated(self) -> bool:
        """Whether this member's file is lost or old, by word of two neighbours, or of all that it has."""
        return sum(channel.outdated for channel in self._channels) >= min(_WITNESSES, len(self._channels))

    def _refuse_to_wait(self) -> None:
        """Say why what is waited for will not come: who has stopped the run, or who knows this member better."""
        for name, channel in zip(self._names, self._channels, strict=True):
            if channel.alarm is not None:
                member, neighbour = channel.alarm.member, channel.alarm.neighbour
                raise StoppedError(
                    name,
                    channel.alarm.fault,
                    member if member in self._members else name,  # a liar may write anything there
                    neighbour if neighbour in self._members else "",
                )
        if self._is_outdated:
            names = zip(self._names, self._channels, strict=True)
            raise OutdatedError([name for name, channel in names if channel.outdated])

    def flush(self) -> None:
        """Make safe what must be, and send what was drawn up."""
        if self._exposed or self._setting_up:
            self._store.commit()
            self._exposed = False
        saved = bool(self._safe) and self._store.is_idle
        with self._connections.guard:
            for channel in self._channels:
                channel.committed()
            if saved:
                for channel, used in zip(self._channels, self._safe, strict=True):
                    channel.safe = used
        if saved:
            self._safe = []
        if self._pending:
            self._connections.write(self._pending)
            self._pending = {}

    # Memory ----------------------------------------------------------------------------------------

    def recall(self) -> Recalled | None:
        """Return the last checkpoint, and go on from there on every link; the run must allow rounds by now."""
        if Word.ROUND not in MAY_SAY[self._store.record.stage]:
            raise TacitError(f"{self._store.path}: nothing may be published where the run is.")
        self._setting_up = False
        position = self._store.position()
        if position is None:
            return None
        with self._connections.guard:
            for channel, cursor, used in zip(self._channels, position.cursors, position.used, strict=True):
                channel.rewind(cursor=cursor, used=used)
        self._source.seek(position.keystreams)
        self._transcript.restore(position.transcript)
        return self._store.recall()

    def remember(self, recalled: Recalled) -> None:
        """Take a checkpoint now and then, unless the last one is on its way; wait for that if it is far behind."""
        unsaved = max(self._unsaved / _EVERY_MESSAGES, self._unsaved_bytes / _EVERY_BYTES)
        due = unsaved >= 1.0 or self._clock() - self._saved_at >= _EVERY_SECONDS
        if due and (unsaved >= _BEHIND or self._store.is_idle):
            self.checkpoint(recalled)

    def checkpoint(self, recalled: Recalled) -> None:
        """Take a checkpoint."""
        with self._connections.guard:
            cursors, used = [c.cursor for c in self._channels], [c.used for c in self._channels]
            kept = [min(channel.kept_from, channel.cursor) for channel in self._channels]
        self._store.save(
            recalled,
            keystreams=self._source.positions,
            cursors=cursors,
            used=used,
            transcript=self._transcript.state,
            acknowledged=kept,
        )
        self._safe = used  # acknowledged once the checkpoint is safe
        self._unsaved = self._unsaved_bytes = 0
        self._saved_at = self._clock()
