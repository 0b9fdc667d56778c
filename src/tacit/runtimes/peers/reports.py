"""How far every agent is, told to whoever has started them as processes."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection as Pipe
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.bulletin import Bulletin
from tacit.runtimes.peers.diary import Diary
from tacit.runtimes.peers.spells import Spell
from tacit.runtimes.stopping import Progress

_OFTEN = 0.25  # seconds between two reports of one agent, at least

Doing = Literal["starting", "waiting", "running", "done"]


class Report(NamedTuple):
    """How far one agent is."""

    name: str
    state: Doing
    round: int = 0
    links_up: int = 0
    links: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    heard: float | None = None
    """When something came last, on the clock of `time.monotonic`; None if nothing ever did."""
    awaited: str = ""
    """Who is waited for."""
    spells: tuple[tuple[str, tuple[Spell, ...]], ...] = ()
    """When its links were up, by neighbour, on the same clock; told when it is done."""
    bulletin: Bulletin | None = None
    """The same and more, as a member of a federation says it."""

    def __str__(self) -> str:
        """Say what the agent does, in a word or two."""
        return f"waits for {self.awaited}" if self.state == "waiting" else self.state


@runtime_checkable
class Reporting(Protocol):
    """Whoever takes an agent's reports, beside the progress of the whole run."""

    def report(self, report: Report) -> None:
        """Take what one agent says of itself."""


class Reporter:
    """Tells the parent now and then how far one agent is."""

    def __init__(self, agent: Agent, pipe: Pipe) -> None:
        self._agent, self._pipe, self._diary = agent, pipe, Diary(agent)
        self._last = 0.0
        self.tell("starting", None)

    def on_progress(self, progress: Progress) -> None:
        """Report a round, unless something was reported just now."""
        self._diary.on_progress(progress)
        if time.monotonic() - self._last >= _OFTEN:
            self.tell("running", progress)

    def on_wait(self, neighbour: str, seconds: float) -> None:
        """Report who is waited for."""
        self._diary.on_wait(neighbour, seconds)
        if time.monotonic() - self._last >= _OFTEN:
            self.tell("waiting", None, awaited=neighbour)

    def tell(self, state: Doing, progress: Progress | None, *, awaited: str = "") -> None:
        """Report now."""
        self._last = time.monotonic()
        connections = self._agent.connections
        near = list(connections.neighbours.values()) if connections is not None else []
        report = Report(
            name=self._agent.me,
            state=state,
            round=self._diary.round,
            links_up=sum(n.open for n in near),
            links=len(near),
            bytes_in=sum(n.bytes_in for n in near),
            bytes_out=sum(n.bytes_out for n in near),
            heard=max((n.last_seen for n in near if n.last_seen), default=None),
            awaited=awaited,
            spells=tuple((n.name, tuple(n.spells_until(self._last))) for n in near) if state == "done" else (),
            bulletin=self._diary.bulletin(),
        )
        self._pipe.send(("report", report, progress))
