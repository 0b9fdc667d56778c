"""The algorithm's side of the links: send and receive vectors, durably.

What is to be sent is written down, committed, and only then put on the wire; nothing is committed until the
algorithm waits for an answer, so an exchange with all neighbours is one record and one commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import cast

from tacit.errors import NetworkError, StoppedError, TacitError
from tacit.masks import Keystream
from tacit.protocol import Channel, decode, encode
from tacit.protocol.run import MAY_SAY, Word
from tacit.runtimes.linked_peers import Message
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.store import Store
from tacit.runtimes.phases import Recalled
from tacit.runtimes.transcript import Transcript

_EVERY_SECONDS, _EVERY_ROUNDS, _EVERY_BYTES = 0.5, 64, 1 << 24  # how often a checkpoint is taken


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
        patience: float = float("inf"),
        on_wait: Callable[[str, float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names, self._members = tuple(names), members
        self._connections, self._store, self._source = connections, store, source
        self._channels: list[Channel] = [connections.neighbours[name].channel for name in names]
        self._transcript = transcript or Transcript()
        self._patience, self._on_wait, self._clock = patience, on_wait, clock
        self._pending: dict[int, bytes] = {}  # frames by row
        self._rows = range(len(names))
        self._unsaved = 0  # bytes written down since the last checkpoint
        self._safe: list[int] = []  # what was used before the checkpoint that is not committed yet …
        self._droppable: list[int] = []  # … and from which number on messages must be kept after it
        self._setting_up = True
        self._saved_at, self._saved_round = clock(), 0

    # Links -----------------------------------------------------------------------------------------

    def send(self, neighbour: int, message: Message) -> None:
        """Draw up a message; it leaves when this agent next waits."""
        body = encode(message)
        with self._connections.guard:
            frame = self._channels[neighbour].put(body)
        if frame is not None:
            self._keep([(neighbour, frame.number)], body)
            self._pend(neighbour, frame.encode())

    def receive(self, neighbour: int) -> Message:
        """Wait for the neighbour's next message."""
        self.flush()
        self._wait((neighbour,))
        return self._take(neighbour)

    def exchange(self, messages: list[Message]) -> list[Message]:
        """Send to all and wait for all; one vector to all neighbours is encoded and kept once."""
        drawn: Message | None = None
        body, to = b"", list[tuple[int, int]]()
        with self._connections.guard:
            for row, message in enumerate(messages):
                if message is not drawn:
                    if to:
                        self._keep(to, body)
                    drawn, body, to = message, encode(message), []
                frame = self._channels[row].put(body)
                if frame is not None:
                    to.append((row, frame.number))
                    self._pend(row, frame.encode())
        if to:
            self._keep(to, body)
        self.flush()
        self._wait(self._rows)
        return [self._take(row) for row in self._rows]

    def _keep(self, to: list[tuple[int, int]], body: bytes) -> None:
        """Write down a message, with all links that it is for."""
        self._store.sent(to, body)
        self._unsaved += len(body)

    def _pend(self, row: int, frame: bytes) -> None:
        self._pending[row] = self._pending[row] + frame if row in self._pending else frame

    def _take(self, row: int) -> Message:
        """Return the next message of a neighbour, which is here."""
        channel = self._channels[row]
        with self._connections.guard:
            body = cast(bytes, channel.take())  # nobody else takes
        message = decode(body, sender=self._names[row])
        if self._setting_up:
            self._store.came(row, channel.used - 1, body)
        return message

    def _wait(self, rows: Sequence[int]) -> None:
        """Wait for a message on each of these links."""
        channels, began = self._channels, 0.0

        def here() -> bool:
            return all(channels[row].inbox for row in rows) or any(channel.alarm for channel in channels)

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

    def _refuse_to_wait(self) -> None:
        """Say who has stopped the run: what is waited for will not come."""
        for name, channel in zip(self._names, self._channels, strict=True):
            if channel.alarm is not None:
                member, neighbour = channel.alarm.member, channel.alarm.neighbour
                raise StoppedError(
                    name,
                    channel.alarm.fault,
                    member if member in self._members else name,  # a liar may write anything there
                    neighbour if neighbour in self._members else "",
                )

    def flush(self) -> None:
        """Commit what was drawn up, then send it."""
        self._store.commit()
        with self._connections.guard:
            for channel in self._channels:
                channel.committed()
            for channel, used in zip(self._channels, self._safe, strict=False):
                channel.safe = used
        if self._safe:  # the checkpoint is safe: what the neighbours do not want again can go
            self._store.acknowledged(self._droppable)
            self._safe = []
        if self._pending:
            self._connections.write({self._names[row]: frames for row, frames in self._pending.items()})
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
        self._saved_round = position.done
        return self._store.recall()

    def remember(self, recalled: Recalled) -> None:
        """Take a checkpoint now and then; it is committed with the next message."""
        now = self._clock()
        recent = now - self._saved_at < _EVERY_SECONDS and recalled.done - self._saved_round < _EVERY_ROUNDS
        if recent and self._unsaved < _EVERY_BYTES:
            return
        self.checkpoint(recalled)

    def checkpoint(self, recalled: Recalled) -> None:
        """Take a checkpoint."""
        with self._connections.guard:
            cursors, used = [c.cursor for c in self._channels], [c.used for c in self._channels]
            self._store.save(
                recalled,
                keystreams=self._source.positions,
                cursors=cursors,
                used=used,
                transcript=self._transcript.state,
            )
            self._droppable = [min(channel.kept_from, channel.cursor) for channel in self._channels]
        self._safe = used  # acknowledged once the checkpoint is committed
        self._unsaved = 0
        self._saved_at, self._saved_round = self._clock(), recalled.done
