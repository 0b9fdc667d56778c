"""Listening at the links of some agents: how what a coalition sees is recorded.

A tap is given the links of the agents that it names, and nothing else: no cost, no key, no link of anybody else. In
the peers runtime it travels to those agents' processes, and what it heard there comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from tacit.runtimes.neighbours import Announce, Links


class Tap(Protocol):
    """Who listens. Must be picklable before it has heard anything."""

    @property
    def agents(self) -> Collection[int]:
        """Return the agents whose links are tapped, by position."""

    def listen(self, agent: int, neighbours: Sequence[int], links: Links) -> tuple[Links, Announce]:
        """Return links that pass everything on, and what is told before every exchange."""

    def told(self, agent: int) -> Any:
        """Return what was heard at that agent, in a form that can be sent between processes."""

    def take(self, agent: int, told: Any) -> None:
        """Take over what a copy of this tap heard in another process."""


def tapped(tap: Tap | None, agent: int, neighbours: Sequence[int], links: Links) -> tuple[Links, Announce | None]:
    """Return the links as they are, or with somebody listening."""
    if tap is None or agent not in tap.agents:
        return links, None
    return tap.listen(agent, neighbours, links)
