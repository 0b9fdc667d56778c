"""The end of a run: goodbyes, and what is left of it."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import msgspec
import numpy as np

from tacit.protocol import Frame, Kind
from tacit.runtimes.agent import Outcome
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.store import Store
from tacit.runtimes.stopping import Check, Verdict

log = logging.getLogger("tacit.peers")

_LINGER = 10.0  # seconds to wait for neighbours who may want something again …
_LONGEST_LINGER = 60.0  # … and for those who are there, and have not ended


def part(connections: Connections, store: Store) -> bool:
    """Say goodbye, stay while a neighbour may still want something, and tell whether all have said the same.

    A neighbour that is away may come back and want messages again: then the file is kept, and starting this
    agent once more serves them.
    """
    began = time.monotonic()
    deadline = began + _LINGER
    said: set[tuple[str, int]] = set()
    waiting = list(connections.neighbours.values())
    while time.monotonic() < deadline:
        with connections.guard:
            waiting = [n for n in connections.neighbours.values() if not n.channel.needs_nothing]
            gone = [n.name for n in connections.neighbours.values() if n.channel.needs_nothing]
            greet = {
                n.name: Frame(Kind.BYE, 0, n.channel.used).encode()
                for n in connections.neighbours.values()
                if n.open and (n.name, n.connected) not in said
            }
        for name in gone:
            store.fix(f"goodbye of {name}", b"")
        connections.write(greet)
        said |= {(name, connections.neighbours[name].connected) for name in greet}
        if not waiting:
            connections.wait(lambda: False, 0.02)
            return True
        if any(n.open for n in waiting):
            deadline = min(time.monotonic(), began + _LONGEST_LINGER) + _LINGER
        connections.wait(lambda: all(n.channel.needs_nothing for n in connections.neighbours.values()), 0.05)
    names = ", ".join(n.name for n in waiting)
    log.warning(
        "%s: this member has its answer, and %s has not said goodbye. The file is kept for it: start this agent "
        "again when it is back, or remove the file when it has its answer.",
        store.path,
        names,
    )
    return False


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, for its owner alone."""
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


class _Told(msgspec.Struct, frozen=True, array_like=True):
    """An outcome as it is written down."""

    x: bytes
    rounds: int
    verdict: Verdict
    history: tuple[Check, ...]
    curvature: bytes
    value: float | None = None
    facts: bytes = b""
    doubt: Doubt | None = None


def told(outcome: Outcome) -> bytes:
    """Return an outcome as bytes."""
    curvature, facts = (b"" if part is None else part.tobytes() for part in (outcome.hessian, outcome.facts))
    return msgspec.msgpack.encode(
        _Told(
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


def outcome_of(told: bytes) -> Outcome:
    """Return the outcome that bytes tell."""
    read = msgspec.msgpack.decode(told, type=_Told)
    m = len(read.x) // 8
    bent = np.frombuffer(read.curvature).reshape(m, m) if read.curvature else None
    facts = np.frombuffer(read.facts) if read.facts else None
    return Outcome(
        np.frombuffer(read.x), read.rounds, read.verdict, read.history, bent, read.value, facts, read.doubt
    )
