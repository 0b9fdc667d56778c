"""Telling the neighbours that one cannot take part: that it is so, and nothing of the reason but its kind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tacit.errors import TacitError
from tacit.protocol import Parting, longest
from tacit.runtimes.job import Job
from tacit.runtimes.peers.last_words import say
from tacit.runtimes.peers.linking import channel, connections
from tacit.runtimes.peers.seat import Seat

_TOLD_WITHIN = 3.0  # seconds for neighbours that are there; the others hear it from nobody, and wait as before


def tell_unfit(
    job: Job,
    seat: Seat,
    key: Path,
    *,
    listen: tuple[str, int] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:
    """Tell the neighbours that are there that this member's data do not match; return who has heard it.

    They go on waiting: with other data the member may come back, and the run begins.
    """
    names = seat.neighbours(job.network)
    limit = longest(len(job.x0), curvature=True)
    links = connections(seat, key, {name: channel(seat, name, limit=limit) for name in names}, listen=listen)
    try:
        links.start()
        return say(links, Parting.UNFIT.value, within=_TOLD_WITHIN, clock=clock)
    except TacitError:  # nobody is told, and the reason is said here all the same
        return []
    finally:
        links.stop()
