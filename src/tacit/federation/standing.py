"""How a member's agent stands, from what lies beside its state. Nothing is asked, locked or changed.

    files in the folder                what that means
    a bulletin of the last 10 s        RUNNING
    an answer, .done                   DONE
    an older bulletin                  SILENT: killed, stopped, or on a machine that sleeps
    a state, and no bulletin           STOPPED: ended in good order, and to be started again
    none of them                       NOT_BEGUN, or in another folder

The first line that fits counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from tacit.errors import FileError
from tacit.federation.joining import seat_of
from tacit.federation.manifest import Manifest, refuse_strangers
from tacit.runtimes.peers.bulletin import Bulletin, read_bulletin
from tacit.showing import Readable

FRESH = 10.0
"""Seconds after which an agent that has said nothing counts as silent: it speaks every two."""


class Condition(StrEnum):
    """What an agent is doing, if anything."""

    RUNNING = "running"
    SILENT = "silent"
    STOPPED = "stopped"
    DONE = "done"
    NOT_BEGUN = "not begun"


@dataclass(frozen=True, slots=True)
class Standing(Readable):
    """How one member's agent stands."""

    member: str
    condition: Condition
    bulletin: Bulletin | None
    """What the agent said last, where it is running or silent."""
    age: float
    """Seconds since it said so."""
    evidence: Path | None
    """That neighbours were told different things, where the agent has noticed it."""
    is_erased: bool
    """Whether nothing secret of the run is left in the folder."""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def is_well(self) -> bool:
        """Whether nobody has to do anything."""
        failed = self.bulletin is not None and self.bulletin.failed
        return self.condition in (Condition.RUNNING, Condition.DONE) and self.evidence is None and not failed

    def lines(self) -> list[str]:
        """Return it in sentences, the first about the condition."""
        lines = [f"{self.member}: {self._condition()}"]
        if self.bulletin is not None and self.bulletin.failed:
            lines.append("Its own links have failed: start it again.")
        if self.condition is Condition.RUNNING and self.bulletin is not None and self.bulletin.awaited:
            lines.append(f"Waiting for {self.bulletin.awaited} for {self.bulletin.waited:.0f} s.")
        if self.evidence is not None:
            lines.append(
                f"{self.evidence}: neighbours were told different things. Compare it with theirs before this agent "
                "is started again."
            )
        return lines

    def _condition(self) -> str:
        b = self.bulletin
        match self.condition:
            case Condition.RUNNING if b is not None:
                return (
                    f"running since {_spelled(b.since)}, in phase {b.phase}, round {b.round} "
                    f"(tacit {b.software}, protocol {b.protocol}, process {b.pid})."
                )
            case Condition.SILENT if b is not None:
                return (
                    f"no sign of life for {self.age:.0f} s, since phase {b.phase}, round {b.round}. It was killed, "
                    "or its machine sleeps: start it again, and it goes on from where it was."
                )
            case Condition.DONE if not self.is_erased:
                return "done. Its private state is still here: start it again, and it is erased."
            case Condition.DONE:
                return "done. Started again, the agent prints the same answer."
            case Condition.STOPPED:
                return "not running, and its state is kept: start it again, and it goes on from where it was."
            case _:
                return "has not begun this run, or keeps its state in another folder."

    def to_dict(self) -> dict[str, Any]:
        """Return it as a dictionary for JSON."""
        return {
            "member": self.member,
            "condition": str(self.condition),
            "well": self.is_well,
            "sentences": self.lines(),
            "age": None if self.bulletin is None else self.age,
            "evidence": None if self.evidence is None else str(self.evidence),
            "bulletin": None if self.bulletin is None else msgspec.to_builtins(self.bulletin),
        }


def standing_of(manifest: Manifest, *, me: str, folder: Path, now: Callable[[], float] = time.time) -> Standing:
    """Return how the agent of a member stands in the run of a manifest, from the *folder* of its state."""
    refuse_strangers(manifest, [me])
    if not folder.is_dir():
        raise FileError(f"{folder}: the folder does not exist.")
    state = folder / f"{seat_of(manifest, me).stem}.state"
    bulletin = read_bulletin(state.with_suffix(".status"))
    age = abs(now() - bulletin.at) if bulletin is not None else 0.0  # a clock may have been moved either way
    evidence = state.with_suffix(".evidence")
    if bulletin is not None and age <= FRESH:
        condition = Condition.RUNNING
    elif state.with_suffix(".done").exists():
        condition, bulletin = Condition.DONE, None
    elif bulletin is not None:
        condition = Condition.SILENT
    else:
        condition = Condition.STOPPED if state.exists() else Condition.NOT_BEGUN
    return Standing(
        me, condition, bulletin, age, evidence if evidence.exists() else None, is_erased=not state.exists()
    )


def _spelled(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"
