"""Members as processes of their own on this machine, which can be killed, started again and waited for.

A process gets one cost; the parent only starts it, hears how far it is, and collects the answer. Processes ignore
Ctrl-C and end with their parent, however it ends: it alone decides, so that an interrupt leaves no process, no key
and no traceback behind.
"""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import pickle
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import forkserver
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

from tacit.costs import Family
from tacit.errors import InputError, NetworkError, TacitError
from tacit.runtimes.job import Job
from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.dumps import switch_off_core_dumps
from tacit.runtimes.peers.reports import Reporter, Reporting
from tacit.runtimes.peers.seat import Seat
from tacit.runtimes.phases import Outcome
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap
from tacit.runtimes.traffic import Traffic

_PRELOAD = ["tacit.runtimes.peers.processes", "scipy.special", "scipy.sparse.csgraph"]  # once for all
_LONGEST_FOLDER = 60  # bytes: a socket's name may have 103, and multiprocessing's own part takes 32
_SHORT_FOLDERS = ("/tmp", "/var/tmp")  # noqa: S108  multiprocessing makes a private folder in it


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
                "at the top of a module, or use the runtime 'agents'."
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
            content: list[Any]
            try:
                kind, *content = pipe.recv()
            except EOFError:
                raise NetworkError(f"{member.name} died; its state is kept.") from None
            if kind == "report":
                report, progress = content
                if on_report is not None:
                    on_report(report)
                if on_progress is not None and progress is not None and member is members[0]:
                    on_progress(progress)
            elif kind == "error":
                raise content[0]
            elif kind == "heard":
                member.heard = content[0]
            elif kind == "done":
                done[member.name] = (content[0], content[1])
                del waiting[pipe]
    return [done[member.name] for member in members]


def _serve(job: Job, seat: Seat, cost: Family, folder: str, watched: bool, tap: Tap | None, pipe: Pipe) -> None:
    """Be one member."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    switch_off_core_dumps()
    _end_with_parent()
    try:
        agent = Agent(job, seat, cost, key=Path(folder) / f"{seat.me}.key", folder=folder, durable=False)
        reporter = Reporter(agent, pipe) if watched else None
        outcome = agent.run(
            on_progress=reporter.on_progress if reporter else None,
            on_wait=reporter.on_wait if reporter else None,
            tap=tap,
        )
        if reporter is not None:
            reporter.tell("done", None)
        if tap is not None:
            pipe.send(("heard", tap.heard(seat.index)))
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
