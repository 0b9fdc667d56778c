"""What happens around one agent, as lines of a log: links that come up and are lost, rounds, who is waited for.

    diary = Diary(agent)
    with diary.watching():
        agent.run(diary.on_progress, diary.on_wait)

Lines go to the logger "tacit.peers.diary", and the bulletin to a file beside the state. Nothing here depends on a
cost.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tacit.protocol.record import Stage
from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.bulletin import Bulletin, LinkNews, post, withdraw
from tacit.runtimes.peers.connections import Neighbour
from tacit.runtimes.peers.spells import LinkTimes, link_times
from tacit.runtimes.stopping import Progress

log = logging.getLogger("tacit.peers.diary")

_LOOK = 0.25  # seconds between two looks at the links
_ROUNDS_EVERY = 10.0  # seconds between two lines about rounds
_TURNED_AWAY = 5  # times in a row: once or twice is a neighbour that is being stopped or started
_FIRST_WAIT = 5.0  # seconds after which waiting is worth a line; then twice as long, and so on
_POST_EVERY = 2.0  # seconds between two bulletins
_STILL = 3.0  # seconds for which a wait counts as going on: whoever waits says so every second


class Diary:
    """What is known of one agent's run, from its hooks and from its links."""

    def __init__(
        self,
        agent: Agent,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.agent, self._clock, self._now = agent, clock, now
        self.round = 0
        """The last one that was heard of."""
        self.file = agent.file.with_suffix(".status")
        """Where the bulletin is, while the agent runs."""
        self._started = clock()
        self._awaited, self._waited, self._waited_at = "", 0.0, self._started
        self._next_wait, self._last_line = _FIRST_WAIT, clock()
        self._since, self._posted, self._unposted = now(), -_POST_EVERY, ""
        self._stage = Stage.FRESH
        self._up: dict[str, bool] = {}
        self._connected: dict[str, int] = {}
        self._unfit: set[str] = set()
        self._knowing: set[str] = set()  # those who know better what was said

    def on_progress(self, progress: Progress) -> None:
        """Take a round."""
        self.round = progress.check.round
        self._awaited = ""
        if self._clock() - self._last_line >= _ROUNDS_EVERY:
            self._last_line = self._clock()
            log.info("round %d, agents disagree by %.0e", self.round, progress.check.disagreement)

    def on_wait(self, neighbour: str, seconds: float) -> None:
        """Take that a neighbour is waited for: a line at 5 s, 10 s, 20 s, …"""
        if neighbour != self._awaited:
            self._awaited, self._next_wait = neighbour, _FIRST_WAIT
        self._waited, self._waited_at = seconds, self._clock()
        if seconds >= self._next_wait:
            self._next_wait *= 2.0
            log.info("waiting for %s for %.0f s", neighbour, seconds)

    @property
    def waiting_for(self) -> str:
        """A neighbour; empty where nobody is waited for."""
        return self._awaited if self._clock() - self._waited_at <= _STILL else ""

    @property
    def neighbours(self) -> list[Neighbour]:
        """The agent's links; none before it runs."""
        return [] if self.agent.connections is None else list(self.agent.connections.neighbours.values())

    def link_times(self) -> LinkTimes:
        """Return when the agent's links were up, since this diary began."""
        return link_times(self.agent.me, self.neighbours, start=self._started, now=self._clock())

    def look(self, *, over: bool = False) -> None:
        """Say which links have come up, and which are lost; when the run is *over*, all are down."""
        if self.neighbours and self.agent.stage is not self._stage:
            self._stage = self.agent.stage
            log.debug("the run is in phase %s", self._stage.value)
        for n in self.neighbours:
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
            if n.channel.outdated and n.name not in self._knowing:
                log.warning(
                    "%s knows of more that was said in this run than the state file of this member: the file is "
                    "lost, or an older one was put back",
                    n.name,
                )
            self._knowing = self._knowing | {n.name} if n.channel.outdated else self._knowing - {n.name}
            if n.turned_away >= _TURNED_AWAY and not (n.connected or n.open or over):
                log.warning(
                    "%s is there and takes no link from this member (%s): its agreement may be a later one, in "
                    "which this member or this link is left out, or has another key. Ask for it.",
                    n.name,
                    n.trouble,
                )

    def bulletin(self) -> Bulletin:
        """Return how the agent is now."""
        agent, awaited = self.agent, self.waiting_for
        return Bulletin(
            name=agent.me,
            session=agent.seat.session,
            protocol=agent.seat.protocol,
            pid=os.getpid(),
            since=self._since,
            at=self._now(),
            phase=agent.stage.value,
            round=self.round,
            awaited=awaited,
            waited=self._waited if awaited else 0.0,
            failed=agent.connections is not None and agent.connections.failure is not None,
            links=tuple(self._news(n) for n in self.neighbours),
        )

    def _news(self, n: Neighbour) -> LinkNews:
        return LinkNews(
            neighbour=n.name,
            up=n.open,
            trouble="" if n.open else n.trouble or ("dialling" if n.dials else "not here yet"),
            connections=n.connected,
            violations=n.violations,
            used=n.channel.used,
            waiting=len(n.channel.inbox),
            sent=n.bytes_out,
            received=n.bytes_in,
            heard=max(self._clock() - n.last_seen, 0.0) if n.last_seen else None,
        )

    def post(self) -> None:
        """Write the bulletin every two seconds, once the agent has links; a run goes on without it, too."""
        if self.agent.connections is None or self._clock() - self._posted < _POST_EVERY:
            return
        self._posted = self._clock()
        try:
            post(self.bulletin(), self.file)
            self._unposted = ""
        except OSError as error:
            if self._unposted != str(error):
                self._unposted = str(error)
                log.warning("%s: cannot be written (%s); the run goes on", self.file, error.strerror)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look at the links now and then, in a thread, until the run is over."""
        over = threading.Event()

        def loop() -> None:
            while not over.wait(_LOOK):
                self.look()
                self.post()

        thread = threading.Thread(target=loop, name="tacit-diary", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self.look(over=True)
            if self.agent.connections is not None:  # its own, or that of one that was killed; no other runs here
                withdraw(self.file)
