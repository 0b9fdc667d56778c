"""All members as real processes on this machine, over real TLS: for trying, testing and measuring.

Every process gets its own cost and its own key; the parent only starts them, shows how far they are, and collects
the answers. Processes ignore Ctrl-C and end with their parent, however it ends: it alone decides, so that an
interrupt leaves no process, no key and no traceback behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import multiprocessing as mp
import os
import pickle
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import forkserver
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

import networkx as nx
import numpy as np

from tacit.algorithms import ALGORITHMS, ERRANDS
from tacit.costs import Family
from tacit.errors import InputError, NetworkError, TacitError
from tacit.masks import has_level
from tacit.network import Network
from tacit.runtimes.agent import Outcome
from tacit.runtimes.job import Job, Run
from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.identity import refuse_bad_name, write_key
from tacit.runtimes.peers.seat import Endpoint, Seat
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap
from tacit.runtimes.traffic import Traffic

_PRELOAD = ["tacit.runtimes.peers.local"]
_PATIENCE = 86_400.0  # seconds
_SILENCE = 15.0
_OFTEN = 0.25  # seconds between two reports of one agent, at least
_LONGEST_FOLDER = 60  # bytes: a socket's name may have 103, and multiprocessing's own part takes 32
_SHORT_FOLDERS = ("/tmp", "/var/tmp")  # noqa: S108  multiprocessing makes a private folder in it


Doing = Literal["starting", "waiting", "running", "done"]


class Report(NamedTuple):
    """How far one agent is."""

    name: str
    state: Doing
    round: int = 0
    links_up: int = 0
    links: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    heard: float | None = None
    """When something came last, on the clock of `time.monotonic`; None if nothing ever did."""
    awaited: str = ""
    """Who is waited for."""

    def __str__(self) -> str:
        """Say what the agent does, in a word or two."""
        return f"waits for {self.awaited}" if self.state == "waiting" else self.state


@runtime_checkable
class Reporting(Protocol):
    """Whoever takes an agent's reports, beside the progress of the whole run."""

    def report(self, report: Report) -> None:
        """Take what one agent says of itself."""


def run(job: Job, on_progress: Callable[[Progress], None] | None = None, *, tap: Tap | None = None) -> Run:
    """Run a job with one process per agent on this machine.

    *on_progress* hears of the run as a whole; where it has a method `report`, that hears of every agent.
    """
    tapped = () if tap is None else tap.agents
    with tempfile.TemporaryDirectory(prefix="tacit-") as place:
        folder = Path(place)
        names = _names(job.network)
        shared, seats = seats_of(job, names, folder)
        members: list[Process] = []
        try:
            for i, (seat, cost) in enumerate(zip(seats, job.costs, strict=True)):
                listening = tap if i in tapped else None
                members.append(Process(shared, seat, cost, folder, watched=on_progress is not None, tap=listening))
            outcomes = collect(members, on_progress)
        finally:
            stop(members)
    if tap is not None:
        for i in tap.agents:
            tap.take(i, members[i].heard)
    first = outcomes[0][0]
    traffic = [told for _, told in outcomes]
    return Run(
        x=np.stack([outcome.x for outcome, _ in outcomes]),
        rounds=first.rounds,
        traffic=Traffic(
            exchanges=max(t.exchanges for t in traffic),
            messages=sum(t.messages for t in traffic),
            bytes=sum(t.bytes for t in traffic),
        ),
        verdict=first.verdict,
        history=first.history,
        doubt=first.doubt,
    )


def _names(network: Network) -> list[str]:
    """Return the agents' own names, where all can be names of members."""
    try:
        for agent in network.agents:
            refuse_bad_name(agent if isinstance(agent, str) else "")
    except InputError:
        return [f"agent-{i}" for i in range(len(network))]
    return [str(agent) for agent in network.agents]


def seats_of(job: Job, names: list[str], folder: Path) -> tuple[Job, list[Seat]]:
    """Return the job without its costs, and everybody's seat on this machine; new keys go into *folder*."""
    refuse_unshared(job)
    members = endpoints(names, folder)
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[i], names[j]) for i, j in job.network.links)
    shared = dataclasses.replace(job, network=Network(graph), costs=(), stack=None)
    session = hashlib.sha256("\n".join(place.certificate for place in members.values()).encode()).hexdigest()
    return shared, [
        Seat(me=name, members=members, session=session, parts={}, patience=_PATIENCE, silence=_SILENCE)
        for name in names
    ]


def refuse_unshared(job: Job) -> None:
    """Refuse what members cannot all know: a seed, an algorithm without a name, masks that have no level."""
    privacy = job.privacy
    if privacy is not None and privacy.seed is not None:
        raise InputError("peers draw real masks: a seed is for simulations, and there is none on this runtime.")
    if type(job.algorithm) not in {*ALGORITHMS.values(), *ERRANDS.values()}:
        raise InputError("peers run the algorithms that have a name; write your own against the agents runtime.")
    if not has_level(privacy):
        raise InputError("peers take AffineMasks, QuadraticMasks and SumMasks, without scales of single links.")


def endpoints(names: list[str], folder: Path) -> dict[str, Endpoint]:
    """Return free ports of this machine for all members, with new keys in *folder*."""
    return {
        name: Endpoint("127.0.0.1", port, write_key(folder, name)[1].read_text())
        for name, port in zip(names, free_ports(len(names)), strict=True)
    }


class Process:
    """One member as a process of its own, which can be killed and started again."""

    def __init__(
        self,
        job: Job,
        seat: Seat,
        cost: Family,
        folder: Path,
        *,
        watched: bool = False,
        tap: Tap | None = None,
    ) -> None:
        self.name = seat.me
        self.heard: Any = None
        """What a tap heard in that process."""
        self._given = (job, seat, cost, str(folder), watched, tap)
        self.start()

    def start(self) -> None:
        """Start the process, for the first time or again."""
        method = mp.get_context("forkserver")
        method.set_forkserver_preload(_PRELOAD)
        # the server ignores Ctrl-C, and so does every process that it makes, from its first moment
        with _short_sockets(), _ignored(signal.SIGINT):
            forkserver.ensure_running()
        self.pipe, theirs = method.Pipe(duplex=False)
        self.process: BaseProcess = method.Process(target=_serve, args=(*self._given, theirs), daemon=True)
        try:
            self.process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"the cost of {self.name} cannot be handed to a process of its own: it holds something without a "
                "name that another process could find, such as a lambda or a function within a function. Define it "
                "at the top of a module, or use runtime='agents'."
            ) from error
        theirs.close()

    def kill(self) -> None:
        """Kill the process as a power cut would."""
        self.process.kill()
        self.process.join()

    def stop(self) -> None:
        """Stop the process, and wait until it is gone."""
        stop([self])


def stop(members: list[Process]) -> None:
    """Stop processes, all at once, and wait until they are gone; a second Ctrl-C does not stop the stopping."""
    with _ignored(signal.SIGINT, signal.SIGTERM):
        for member in members:
            if member.process.is_alive():
                member.process.terminate()
        deadline = time.monotonic() + 5.0
        for member in members:
            member.process.join(timeout=max(deadline - time.monotonic(), 0.0))
            if member.process.is_alive():
                member.kill()


@contextlib.contextmanager
def _short_sockets() -> Iterator[None]:
    """Let multiprocessing put its sockets where their names are short enough, if TMPDIR is not such a place.

    It asks for a folder once, and keeps it. Everything else, keys above all, goes where TMPDIR says.
    """
    before = tempfile.tempdir
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER:
        short = next((place for place in _SHORT_FOLDERS if os.access(place, os.W_OK | os.X_OK)), None)
        if short is None:
            raise InputError(
                f"TMPDIR = {tempfile.gettempdir()} is too long for the sockets of processes (at most "
                f"{_LONGEST_FOLDER} bytes); name a shorter folder."
            )
        tempfile.tempdir = short
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextlib.contextmanager
def _ignored(*numbers: signal.Signals) -> Iterator[None]:
    """Ignore signals for a moment; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def collect(
    members: list[Process], on_progress: Callable[[Progress], None] | None = None
) -> list[tuple[Outcome, Traffic]]:
    """Wait for all members; raise what the first of them raises."""
    waiting: dict[Any, Process] = {member.pipe: member for member in members}
    done: dict[str, tuple[Outcome, Traffic]] = {}
    on_report = on_progress.report if isinstance(on_progress, Reporting) else None
    while waiting:
        for ready in wait(list(waiting), timeout=1.0):
            pipe = cast(Pipe, ready)
            member = waiting[pipe]
            told: list[Any]
            try:
                kind, *told = pipe.recv()
            except EOFError:
                raise NetworkError(f"{member.name} died; its state is kept.") from None
            if kind == "report":
                report, progress = told
                if on_report is not None:
                    on_report(report)
                if on_progress is not None and progress is not None and member is members[0]:
                    on_progress(progress)
            elif kind == "error":
                raise told[0]
            elif kind == "heard":
                member.heard = told[0]
            elif kind == "done":
                done[member.name] = (told[0], told[1])
                del waiting[pipe]
    return [done[member.name] for member in members]


def _serve(job: Job, seat: Seat, cost: Family, folder: str, watched: bool, tap: Tap | None, pipe: Pipe) -> None:
    """Be one member."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()
    try:
        agent = Agent(job, seat, cost, key=Path(folder) / f"{seat.me}.key", folder=folder, durable=False)
        reporter = _Reporter(agent, pipe) if watched else None
        outcome = agent.run(
            on_progress=reporter.on_progress if reporter else None,
            on_wait=reporter.on_wait if reporter else None,
            tap=tap,
        )
        if reporter is not None:
            reporter.tell("done", None)
        if tap is not None:
            pipe.send(("heard", tap.told(seat.index)))
        pipe.send(("done", outcome, agent.traffic))
    except TacitError as error:
        pipe.send(("error", error))
    except BrokenPipeError:  # nobody listens any more
        pass


def _end_with_parent() -> None:
    """End this process when its parent has, even if that was killed."""
    parent = mp.parent_process()
    if parent is None:
        return

    def wait_for_the_end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_the_end, daemon=True).start()


class _Reporter:
    """Tells the parent now and then how far one agent is."""

    def __init__(self, agent: Agent, pipe: Pipe) -> None:
        self._agent, self._pipe = agent, pipe
        self._round, self._last = 0, 0.0
        self.tell("starting", None)

    def on_progress(self, progress: Progress) -> None:
        """Report a round, unless something was reported just now."""
        self._round = progress.check.round
        if time.monotonic() - self._last >= _OFTEN:
            self.tell("running", progress)

    def on_wait(self, neighbour: str, seconds: float) -> None:
        """Report who is waited for."""
        if time.monotonic() - self._last >= _OFTEN:
            self.tell("waiting", None, awaited=neighbour)

    def tell(self, state: Doing, progress: Progress | None, *, awaited: str = "") -> None:
        """Report now."""
        self._last = time.monotonic()
        connections = self._agent.connections
        near = list(connections.neighbours.values()) if connections is not None else []
        report = Report(
            name=self._agent.me,
            state=state,
            round=self._round,
            links_up=sum(n.open for n in near),
            links=len(near),
            bytes_in=sum(n.bytes_in for n in near),
            bytes_out=sum(n.bytes_out for n in near),
            heard=max((n.last_seen for n in near if n.last_seen), default=None),
            awaited=awaited,
        )
        self._pipe.send(("report", report, progress))


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nobody listens on at the moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
