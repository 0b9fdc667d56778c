"""One member of a run: its cost, its key, its links, its file, and the answer.

    agent = Agent(job, seat, cost, key="north.key")        # `tacit.federation.join` has both from a manifest
    agent.run().x

`run` waits for the others, goes on after a crash from where it was, and ends in the same round as everybody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tacit.costs import Family
from tacit.errors import (
    CostError,
    DamagedError,
    EquivocationError,
    FileError,
    InputError,
    NetworkError,
    ProtocolError,
    StoppedError,
)
from tacit.masks import Hidden, Keystream, clipped_to, drawn_afresh
from tacit.network import own_weights
from tacit.protocol import Channel, longest
from tacit.protocol.record import Carried, Mark, Record, Stage
from tacit.protocol.run import Begin, Commit, Draw, End, Erase, Publish, Reuse, step
from tacit.protocol.sealing import DAMAGED
from tacit.runtimes.job import Job
from tacit.runtimes.linked_peers import LinkedPeers
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.digests import digest_of_columns, digest_of_cost, digest_of_limits
from tacit.runtimes.peers.durable_links import DurableLinks
from tacit.runtimes.peers.ending import outcome_of, part, say_goodbye_again, write_whole, written
from tacit.runtimes.peers.epochs import hide_again, leave_behind, start, take_over
from tacit.runtimes.peers.evidence import signed
from tacit.runtimes.peers.giving_back import give_back_long_vectors
from tacit.runtimes.peers.identity import der
from tacit.runtimes.peers.keys import is_locked, read_key
from tacit.runtimes.peers.last_words import sound
from tacit.runtimes.peers.linking import connections, finished, restored
from tacit.runtimes.peers.proxies import Proxy
from tacit.runtimes.peers.seat import Seat
from tacit.runtimes.peers.store import Store, is_of_surroundings, refuse_shared, remove
from tacit.runtimes.phases import Outcome, row_ranges, run_agent
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap, tapped
from tacit.runtimes.traffic import Traffic
from tacit.runtimes.transcript import Transcript
from tacit.typing import Peers, Summand

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)


class Agent:
    """One member, with its *seat* in a *job* whose other costs are elsewhere.

    *folder* keeps its private state; *key* is its private key, with the certificate beside it. *columns* are the
    names of the unknowns, where the data have any: neighbours who have others are refused. It dials through the
    *proxy*, if one is given. *clock* and *connect* are where time and links come from.
    """

    def __init__(
        self,
        job: Job,
        seat: Seat,
        cost: Family,
        *,
        key: str | Path,
        folder: str | Path = ".",
        listen: tuple[str, int] | None = None,
        durable: bool = True,
        columns: Sequence[str] = (),
        proxy: Proxy | None = None,
        clock: Callable[[], float] = time.monotonic,
        connect: Callable[..., Connections] = connections,
    ) -> None:
        unknowns = len(job.x0)
        if job.privacy is not None and job.privacy.answer is not None:
            cost = clipped_to(cost, job.privacy.answer)  # whatever its maker did: nobody else can see to it
        if cost.dim != unknowns:
            raise CostError(f"the cost has {cost.dim} unknown(s), and the run has {unknowns}.")
        self.job, self.seat, self.me, self.cost, self.key = job, seat, seat.me, cost, Path(key)
        job.algorithm.refuse(job.x0, cost)
        self.file = Path(folder) / f"{seat.stem}.state"
        self.neighbours = seat.neighbours(job.network)
        """The names of those whom this member is linked to."""
        self.result = self.file.with_suffix(".done")
        """What is left when the run is over: the answer, and nothing secret."""
        self.evidence = self.file.with_suffix(".evidence")
        """What is left when neighbours were told different things: both digests, signed."""
        curvature = job.privacy is not None and job.privacy.kind == "quadratic"
        self._longest = longest(
            unknowns,
            curvature=curvature or Summand.HESSIANS in job.algorithm.sums,
            points=job.algorithm.points_at_once,
        )
        if self._longest >= 1 << 32:
            raise InputError(f"{cost.dim} unknowns are too many for Hessians; use lbfgs or fista.")
        if listen is not None and seat.listens is None:
            raise InputError(f"{seat.me} only dials out: its card has no address, so that nobody would connect.")
        self._listen, self._proxy = listen, proxy
        self._durable, self._clock, self._dial = durable, clock, connect
        self._gossips = not job.algorithm.sums
        self._draw = ""
        self._columns = digest_of_columns(columns, seat.session)
        self._limits = digest_of_limits(cost.limits, seat.session) if job.algorithm.sums else ""
        self.connections: Connections | None = None
        self._store: Store | None = None
        self.traffic = Traffic()
        self.needed_by: tuple[str, ...] = ()
        """Who has not said goodbye though this member has its answer: the state file is kept for them."""
        self._refuse_bad_key()
        if not self.file.parent.is_dir():
            raise FileError(f"{self.file.parent}: the folder does not exist.")

    def _refuse_bad_key(self) -> None:
        certificate = self.key.with_suffix(".crt")
        for path in (self.key, certificate):
            if not path.exists():
                raise InputError(
                    f"{path}: is not there; a key and its certificate lie side by side.",
                    command="`tacit keygen` makes both.",
                )
        if self.key.stat().st_mode & 0o077:
            raise InputError(f"{self.key}: others can read it; use chmod 600.")
        if is_locked(self.key):
            read_key(self.key)  # refuses a wrong passphrase before anything else
        if der(certificate.read_bytes()) != der(self.seat.place.certificate):
            raise InputError(f"{certificate}: is not the certificate by which the others know {self.me}.")

    @property
    def stage(self) -> Stage:
        """How far the run has come since this agent was started."""
        if self._store is not None:
            return self._store.record.stage
        return Stage.FRESH if self.connections is None else Stage.ERASED  # only goodbyes are said without a file

    def draw(self) -> str:
        """Return a name of this run's masks: a one-way digest of their key, or nothing before they are drawn."""
        if not self._draw and self.file.exists() and self._finished() is None:  # what is being erased is not read
            try:
                with Store(self.file) as store:
                    return store.record.draw
            except sqlite3.Error as error:
                raise self._unwritten(error) from error
        return self._draw

    def run(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        on_wait: Callable[[str, float], None] | None = None,
        on_commit: Callable[[], None] | None = None,
        on_answer: Callable[[Outcome], None] | None = None,
        tap: Tap | None = None,
    ) -> Outcome:
        """Take part until all agents stop, and return the answer; a run that is over is not begun again.

        *on_commit* is called after phase 1, when all agents have their masks and before anything is published:
        again after every restart. *on_answer* gets the answer as soon as there is one; the agent then stays while
        a neighbour needs something, for the patience at most, and `needed_by` says who still did at the end. *tap*
        listens at the links.
        """
        hooks = (on_progress, on_wait, on_commit, on_answer, tap)
        if not _in_a_loop():
            return self._run(*hooks)
        with ThreadPoolExecutor(1) as aside:  # the links bring a loop of their own
            return aside.submit(self._run, *hooks).result()

    def _run(
        self,
        on_progress: Callable[[Progress], None] | None,
        on_wait: Callable[[str, float], None] | None,
        on_commit: Callable[[], None] | None,
        on_answer: Callable[[Outcome], None] | None,
        tap: Tap | None,
    ) -> Outcome:
        give_back_long_vectors(8 * len(self.job.x0))
        over, self.connections, self.needed_by = self._finished(), None, ()
        if over is not None:
            return self._answered(over, on_answer)
        with self._open() as store:
            self._store = store
            try:
                self._begin(store)
                if not store.record.has_ended:
                    self._take_part(store, on_progress, on_wait, on_commit, tap)
                outcome = outcome_of(store.record.outcome)
                if on_answer is not None:
                    on_answer(outcome)
                self.needed_by = part(self._online(store), store, patience=self.seat.patience, clock=self._clock)
                if store.record.stage is Stage.PARTED:
                    write_whole(self.result, step(store.record, Erase()).encode())
                    store.erase()
                return outcome
            except (ProtocolError, StoppedError) as error:
                if isinstance(error, EquivocationError):
                    write_whole(self.evidence, signed(error, seat=self.seat, key=self.key))
                if self.connections is not None:
                    sound(error, self.connections, me=self.me, clock=self._clock)
                raise
            except (sqlite3.Error, OSError) as error:
                if isinstance(error, OSError) and error.errno not in _NO_ROOM:
                    raise
                raise self._unwritten(error) from error
            finally:
                if self.connections is not None:
                    self.connections.stop()

    def _open(self) -> Store:
        try:
            return Store(self.file, durable=self._durable, numbers=len(self.job.x0), threaded=True)
        except sqlite3.Error as error:
            raise self._unwritten(error) from error

    def _unwritten(self, error: Exception) -> FileError:
        if isinstance(error, sqlite3.Error) and error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return FileError(f"{self.file}: is in use; an agent of {self.me} is running already.")
        if isinstance(error, sqlite3.Error) and not is_of_surroundings(error):
            return DamagedError(f"{self.file}: {DAMAGED}")
        return FileError(
            f"{self.file}: cannot be written ({error}). What was not written was not sent either: make room, and "
            "start this agent again; the run goes on."
        )

    def _begin(self, store: Store) -> None:
        """Bind the run to its manifest and its cost, with what an earlier epoch brings; or go on where it was."""
        seat, cost = self.seat, digest_of_cost(self.cost, self.job.x0, self.key)
        carried = None
        if seat.epoch and not store.record.has_begun:
            carried = take_over(self.file, seat, cost=cost)
        store.advance(Begin(seat.session, cost, seat.agreement, tuple(self.neighbours), os.urandom(32), carried))
        if seat.epoch:
            leave_behind(self.file, seat, cost=cost)
        self._draw = store.record.draw

    def _take_part(
        self,
        store: Store,
        on_progress: Callable[[Progress], None] | None,
        on_wait: Callable[[str, float], None] | None,
        on_commit: Callable[[], None] | None,
        tap: Tap | None,
    ) -> None:
        """Run both phases on links that remember, and write down how they end."""
        network, carried = self.job.network, store.record.carried
        source = Keystream(store.record.key)
        connections, transcript = self._online(store), Transcript()
        links = DurableLinks(
            self.neighbours,
            connections,
            store,
            source,
            members=self.seat.members,
            transcript=transcript,
            gossips=self._gossips,
            patience=self.seat.patience,
            on_wait=on_wait,
            clock=self._clock,
        )
        i = self.seat.index
        own_weight, weights = own_weights(network, self.job.weights, i)
        neighbours = LinkedPeers(
            links,
            network=network,
            me=i,
            own_weight=own_weight,
            weights=weights,
            names=self.neighbours,
            transcript=transcript,
        )
        around, rows = tapped(tap, i, neighbours), row_ranges(network.degrees)[i]

        def hide(cost: Family, peers: Peers) -> Hidden:
            """Run phase 1, unless its masks were carried here from an earlier epoch and somebody has used them."""
            once = drawn_afresh(self.job.privacy)  # such masks serve one sum anyway
            if carried is not None:
                published = around.aside().sum(np.array([float(carried.committed)]), add=np.maximum)
                if carried.committed and not published[0]:
                    raise ProtocolError(
                        "a neighbour denies what this member has published: its masks stay as they are."
                    )
                if published[0] and not once:
                    store.advance(Reuse())
                    return hide_again(carried, cost, peers, seat=self.seat)
            store.advance(Draw(once=once))
            if self.job.privacy is None:
                return Hidden(cost, peers)
            return self.job.privacy.hide(cost, peers, source, network=network, rows=rows)

        def committed() -> None:
            store.advance(Commit())
            if on_commit is not None:
                on_commit()
            store.advance(Publish())

        outcome = run_agent(
            self._from(carried),
            self.cost,
            around,
            source,
            rows=rows,
            memory=links,
            barriers=True,
            hide=hide,
            on_commit=committed,
            on_progress=on_progress,
        )
        links.flush()
        self.traffic = neighbours.traffic
        channels = [connections.neighbours[name].channel for name in self.neighbours]
        store.advance(End([Mark(c.cursor, c.used) for c in channels], written(outcome)))  # before any goodbye

    def _from(self, carried: Carried | None) -> Job:
        """Return the job, from where the epoch before had come; where all must hold the same x, from its start."""
        if carried is None or self.job.algorithm.sums:
            return self.job
        return dataclasses.replace(self.job, x0=start(carried, self.job.x0))

    def _answered(self, record: Record, on_answer: Callable[[Outcome], None] | None) -> Outcome:
        """Return the answer of a run that is over; its private file, if a crash has left it, goes now.

        Neighbours that are still there hear a goodbye once more.
        """
        remove(self.file)
        outcome = outcome_of(record.outcome)
        if on_answer is not None:
            on_answer(outcome)
        channels = finished(self.seat, record, limit=self._longest, columns=self._columns)
        with contextlib.suppress(NetworkError):  # where another run listens by now, nobody waits for this one
            self.connections = self._connected(channels)
            try:
                say_goodbye_again(self.connections, clock=self._clock)
            finally:
                self.connections.stop()
        return outcome

    def _finished(self) -> Record | None:
        """Return what is left of a run that is over; nothing where the private file still knows better."""
        if not self.result.exists():
            return None
        try:
            refuse_shared(self.result, mode=0o022)
            return Record.decode(self.result.read_bytes())
        except DamagedError as error:
            if self.file.exists():
                return None
            raise DamagedError(f"{self.result}: is damaged; the answer is with the other members.") from error
        except FileError as error:
            raise FileError(f"{self.result}: {error}") from None

    def _online(self, store: Store) -> Connections:
        """Return the links, open, with what each was told and has told before: once, from wherever the run is."""
        if self.connections is None:
            channels = restored(
                self.seat,
                store,
                limit=self._longest,
                columns=self._columns,
                limits=self._limits,
                gossips=self._gossips,
            )
            self.connections = self._connected(channels)
        return self.connections

    def _connected(self, channels: dict[str, Channel]) -> Connections:
        links = self._dial(self.seat, self.key, channels, listen=self._listen, proxy=self._proxy, clock=self._clock)
        links.start()
        return links


def _in_a_loop() -> bool:
    """Tell whether an event loop runs in this thread already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
