"""What `tacit agent` says on standard error: a table where somebody looks, a line now and then where nobody does.

Lines are text, or JSON objects. A sentence is said once, until there is another one about the same neighbour: a
neighbour that is dialled every second is not news every second. Nothing here depends on a cost.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from tacit.cli.agents_table import ago, sized
from tacit.runtimes import Progress
from tacit.runtimes.peers import Agent

log = logging.getLogger("tacit.peers.diary")

_LOOK = 0.25  # seconds between two looks at the links
_ROUNDS_EVERY = 10.0  # seconds between two lines about rounds
_TURNED_AWAY = ("TLS refused", "closed", "Connection reset by peer", "Broken pipe")
"""What ends a link before a greeting, where this member's certificate is not known: a matter of milliseconds."""
_FIRST_WAIT = 5.0  # seconds after which waiting is worth a line; then twice as long, and so on


class Diary:
    """What is known of one agent's run, from its hooks and from its links."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.round = 0
        self._waiting, self._next_wait = "", _FIRST_WAIT
        self._said_round = time.monotonic()
        self._up: dict[str, bool] = {}
        self._connected: dict[str, int] = {}
        self._unfit: set[str] = set()

    def on_progress(self, progress: Progress) -> None:
        """Take a round."""
        self.round = progress.check.round
        self._waiting = ""
        if time.monotonic() - self._said_round >= _ROUNDS_EVERY:
            self._said_round = time.monotonic()
            log.info("round %d, agents disagree by %.0e", self.round, progress.check.disagreement)

    def on_wait(self, neighbour: str, seconds: float) -> None:
        """Take that a neighbour is waited for: a line at 5 s, 10 s, 20 s, …"""
        if neighbour != self._waiting:
            self._waiting, self._next_wait = neighbour, _FIRST_WAIT
        if seconds >= self._next_wait:
            self._next_wait *= 2.0
            log.info("waiting for %s for %.0f s", neighbour, seconds)

    def look(self, *, over: bool = False) -> None:
        """Say which links have come up, and which are lost; when the run is *over*, all are down."""
        for n in self._agent.connections.neighbours.values() if self._agent.connections else ():
            if n.connected > self._connected.get(n.name, 0):
                self._connected[n.name] = n.connected
                self._up[n.name] = True
                log.info("connected to %s", n.name)
            if self._up.get(n.name) and not (n.open or n.channel.finished or over):
                self._up[n.name] = False
                log.info("no link to %s: %s", n.name, n.trouble or "closed")
            if n.channel.unfit and n.name not in self._unfit:
                log.warning(
                    "the data of %s do not match what all agreed on: it has gone to look after them, and the run "
                    "waits for it",
                    n.name,
                )
            self._unfit = self._unfit | {n.name} if n.channel.unfit else self._unfit - {n.name}
            if n.trouble in _TURNED_AWAY and not (n.connected or n.open or over):
                log.warning(
                    "%s is there and takes no link from this member (%s): its manifest may be a later one, in "
                    "which this member or this link is left out. Ask for it.",
                    n.name,
                    n.trouble,
                )

    def table(self) -> Table:
        """Return the neighbours as a table."""
        state = f"round {self.round}" if self.round else "setting up"
        state = f"waiting for {self._waiting}" if self._waiting else state
        table = Table("neighbour", "link", "messages", "sent", "received", "last heard")
        table.title = f"{self._agent.me}: {state}"
        for n in self._agent.connections.neighbours.values() if self._agent.connections else ():
            ahead = len(n.channel.inbox)
            messages = f"{n.channel.used} used" + f", {ahead} waiting" * bool(ahead)
            link = "up" if n.open else n.trouble or ("dialling" if n.dials else "not here yet")
            table.add_row(n.name, link, messages, sized(n.bytes_out), sized(n.bytes_in), ago(n.last_seen))
        return table


@contextmanager
def diary(agent: Agent, *, quiet: bool, json_lines: bool) -> Iterator[Diary]:
    """Yield the hooks of a run; show the table on a terminal, lines elsewhere, and warnings only if *quiet*."""
    kept, console = Diary(agent), Console(stderr=True)
    looked_at = console.is_terminal and not quiet and not json_lines
    with ExitStack() as stack:
        if looked_at:
            live = Live(console=console, get_renderable=kept.table, refresh_per_second=4, transient=True)
            stack.enter_context(live)  # first: lines are then printed above the table
        stack.enter_context(_logged(logging.WARNING if quiet or looked_at else logging.INFO, json_lines=json_lines))
        stack.enter_context(_looking(kept))
        yield kept


@contextmanager
def _looking(kept: Diary) -> Iterator[None]:
    """Look at the links now and then, in a thread."""
    over = threading.Event()

    def loop() -> None:
        while not over.wait(_LOOK):
            kept.look()

    thread = threading.Thread(target=loop, name="tacit-diary", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        kept.look(over=True)


@contextmanager
def _logged(level: int, *, json_lines: bool) -> Iterator[None]:
    """Print what agents log on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines(json_lines=json_lines))
    handler.addFilter(Once())
    logger = logging.getLogger("tacit.peers")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class Once(logging.Filter):
    """Lets a sentence through once, until there is another one about the same neighbour."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether this is news."""
        about = str(record.args[0]) if isinstance(record.args, tuple) and record.args else ""
        said = record.getMessage()
        if record.levelno >= logging.WARNING:
            about = f"warning {about}"  # what is wrong stays said when a link comes and goes
        if self._last.get(about) == said:
            return False
        self._last[about] = said
        return True


class _Lines(logging.Formatter):
    def __init__(self, *, json_lines: bool) -> None:
        super().__init__()
        self._json = json_lines

    def format(self, record: logging.LogRecord) -> str:
        said = record.getMessage()
        if not self._json:
            return f"tacit: {said}"
        return json.dumps({"at": record.created, "level": record.levelname, "said": said}, ensure_ascii=False)
