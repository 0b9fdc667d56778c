"""All agents on this machine on one page: the last bulletin of each, for whoever watches.

    board = Noticeboard()
    with serve_noticeboard(board, 9400):
        tacit.solve(problem, runtime="peers", on_progress=board)

`/status` on that port of the loopback is a list of bulletins. Nothing in it depends on a cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from tacit.runtimes.peers.bulletin import Bulletin
from tacit.runtimes.peers.monitoring import HttpReply, serve_pages
from tacit.runtimes.peers.reports import Report, Reporting

if TYPE_CHECKING:
    from tacit.runtimes.stopping import Progress


class Noticeboard:
    """What `solve` takes as on_progress on the peers runtime: the last bulletin of every agent.

    *then* hears what this hears.
    """

    def __init__(self, then: Callable[[Progress], None] | None = None) -> None:
        self._then = then
        self._last: dict[str, Bulletin] = {}

    def __call__(self, progress: Progress) -> None:
        """Hand on what is known of the run as a whole."""
        if self._then is not None:
            self._then(progress)

    def report(self, report: Report) -> None:
        """Take what one agent says of itself."""
        if report.bulletin is not None:
            self._last = {**self._last, report.name: report.bulletin}  # whoever reads has the one before, whole
        if isinstance(self._then, Reporting):
            self._then.report(report)

    @property
    def bulletins(self) -> list[Bulletin]:
        """The last one of every agent that has said anything, by name."""
        return sorted(self._last.values(), key=lambda b: (len(b.name), b.name))


@contextmanager
def serve_noticeboard(board: Noticeboard, port: int) -> Iterator[int]:
    """Serve all bulletins on the loopback while the agents run, and yield the port: a free one for 0."""

    def status() -> HttpReply:
        return HttpReply(200, "application/json", msgspec.json.encode(board.bulletins) + b"\n")

    with serve_pages({"/status": status}, port, what="the agents' status") as taken:
        yield taken
