"""How a member that has its answer leaves: goodbyes, and staying while a neighbour may still want something.

    a link comes up                       say goodbye on it, once
    a goodbye comes, and is on disk       say that it was noted
    everybody needs nothing any more      leave when all have noted that this member does not, or a little later
    somebody does, there or away          stay, for the patience of the run from when it last got on

A neighbour gets on where it acknowledges more of what it was told, which ends; that it is there is not enough, or
one who never says goodbye would keep the others for ever. A goodbye that is lost as its sender leaves would keep
the neighbour for the whole patience, so that one leaves when it was noted. What says so may be lost, too, and so
nobody waits for it for longer than `NOTED_WITHIN`: whoever was killed in its last moment is back then, or is not.
The clock is an argument: what happens is decided by what was last seen, and by when.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

NOTED_WITHIN = 10.0
"""Seconds to wait for neighbours to note a goodbye, where nobody needs anything any more."""


class Line(NamedTuple):
    """One link, as it is now."""

    name: str
    is_up: bool
    connected: int
    """How often it has come up: every connection hears a goodbye of its own."""
    confirmed: int
    """How many messages the neighbour has acknowledged."""
    needs_nothing: bool
    goodbyes: int
    """How often the neighbour has said goodbye."""
    has_noted: bool
    """Whether it has noted that of this member."""


class Farewell:
    """One member's leaving, from *began* on, with so much *patience* in seconds."""

    def __init__(self, began: float, patience: float) -> None:
        self._patience = patience
        self._greeted: set[tuple[str, int]] = set()
        self._confirmed: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._parted: float | None = None  # when nobody needed anything any more
        self.ends = began + patience
        """When nobody is waited for any more, as far as was seen."""

    def look(self, lines: Sequence[Line], now: float) -> list[str]:
        """Return who is to hear a goodbye; `ends` moves on where somebody who needs something has got on."""
        confirmed = {line.name: line.confirmed for line in lines}
        if self._parted is None and any(confirmed[name] > before for name, before in self._confirmed.items()):
            self.ends = now + self._patience
        self._confirmed = confirmed
        new = [line for line in lines if line.is_up and (line.name, line.connected) not in self._greeted]
        self._greeted |= {(line.name, line.connected) for line in new}
        return [line.name for line in new]

    def answer(self, lines: Sequence[Line]) -> list[str]:
        """Return who is to hear that its goodbye was noted, once those in *lines* are on disk."""
        new = [line for line in lines if line.is_up and line.goodbyes > self._answered.get(line.name, 0)]
        self._answered |= {line.name: line.goodbyes for line in new}
        return [line.name for line in new]

    def is_over(self, lines: Sequence[Line], now: float) -> bool:
        """Tell whether one may leave, now that nobody needs anything; `ends` is when one may in any case."""
        if self._parted is None:
            self._parted = now
            self.ends = now + min(NOTED_WITHIN, self._patience)
        return now >= self.ends or all(line.has_noted for line in lines)
