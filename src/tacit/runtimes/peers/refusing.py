"""Telling the neighbours that one cannot take part: that it is so, and nothing of the reason but its kind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tacit.errors import TacitError
from tacit.protocol import Alarm, Frame, Kind, Parting, longest
from tacit.runtimes.job import Job
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.linking import channel, connections
from tacit.runtimes.peers.proxies import Proxy
from tacit.runtimes.peers.seat import Seat

_LAST_WORDS = 0.05  # seconds for what was written to leave
_TOLD_WITHIN = 3.0  # seconds for neighbours that are there; the others hear it from nobody, and wait as before
_DECLINED_WITHIN = 60.0  # seconds for neighbours that are due at the same moment, by clocks of their own


def tell_unfit(
    job: Job,
    seat: Seat,
    key: Path,
    *,
    listen: tuple[str, int] | None = None,
    proxy: Proxy | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:
    """Tell the neighbours that are there that this member's data do not match; return who has heard it.

    They go on waiting: with other data the member may come back, and the run begins.
    """
    return _tell(Parting.UNFIT.value, job, seat, key, listen=listen, proxy=proxy, clock=clock, within=_TOLD_WITHIN)


def tell_declined(
    job: Job,
    seat: Seat,
    key: Path,
    *,
    listen: tuple[str, int] | None = None,
    proxy: Proxy | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:
    """Tell the neighbours, as they come, that this member takes no part in a run; return who has heard it.

    They stop, and tell it to the others. Whoever does not come within a minute waits for its own patience.
    """
    body = Alarm("declined", seat.me).encode()
    within = min(seat.patience, _DECLINED_WITHIN)
    return _tell(body, job, seat, key, listen=listen, proxy=proxy, clock=clock, within=within)


def tell_version(
    job: Job,
    seat: Seat,
    key: Path,
    *,
    listen: tuple[str, int] | None = None,
    proxy: Proxy | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:
    """Let the neighbours that are there hear which protocol this member speaks; return who has heard it.

    It is not that of the run, so that they refuse the link and know why. They go on waiting: it may be upgraded.
    """
    heard: set[str] = set()

    def hang_up(links: Connections) -> bool:
        heard.update(n.name for n in links.neighbours.values() if n.connected and not n.open)
        return len(heard) == len(links.neighbours)

    _greet(job, seat, key, hang_up, listen=listen, proxy=proxy, clock=clock, within=_TOLD_WITHIN)
    return sorted(heard)


def _tell(
    body: bytes,
    job: Job,
    seat: Seat,
    key: Path,
    *,
    listen: tuple[str, int] | None,
    proxy: Proxy | None,
    clock: Callable[[], float],
    within: float,
) -> list[str]:
    """Say a goodbye to every neighbour that is there, once; return who has heard it."""
    goodbye = Frame(Kind.BYE, 0, 0, body)
    heard: set[str] = set()

    def tell(links: Connections) -> bool:
        new = {n.name for n in links.neighbours.values() if n.open} - heard
        links.write({name: [goodbye] for name in new})
        heard.update(new)
        return len(heard) == len(links.neighbours)

    _greet(job, seat, key, tell, listen=listen, proxy=proxy, clock=clock, within=within)
    return sorted(heard)


def _greet(
    job: Job,
    seat: Seat,
    key: Path,
    done: Callable[[Connections], bool],
    *,
    listen: tuple[str, int] | None,
    proxy: Proxy | None,
    clock: Callable[[], float],
    within: float,
) -> None:
    """Greet whoever is there, until *done* says that all have heard what they need, or *within* so many seconds."""
    limit = longest(len(job.x0), curvature=True)
    names = seat.neighbours(job.network)
    try:
        channels = {name: channel(seat, name, limit=limit) for name in names}
        links = connections(seat, key, channels, listen=listen, proxy=proxy)
        links.start()
    except (TacitError, OSError):  # nobody is told, and the reason is said here all the same
        return
    try:
        end = clock() + within
        while not done(links) and (seconds := end - clock()) > 0:
            links.wait(lambda: False, min(_LAST_WORDS, seconds))
        links.wait(lambda: False, _LAST_WORDS)
    finally:
        links.stop()
