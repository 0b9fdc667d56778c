"""What `tacit agent` shows on standard error: a table where somebody looks, lines where nobody does."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.live import Live

from tacit.cli.lines import logged
from tacit.cli.links_table import links_table
from tacit.runtimes.peers import Agent
from tacit.runtimes.peers.diary import Diary


@contextmanager
def diary(agent: Agent, *, quiet: bool, json_lines: bool, level: int | None = None) -> Iterator[Diary]:
    """Yield the hooks of a run; show the table on a terminal, lines elsewhere, from a *level* on.

    Unless given, the level is info; and warning if *quiet*, or where the table is.
    """
    kept, console = Diary(agent), Console(stderr=True)
    looked_at = console.is_terminal and not quiet and not json_lines
    usual = logging.WARNING if quiet or looked_at else logging.INFO
    with ExitStack() as stack:
        if looked_at:
            live = Live(
                console=console,
                get_renderable=lambda: links_table(kept.bulletin()),
                refresh_per_second=4,
                transient=True,
            )
            stack.enter_context(live)  # first: lines are then printed above the table
        stack.enter_context(logged(usual if level is None else level, "tacit.peers", json_lines=json_lines))
        stack.enter_context(kept.watching())
        yield kept
