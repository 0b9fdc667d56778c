"""How a running agent is, as one value: beside its state as a file, on the loopback for Prometheus, on a terminal.

    <stem>.status   JSON, for its owner alone; written anew every two seconds, and gone when the agent ends

An agent that is killed leaves its last bulletin, and the time in it says since when nothing was heard. Nothing in a
bulletin depends on a cost, and nothing in it is secret: it counts messages, and does not hold any.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from tacit.errors import FileError
from tacit.protocol.versions import SOFTWARE


class LinkNews(msgspec.Struct, frozen=True, kw_only=True):
    """How one link is."""

    neighbour: str
    up: bool
    trouble: str
    """Why it is not, in a few words; empty where that is not known."""
    connections: int
    """How often it has come up."""
    violations: int
    """How often it was closed because of what the neighbour sent."""
    used: int
    """Messages that the algorithm has used."""
    waiting: int
    """Messages that it has not used yet."""
    sent: int
    """Bytes."""
    received: int
    """Bytes."""
    heard: float | None
    """Seconds since something came; None if nothing ever did."""


class Bulletin(msgspec.Struct, frozen=True, kw_only=True):
    """How one agent is, at one moment."""

    name: str
    """Of the member."""
    session: str
    protocol: int
    """What the run is pinned to."""
    software: str = SOFTWARE
    """The version of tacit."""
    pid: int
    since: float
    """When the agent was started, in seconds since 1970."""
    at: float
    """When this was written, in seconds since 1970."""
    phase: str
    """A stage of the run: `tacit.protocol.record.Stage`."""
    round: int
    awaited: str = ""
    """The neighbour that is waited for; empty where nobody is."""
    waited: float = 0.0
    """For so many seconds."""
    failed: bool = False
    """Whether its own links have failed: it cannot go on without being started again."""
    links: tuple[LinkNews, ...] = ()


def post(bulletin: Bulletin, path: Path) -> None:
    """Write a bulletin so that whoever reads it sees this one or the one before, whole."""
    draft = _draft(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
        file.write(msgspec.json.encode(bulletin))
    draft.replace(path)


def withdraw(path: Path) -> None:
    """Remove a bulletin: its agent ends."""
    with contextlib.suppress(OSError):  # where it cannot be removed, the time in it tells that it is old
        _draft(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def _draft(path: Path) -> Path:
    return path.with_name(f"{path.name}-draft")


def read_bulletin(path: Path) -> Bulletin | None:
    """Return what an agent last said of itself; nothing where there is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Bulletin)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError:
        raise FileError(f"{path}: is no status of an agent, or that of another version of tacit.") from None
