"""The end of a run: goodbyes, and what is left of it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from tacit.protocol import Frame, Kind
from tacit.protocol.farewell import Farewell, Line
from tacit.protocol.record import Stage
from tacit.protocol.run import Goodbyes
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.store import Store
from tacit.runtimes.phases import Outcome
from tacit.runtimes.stopping import Check, Conclusion

log = logging.getLogger("tacit.peers")

_LAST_WORDS = 0.02  # seconds for what was written to leave


def part(connections: Connections, store: Store, *, clock: Callable[[], float]) -> bool:
    """Say goodbye, stay while a neighbour may still want something, and tell whether all have said the same.

    A neighbour that is away may come back and want messages again: then the file is kept, and starting this
    agent once more serves them.
    """

    def lines() -> list[Line]:
        with connections.guard:
            return [
                Line(n.name, n.open, n.connected, n.channel.needs_nothing) for n in connections.neighbours.values()
            ]

    leaving = Farewell(clock())
    while (now := clock()) < leaving.ends:
        seen = lines()
        connections.write({name: [_goodbye(connections, name)] for name in leaving.look(seen, now)})
        record = store.advance(Goodbyes(line.name for line in seen if line.needs_nothing))
        if record.stage is Stage.PARTED:
            connections.wait(lambda: False, _LAST_WORDS)
            return True
        connections.wait(lambda before=seen: lines() != before, leaving.ends - now)  # type: ignore[misc]
    names = ", ".join(name for name in store.record.neighbours if name not in store.record.goodbyes)
    log.warning(
        "%s: this member has its answer, and %s has not said goodbye. The file is kept for it: start this agent "
        "again when it is back, or remove the file when it has its answer.",
        store.path,
        names,
    )
    return False


def _goodbye(connections: Connections, name: str) -> Frame:
    with connections.guard:
        return Frame(Kind.BYE, 0, connections.neighbours[name].channel.used)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, for its owner alone."""
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


class _Written(msgspec.Struct, frozen=True, array_like=True):
    """An outcome as it is written down."""

    x: bytes
    rounds: int
    verdict: Conclusion
    history: tuple[Check, ...]
    curvature: bytes
    value: float | None = None
    facts: bytes = b""
    doubt: Doubt | None = None


def written(outcome: Outcome) -> bytes:
    """Return an outcome as bytes."""
    curvature, facts = (b"" if part is None else part.tobytes() for part in (outcome.hessian, outcome.facts))
    return msgspec.msgpack.encode(
        _Written(
            outcome.x.tobytes(),
            outcome.rounds,
            outcome.verdict,
            outcome.history,
            curvature,
            outcome.value,
            facts,
            outcome.doubt,
        )
    )


def outcome_of(data: bytes) -> Outcome:
    """Return the outcome that bytes tell."""
    read = msgspec.msgpack.decode(data, type=_Written)
    m = len(read.x) // 8
    bent = np.frombuffer(read.curvature).reshape(m, m) if read.curvature else None
    facts = np.frombuffer(read.facts) if read.facts else None
    return Outcome(
        np.frombuffer(read.x), read.rounds, read.verdict, read.history, bent, read.value, facts, read.doubt
    )
