"""The last words of a member that leaves a run before its end: a goodbye for the neighbours that are there."""

from __future__ import annotations

from collections.abc import Callable

from tacit.errors import ProtocolError, StoppedError
from tacit.protocol import Alarm, Frame, Kind
from tacit.runtimes.peers.connections import Connections

_TO_LEAVE = 0.05  # seconds for what was written to leave
_ALARMED_WITHIN = 1.0  # seconds for neighbours that are there; the others hear it from others, or from nobody
_BEGINNING = 5.0  # seconds for neighbours that are about to come, where a run has not begun


def say(links: Connections, goodbye: bytes, *, within: float, clock: Callable[[], float]) -> list[str]:
    """Say a goodbye, once, to every neighbour that is there within so many seconds; return who has heard it."""
    frame = Frame(Kind.BYE, 0, 0, goodbye)
    heard: set[str] = set()

    def ready() -> set[str]:
        return {n.name for n in links.neighbours.values() if n.open} - heard

    end = clock() + within
    while len(heard) < len(links.neighbours) and (seconds := end - clock()) > 0:
        links.wait(lambda: bool(ready()), seconds)
        new = ready()
        links.write({name: [frame] for name in new})
        heard |= new
    links.wait(lambda: False, _TO_LEAVE)
    return sorted(heard)


def sound(error: ProtocolError | StoppedError, links: Connections, *, me: str, clock: Callable[[], float]) -> None:
    """Tell the neighbours that this member has stopped the run, or pass on who has."""
    alarm = Alarm(error.fault, error.member or me, error.neighbour)
    within = _BEGINNING if error.fault == "declined" else _ALARMED_WITHIN
    say(links, alarm.encode(), within=within, clock=clock)
