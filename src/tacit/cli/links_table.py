"""One agent's links as a table, from its bulletin."""

from __future__ import annotations

from rich.table import Table

from tacit.cli.agents_table import sized
from tacit.cli.tables import PlainTable
from tacit.runtimes.peers.bulletin import Bulletin


def links_table(bulletin: Bulletin) -> Table:
    """Return an agent's neighbours as a table."""
    state = f"round {bulletin.round}" if bulletin.round else "setting up"
    state = f"waiting for {bulletin.awaited}" if bulletin.awaited else state
    rows = PlainTable("neighbour", "link", "messages", "sent", "received", "last heard")
    rows.title = f"{bulletin.name}: {state}"
    for n in bulletin.links:
        messages = f"{n.used} used" + f", {n.waiting} waiting" * bool(n.waiting)
        heard = "never" if n.heard is None else f"{n.heard:.0f} s ago"
        rows.add_row(n.neighbour, "up" if n.up else n.trouble, messages, sized(n.sent), sized(n.received), heard)
    return rows
