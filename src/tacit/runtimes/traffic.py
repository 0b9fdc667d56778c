"""How much was said: counted where it is said."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Traffic:
    """What went over links, in both phases and both directions."""

    exchanges: int = 0
    """Times that agents had to wait for their neighbours: one a gossip, 2·depth a sum."""
    messages: int = 0
    """Vectors sent."""
    bytes: int = 0
    """What those vectors hold, without framing."""

    def count(self, *, messages: int, bytes: int, exchanges: int = 1) -> None:
        """Add one kind of message."""
        self.exchanges += exchanges
        self.messages += messages
        self.bytes += bytes
