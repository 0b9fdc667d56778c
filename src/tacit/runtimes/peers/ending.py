"""The end of a run: goodbyes, and what is left of it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from tacit.listing import listed
from tacit.protocol import Frame, Kind, Parting
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
_WORTH_A_LINE = 5.0  # seconds after which staying is worth a line
_AGAIN = 3.0  # seconds: whoever waits for a goodbye dials at least every second one


def part(connections: Connections, store: Store, *, patience: float, clock: Callable[[], float]) -> tuple[str, ...]:
    """Say goodbye, stay while a neighbour may still want something; return who has not said the same.

    A neighbour that is away may come back and want messages again. If it does not come while there is *patience*,
    the file is kept, and starting this agent once more serves it. Where nobody wants anything any more, one stays
    until all have noted the goodbye, for a few seconds at most.
    """

    def lines() -> list[Line]:
        with connections.guard:
            return [
                Line(
                    n.name,
                    n.open,
                    n.connected,
                    n.channel.confirmed,
                    n.channel.needs_nothing,
                    n.channel.goodbyes,
                    n.channel.noted,
                )
                for n in connections.neighbours.values()
            ]

    leaving, began, is_said = Farewell(clock(), patience), clock(), False
    while (now := clock()) < leaving.ends:
        seen = lines()
        connections.write({name: [_goodbye(connections, name)] for name in leaving.look(seen, now)})
        record = store.advance(Goodbyes(line.name for line in seen if line.needs_nothing))
        answers = leaving.answer(seen)
        connections.write({name: [_goodbye(connections, name, Parting.NOTED)] for name in answers})
        has_parted = record.stage is Stage.PARTED
        if has_parted and leaving.is_over(seen, now):
            break
        if not has_parted and now - began >= _WORTH_A_LINE and not is_said:
            is_said = True
            log.info("%s: has not said goodbye. This member has its answer, and stays for it", _missing(store))
        connections.wait(
            lambda before=seen: lines() != before,  # type: ignore[misc]
            max(leaving.ends - now if is_said else min(leaving.ends - now, _WORTH_A_LINE), 0.0),
        )
    connections.wait(lambda: False, _LAST_WORDS)
    return tuple(name for name in store.record.neighbours if name not in store.record.goodbyes)


def say_goodbye_again(connections: Connections, *, clock: Callable[[], float]) -> None:
    """Say goodbye for a moment to whoever is still there, after the end: a crash may have cost it the first one."""
    heard: set[tuple[str, int]] = set()
    end = clock() + _AGAIN

    def new() -> set[tuple[str, int]]:
        return {(n.name, n.connected) for n in connections.neighbours.values() if n.open} - heard

    while (seconds := end - clock()) > 0:
        names = new()
        connections.write(
            {name: [_goodbye(connections, name, why) for why in (Parting.DONE, Parting.NOTED)] for name, _ in names}
        )
        heard |= names
        connections.wait(lambda: bool(new()), seconds)


def _missing(store: Store) -> str:
    return listed([name for name in store.record.neighbours if name not in store.record.goodbyes])


def _goodbye(connections: Connections, name: str, why: Parting = Parting.DONE) -> Frame:
    with connections.guard:
        return Frame(Kind.BYE, 0, connections.neighbours[name].channel.used, why.value)


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
    noise: bytes = b""
    errors: bytes = b""


def written(outcome: Outcome) -> bytes:
    """Return an outcome as bytes."""
    arrays = (outcome.hessian, outcome.facts, outcome.noise, outcome.errors)
    curvature, facts, noise, errors = (b"" if part is None else part.tobytes() for part in arrays)
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
            noise,
            errors,
        )
    )


def outcome_of(data: bytes) -> Outcome:
    """Return the outcome that bytes tell."""
    read = msgspec.msgpack.decode(data, type=_Written)
    m = len(read.x) // 8
    bent = np.frombuffer(read.curvature).reshape(m, m) if read.curvature else None
    facts = np.frombuffer(read.facts) if read.facts else None
    noise, errors = (np.frombuffer(part) if part else None for part in (read.noise, read.errors))
    return Outcome(
        np.frombuffer(read.x),
        read.rounds,
        read.verdict,
        read.history,
        bent,
        read.value,
        facts,
        read.doubt,
        noise,
        errors,
    )
