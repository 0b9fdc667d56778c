"""How a member that has its answer leaves: goodbyes, and staying while a neighbour may still want something.

    a link comes up                       say goodbye on it, once
    everybody needs nothing any more      leave
    somebody does, there or away          stay, for the patience of the run from when it last got on

A neighbour gets on where it acknowledges more of what it was told, which ends; that it is there is not enough, or
one who never says goodbye would keep the others for ever. The clock is an argument: what happens is decided by what
was last seen, and by when.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Line(NamedTuple):
    """One link, as it is now."""

    name: str
    is_up: bool
    connected: int
    """How often it has come up: every connection hears a goodbye of its own."""
    confirmed: int
    """How many messages the neighbour has acknowledged."""
    needs_nothing: bool


class Farewell:
    """One member's leaving, from *began* on, with so much *patience* in seconds."""

    def __init__(self, began: float, patience: float) -> None:
        self._patience = patience
        self._greeted: set[tuple[str, int]] = set()
        self._confirmed: dict[str, int] = {}
        self.ends = began + patience
        """When nobody is waited for any more, as far as was seen."""

    def look(self, lines: Sequence[Line], now: float) -> list[str]:
        """Return who is to hear a goodbye; `ends` moves on where somebody who needs something has got on."""
        confirmed = {line.name: line.confirmed for line in lines}
        if any(confirmed[name] > before for name, before in self._confirmed.items()):
            self.ends = now + self._patience
        self._confirmed = confirmed
        new = [line for line in lines if line.is_up and (line.name, line.connected) not in self._greeted]
        self._greeted |= {(line.name, line.connected) for line in new}
        return [line.name for line in new]
