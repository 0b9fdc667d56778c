"""What `tacit agent` says on standard error: a table where somebody looks, a line now and then where nobody does.

Lines are text, or JSON objects. A sentence is said once, until there is another one about the same neighbour: a
neighbour that is dialled every second is not news every second.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from tacit.cli.agents_table import ago, sized
from tacit.runtimes.peers import Agent
from tacit.runtimes.peers.diary import Diary


@contextmanager
def diary(agent: Agent, *, quiet: bool, json_lines: bool) -> Iterator[Diary]:
    """Yield the hooks of a run; show the table on a terminal, lines elsewhere, and warnings only if *quiet*."""
    kept, console = Diary(agent), Console(stderr=True)
    looked_at = console.is_terminal and not quiet and not json_lines
    level = logging.WARNING if quiet or looked_at else logging.INFO
    with ExitStack() as stack:
        if looked_at:
            live = Live(console=console, get_renderable=lambda: table(kept), refresh_per_second=4, transient=True)
            stack.enter_context(live)  # first: lines are then printed above the table
        stack.enter_context(logged(level, "tacit.peers", json_lines=json_lines))
        stack.enter_context(kept.watching())
        yield kept


def table(diary: Diary) -> Table:
    """Return an agent's neighbours as a table."""
    state = f"round {diary.round}" if diary.round else "setting up"
    state = f"waiting for {diary.waiting_for}" if diary.waiting_for else state
    rows = Table("neighbour", "link", "messages", "sent", "received", "last heard")
    rows.title = f"{diary.agent.me}: {state}"
    for n in diary.neighbours:
        ahead = len(n.channel.inbox)
        messages = f"{n.channel.used} used" + f", {ahead} waiting" * bool(ahead)
        link = "up" if n.open else n.trouble or ("dialling" if n.dials else "not here yet")
        rows.add_row(n.name, link, messages, sized(n.bytes_out), sized(n.bytes_in), ago(n.last_seen))
    return rows


@contextmanager
def logged(level: int, logger_name: str, *, json_lines: bool) -> Iterator[None]:
    """Print what agents log, or relays, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines(json_lines=json_lines))
    handler.addFilter(EachOnce())
    logger = logging.getLogger(logger_name)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class EachOnce(logging.Filter):
    """Lets a sentence through once, until there is another one about the same neighbour."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether this is news."""
        about = str(record.args[0]) if isinstance(record.args, tuple) and record.args else ""
        sentence = record.getMessage()
        if record.levelno >= logging.WARNING:
            about = f"warning {about}"  # what is wrong is not said again when a link comes and goes
        if self._last.get(about) == sentence:
            return False
        self._last[about] = sentence
        return True


class _Lines(logging.Formatter):
    def __init__(self, *, json_lines: bool) -> None:
        super().__init__()
        self._json = json_lines

    def format(self, record: logging.LogRecord) -> str:
        sentence = record.getMessage()
        if not self._json:
            return f"tacit: {sentence}"
        return json.dumps({"at": record.created, "level": record.levelname, "said": sentence}, ensure_ascii=False)
