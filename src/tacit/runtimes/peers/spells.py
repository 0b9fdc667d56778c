"""When links were up: one spell per connection, from the diary of one agent or the reports of all.

    keeper = Timekeeper()
    answer = tacit.solve(problem, runtime="peers", on_progress=keeper)
    keeper.times()

Nothing in it depends on a cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.showing import Readable, frame

if TYPE_CHECKING:
    from tacit.runtimes.peers.connections import Neighbour
    from tacit.runtimes.peers.reports import Report
    from tacit.runtimes.stopping import Progress

MOST = 500
"""Spells of one link that are kept, the latest."""

Ends = tuple[str, str]


class Spell(NamedTuple):
    """A time for which one link was up, in seconds."""

    start: float
    end: float
    trouble: str = ""
    """Why it ended, in a few words; empty where it had not."""


@dataclass(frozen=True, slots=True)
class LinkTimes(Readable):
    """When every link was up, in seconds since the start."""

    seconds: float
    """From the start to the end of what is told."""
    spells: Mapping[Ends, tuple[Spell, ...]]
    """Of every link, by its two ends; none where it never came up."""

    def to_frame(self) -> Any:
        """Return every spell of every link as a table of pandas."""
        rows = [{"link": " – ".join(link), **spell._asdict()} for link, up in self.spells.items() for spell in up]
        return frame(rows, "link", Spell._fields)

    def gaps(self, link: Ends) -> list[Spell]:
        """Return when a link was down after it had come up, and why, until it came up again."""
        up = self.spells[link]
        return [Spell(a.end, b.start, a.trouble) for a, b in pairwise(up)]

    @property
    def absent(self) -> list[Ends]:
        """Links that never came up."""
        return [link for link, up in self.spells.items() if not up]

    @property
    def lost(self) -> dict[Ends, float]:
        """For how many seconds links were down after they had come up; those that never were are left out."""
        down = {link: sum(gap.end - gap.start for gap in self.gaps(link)) for link in self.spells}
        return {link: down[link] for link in down if len(self.spells[link]) > 1}

    def __str__(self) -> str:
        """Say it in a sentence."""
        return f"{self.headline}."

    @property
    def headline(self) -> str:
        """The same, as a title."""
        count = len(self.spells)
        if self.absent:
            return f"{len(self.absent)} of {count} links never came up"
        if self.lost:
            worst = max(self.lost, key=self.lost.__getitem__)
            return (
                f"{len(self.lost)} of {count} links were lost and came back; {' – '.join(worst)} was down for "
                f"{self.lost[worst]:.3g} s"
            )
        return f"{count} link{'s' * (count != 1)} came up and stayed up"


def link_times(me: str, neighbours: Iterable[Neighbour], *, start: float, now: float) -> LinkTimes:
    """Return when the links of one agent were up since *start*."""
    return LinkTimes(now - start, {(me, n.name): _since(start, n.spells_until(now)) for n in neighbours})


class Timekeeper:
    """What `solve` takes as on_progress on the peers runtime, to know afterwards when links were up.

    *then* hears what this hears.
    """

    def __init__(
        self, then: Callable[[Progress], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._then, self._clock, self._start = then, clock, clock()
        self._spells: dict[Ends, tuple[Spell, ...]] = {}

    def __call__(self, progress: Progress) -> None:
        """Hand on what is known of the run as a whole."""
        if self._then is not None:
            self._then(progress)

    def report(self, report: Report) -> None:
        """Take what one agent says of itself; of a link's two ends the first is believed."""
        for name, spells in report.spells:
            if (name, report.name) not in self._spells:
                self._spells[report.name, name] = _since(self._start, spells)
        listener = getattr(self._then, "report", None)
        if listener is not None:
            listener(report)

    def times(self) -> LinkTimes:
        """Return when all links were up."""
        ends = [spell.end for up in self._spells.values() for spell in up]
        return LinkTimes(max(ends, default=self._clock() - self._start), dict(self._spells))


def _since(start: float, spells: Iterable[Spell]) -> tuple[Spell, ...]:
    return tuple(Spell(spell.start - start, spell.end - start, spell.trouble) for spell in spells)
