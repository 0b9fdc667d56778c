"""The algorithm's side of the links: send and receive vectors, durably.

What is to be sent is written down, committed, and only then put on the wire; nothing is committed until the
algorithm waits for an answer, so an exchange with all neighbours is one commit and one wake-up of the event loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import cast

from tacit.errors import NetworkError
from tacit.masks import Keystream
from tacit.protocol import Channel, decode, encode
from tacit.runtimes.agent import Recalled
from tacit.runtimes.neighbours import Message
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.store import Store

_EVERY_SECONDS, _EVERY_ROUNDS, _EVERY_BYTES = 0.5, 64, 1 << 24  # how often a checkpoint is taken


class PeerLinks:
    """`Links` over connections, and the agent's `Memory`."""

    def __init__(
        self,
        names: Sequence[str],
        connections: Connections,
        store: Store,
        source: Keystream,
        *,
        patience: float = float("inf"),
        on_wait: Callable[[str, float], None] | None = None,
    ) -> None:
        self._names = tuple(names)
        self._connections, self._store, self._source = connections, store, source
        self._channels: list[Channel] = [connections.neighbours[name].channel for name in names]
        self._patience, self._on_wait = patience, on_wait
        self._pending: list[tuple[str, bytes]] = []
        self._drawn: tuple[Message, bytes] | None = None
        self._sharing: list[tuple[int, int]] = []
        self._unsaved = 0  # bytes written down since the last checkpoint
        self._safe: list[int] = []
        self._setting_up = True
        self._saved_at, self._saved_round = time.monotonic(), 0

    # Links -----------------------------------------------------------------------------------------

    def send(self, neighbour: int, message: Message) -> None:
        """Draw up a message; it leaves when this agent next waits."""
        if self._drawn is None or self._drawn[0] is not message:  # one vector to all neighbours is kept once
            self._keep()
            self._drawn = message, encode(message)
        body = self._drawn[1]
        with self._connections.guard:
            frame = self._channels[neighbour].put(body)
        if frame is not None:
            self._sharing.append((neighbour, frame.number))
            self._pending.append((self._names[neighbour], frame.encode()))

    def _keep(self) -> None:
        """Write down the message that was drawn up last, with all links that it is for."""
        if self._sharing and self._drawn is not None:
            self._store.sent(self._sharing, self._drawn[1])
            self._unsaved += len(self._drawn[1])
            self._sharing = []
        self._drawn = None

    def expect(self) -> None:
        """Wait for a message of every neighbour."""
        self.flush()
        channels = self._channels
        self._connections.wait(lambda: all(channel.inbox for channel in channels), min(1.0, self._patience))

    def receive(self, neighbour: int) -> Message:
        """Wait for the neighbour's next message."""
        self.flush()
        channel, waited = self._channels[neighbour], 0.0
        while not channel.inbox:
            if self._connections.failure is not None:
                raise NetworkError("the links of this agent have failed.") from self._connections.failure
            if waited >= self._patience:
                raise NetworkError(
                    f"{self._names[neighbour]} has not answered for {waited:.0f} s; the state is kept, and the "
                    "run goes on when both are back."
                )
            start = time.monotonic()
            self._connections.wait(lambda: bool(channel.inbox), min(1.0, self._patience))
            waited += time.monotonic() - start
            if self._on_wait is not None and waited >= 1.0:
                self._on_wait(self._names[neighbour], waited)
        with self._connections.guard:
            body = cast(bytes, channel.take())  # nobody else takes
            number = channel.used - 1
        message = decode(body)
        if self._setting_up:
            self._store.came(neighbour, number, body)
        return message

    def flush(self) -> None:
        """Commit what was drawn up, then send it."""
        self._keep()
        self._store.commit()
        if self._safe:
            with self._connections.guard:
                for channel, used in zip(self._channels, self._safe, strict=True):
                    channel.safe = used
            self._safe = []
        if self._pending:
            self._connections.write(self._pending)
            self._pending = []

    # Memory ----------------------------------------------------------------------------------------

    def recall(self) -> Recalled | None:
        """Return the last checkpoint, and go on from there on every link."""
        self._setting_up = False
        position = self._store.position()
        if position is None:
            return None
        with self._connections.guard:
            for channel, cursor, used in zip(self._channels, position.cursors, position.used, strict=True):
                channel.rewind(cursor=cursor, used=used)
        self._source.seek(position.keystreams)
        self._saved_round = position.done
        return self._store.recall()

    def remember(self, recalled: Recalled) -> None:
        """Take a checkpoint now and then; it is committed with the next message."""
        now = time.monotonic()
        recent = now - self._saved_at < _EVERY_SECONDS and recalled.done - self._saved_round < _EVERY_ROUNDS
        if recent and self._unsaved < _EVERY_BYTES:
            return
        self.checkpoint(recalled)

    def checkpoint(self, recalled: Recalled) -> None:
        """Take a checkpoint."""
        with self._connections.guard:
            cursors, used = [c.cursor for c in self._channels], [c.used for c in self._channels]
            self._store.save(recalled, keystreams=self._source.positions, cursors=cursors, used=used)
            self._store.acknowledged([c.outbox[0][0] if c.outbox else c.next_out for c in self._channels])
        self._safe = used  # acknowledged once the checkpoint is committed
        self._unsaved = 0
        self._saved_at, self._saved_round = time.monotonic(), recalled.done
