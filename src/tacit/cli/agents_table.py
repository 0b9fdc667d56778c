"""How far all agents on this machine are: a table on standard error, where somebody is looking."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table

from tacit.cli.tables import PlainTable
from tacit.runtimes import Progress
from tacit.runtimes.peers import Report

_ALL = 20  # agents up to which all are shown
_SLOWEST = 5  # of more agents


class AgentsTable:
    """What `solve` takes as on_progress on the peers runtime: the last report of every agent."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.reports: dict[str, Report] = {}
        self.last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Take what is known of the run as a whole."""
        self.last = progress

    def report(self, report: Report) -> None:
        """Take what one agent says of itself."""
        self.reports[report.name] = report

    def __rich__(self) -> RenderableType:
        reports = sorted(self.reports.values(), key=lambda r: (len(r.name), r.name))
        if not reports:
            return f"{self.title}: starting the agents"
        if len(reports) <= _ALL:
            return self._table(reports)
        slowest = sorted(reports, key=lambda r: (r.state == "done", r.round, r.links_up - r.links))[:_SLOWEST]
        return Group(self.summary(), self._table(slowest, of="the slowest of "))

    def summary(self) -> str:
        """Return one line about all agents."""
        reports = list(self.reports.values())
        states = Counter(r.state for r in reports)
        rounds = [r.round for r in reports]
        counts = ", ".join(f"{count} {state}" for state, count in states.items())
        return (
            f"{self.title}: {len(reports)} agents ({counts}); rounds {min(rounds)} to {max(rounds)}; "
            f"{sized(sum(r.bytes_out for r in reports))} sent"
        )

    def _table(self, reports: list[Report], of: str = "") -> Table:
        error = self.last.check.disagreement if self.last is not None else None
        far = "" if error is None else f"; agents disagree by {error:.0e}"
        table = PlainTable("agent", "state", "round", "links", "sent", "received", "last heard")
        table.title = f"{self.title}: {of}{len(self.reports)} agents{far}"
        for r in reports:
            row = (f"{r.round}", f"{r.links_up}/{r.links}", sized(r.bytes_out), sized(r.bytes_in), ago(r.heard))
            table.add_row(r.name, str(r), *row)
        return table


@contextmanager
def agents_table(title: str, *, quiet: bool = False) -> Iterator[AgentsTable | None]:
    """Yield what `solve` takes as on_progress; None where no terminal is there to see it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    table = AgentsTable(title)
    with Live(console=console, get_renderable=table.__rich__, refresh_per_second=4, transient=True):
        yield table


def sized(count: int) -> str:
    """Return a number of bytes for people.

    >>> sized(900), sized(2048), sized(5 << 20)
    ('900 B', '2.0 KiB', '5.0 MiB')
    """
    size, units = float(count), ["KiB", "MiB", "GiB", "TiB"]
    if count < 1024:
        return f"{count} B"
    while size >= 1024 and units:
        size, unit = size / 1024, units.pop(0)
    return f"{size:.1f} {unit}"


def ago(moment: float | None) -> str:
    """Return how long ago something was, on the monotonic clock."""
    return f"{max(time.monotonic() - moment, 0.0):.0f} s ago" if moment else "never"
