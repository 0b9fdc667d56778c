"""Listening at the links of some agents: how what a coalition sees is recorded.

A tap is given the peers of the agents that it names, and puts peers in their place that pass everything on: it gets
no cost, no key, and no link of anybody else. Where all agents are one array it is given that, and keeps to the rows
of its agents. In the peers runtime it travels to those agents' processes, and what it heard there comes back.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from tacit.runtimes.linked_peers import Together
from tacit.typing import Peers


class Tap(Protocol):
    """Who listens. Must be picklable before it has heard anything."""

    @property
    def agents(self) -> Collection[int]:
        """Return the agents whose links are tapped, by position."""

    def together(self, peers: Peers) -> Peers:
        """Return peers of all agents at once that pass everything on."""

    def apart(self, agent: int, peers: Together) -> Together:
        """Return peers of one of the agents that pass everything on."""

    def heard(self, agent: int) -> Any:
        """Return what was heard at that agent, in a form that can be sent between processes."""

    def take(self, agent: int, heard: Any) -> None:
        """Take over what a copy of this tap heard in another process."""


def tapped(tap: Tap | None, agent: int, peers: Together) -> Together:
    """Return the peers as they are, or with somebody listening."""
    return peers if tap is None or agent not in tap.agents else tap.apart(agent, peers)
