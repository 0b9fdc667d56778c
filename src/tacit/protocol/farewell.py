"""How a member that has its answer leaves: goodbyes, and staying while a neighbour may still want something.

    a link comes up                       say goodbye on it, once
    everybody needs nothing any more      leave
    one who does is there                 stay, *longest* seconds at most …
    one who does is away                  … and *linger* seconds from when it was last there

The clock is an argument: what happens is decided by what was last seen, and by when.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LINGER = 10.0  # seconds for neighbours who may want something again …
LONGEST_LINGER = 60.0  # … and for those who are there, and have not ended


class Line(NamedTuple):
    """One link, as it is now."""

    name: str
    is_up: bool
    connected: int
    """How often it has come up: every connection hears a goodbye of its own."""
    needs_nothing: bool


class Farewell:
    """One member's leaving, from *began* on."""

    def __init__(self, began: float, *, linger: float = LINGER, longest: float = LONGEST_LINGER) -> None:
        self._began, self._linger, self._longest = began, linger, longest
        self._greeted: set[tuple[str, int]] = set()
        self.ends = began + linger
        """When nobody is waited for any more, as far as was seen."""

    def look(self, lines: Sequence[Line], now: float) -> list[str]:
        """Return who is to hear a goodbye; `ends` moves on while somebody who needs something is there."""
        if any(line.is_up and not line.needs_nothing for line in lines):
            self.ends = min(now, self._began + self._longest) + self._linger
        new = [line for line in lines if line.is_up and (line.name, line.connected) not in self._greeted]
        self._greeted |= {(line.name, line.connected) for line in new}
        return [line.name for line in new]
