"""One member of a run: its cost, its key, its links, its file, and the answer.

    agent = Agent(job, seat, cost, key="north.key")        # `tacit.federation.join` has both from a manifest
    agent.run().x

`run` waits for the others, goes on after a crash from where it was, and ends in the same round as everybody else.
"""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import hashlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import msgspec
import numpy as np

from tacit.algorithms import Standardised
from tacit.costs import Family
from tacit.errors import CostError, FileError, InputError, ProtocolError, TacitError
from tacit.masks import Hidden, Keystream, drawn_afresh
from tacit.network import mixing_weights
from tacit.protocol import longest
from tacit.runtimes.agent import Outcome, row_ranges, run_agent
from tacit.runtimes.job import Job
from tacit.runtimes.neighbours import Neighbours
from tacit.runtimes.peers.connections import Connections
from tacit.runtimes.peers.ending import outcome_of, part, told, write_whole
from tacit.runtimes.peers.epochs import Carried, carry, hide_again, start
from tacit.runtimes.peers.identity import der
from tacit.runtimes.peers.linking import channel, connections
from tacit.runtimes.peers.links import PeerLinks
from tacit.runtimes.peers.seat import Seat
from tacit.runtimes.peers.store import Store, remove
from tacit.runtimes.stopping import Progress
from tacit.runtimes.tap import Tap, tapped
from tacit.runtimes.traffic import Traffic
from tacit.typing import Peers, Summand

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


class Agent:
    """One member, with its *seat* in a *job* whose other costs are elsewhere.

    *folder* keeps its private state; *key* is its private key, with the certificate beside it. *columns* are the
    names of the unknowns, where the data have any: neighbours who have others are refused.
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
    ) -> None:
        unknowns = len(job.x0)
        if cost.dim != unknowns:
            raise CostError(f"the cost has {cost.dim} unknown(s), and the manifest says {unknowns}.")
        self.job, self.seat, self.me, self.cost, self.key = job, seat, seat.me, cost, Path(key)
        if isinstance(job.algorithm, Standardised):
            job.algorithm.init(job.x0, cost)  # refuses a cost that has no columns or no facts
        self.file = Path(folder) / f"{seat.stem}.state"
        self.neighbours = seat.neighbours(job.network)
        """The names of those whom this member is linked to."""
        self.result = self.file.with_suffix(".done")
        """What is left when the run is over: the answer, and nothing secret."""
        curvature = job.privacy is not None and job.privacy.kind == "quadratic"
        self._longest = longest(unknowns, curvature=curvature or Summand.HESSIANS in job.algorithm.sums)
        if self._longest >= 1 << 32:
            raise InputError(f"{cost.dim} unknowns are too many for Hessians; use lbfgs or fista.")
        self._listen = listen or seat.place[:2]
        self._durable = durable
        self._draw = ""
        self._columns = _hashed(columns, seat.session)
        self.connections: Connections | None = None
        self.traffic = Traffic()
        self._refuse_bad_key()
        if not self.file.parent.is_dir():
            raise FileError(f"{self.file.parent}: the folder does not exist.")

    def _refuse_bad_key(self) -> None:
        certificate = self.key.with_suffix(".crt")
        for path in (self.key, certificate):
            if not path.exists():
                raise InputError(f"{path}: is not there; `tacit keygen` makes a key and its certificate.")
        if self.key.stat().st_mode & 0o077:
            raise InputError(f"{self.key}: others can read it; use chmod 600.")
        if der(certificate.read_bytes()) != der(self.seat.place.certificate):
            raise InputError(f"{certificate}: is not the certificate that the manifest has for {self.me}.")

    def draw(self) -> str:
        """Return a name of this run's masks: a one-way digest of their key, or nothing before they are drawn."""
        if not self._draw and self.file.exists():
            try:
                with Store(self.file) as store:
                    return store.draw()
            except sqlite3.OperationalError as error:
                raise self._unwritten(error) from error
        return self._draw

    def run(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        on_wait: Callable[[str, float], None] | None = None,
        on_commit: Callable[[], None] | None = None,
        tap: Tap | None = None,
    ) -> Outcome:
        """Take part until all agents stop, and return the answer; a run that is over is not begun again.

        *on_commit* is called after phase 1, when all agents have their masks and before anything is published:
        again after every restart. *tap* listens at the links.
        """
        if not _in_a_loop():
            return self._run(on_progress, on_wait, on_commit, tap)
        with ThreadPoolExecutor(1) as aside:  # the links bring a loop of their own
            return aside.submit(self._run, on_progress, on_wait, on_commit, tap).result()

    def _run(
        self,
        on_progress: Callable[[Progress], None] | None,
        on_wait: Callable[[str, float], None] | None,
        on_commit: Callable[[], None] | None,
        tap: Tap | None,
    ) -> Outcome:
        answer = self._answered()
        if answer is not None:
            return answer
        store = self._open()
        try:
            self._refuse_other_manifest(store)
            cost = self._digest()
            carried = self._carried(store, cost)
            store.check("cost", cost, "was begun with other data; a run must end with those it began with.")
            self.connections = self._connect(store)
            self.connections.start()
            known = store.get("outcome")
            if known is None:
                outcome = self._take_part(store, carried, on_progress, on_wait, on_commit, tap)
                channels = [self.connections.neighbours[name].channel for name in self.neighbours]
                store.fix("ended", msgspec.json.encode([(c.cursor, c.used) for c in channels]))
                known = store.fix("outcome", told(outcome))  # before goodbye: nothing is needed any more
            if part(self.connections, store):
                write_whole(self.result, known)
                store.erase()
            return outcome_of(known)
        except (sqlite3.OperationalError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_ROOM:
                raise
            raise self._unwritten(error) from error
        finally:
            if self.connections is not None:
                self.connections.stop()
            store.close()

    def _open(self) -> Store:
        try:
            return Store(self.file, durable=self._durable, numbers=len(self.job.x0))
        except sqlite3.OperationalError as error:
            raise self._unwritten(error) from error
        except sqlite3.DatabaseError as error:
            raise FileError(
                f"{self.file}: is damaged. Keep it, and tell the others: a run whose masks are lost cannot go on."
            ) from error

    def _unwritten(self, error: Exception) -> FileError:
        if isinstance(error, sqlite3.Error) and error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return FileError(f"{self.file}: is in use; an agent of {self.me} is running already.")
        return FileError(
            f"{self.file}: cannot be written ({error}). What was not written was not sent either: make room, and "
            "start this agent again; the run goes on."
        )

    def _refuse_other_manifest(self, store: Store) -> None:
        """Refuse to go on with another manifest, or where a later epoch has begun."""
        if store.get("superseded") is not None:
            raise TacitError(f"{self.file}: this member has gone on in a later epoch, and cannot go back.")
        store.fix("manifest", self.seat.agreement)
        store.check("session", self.seat.session.encode(), "belongs to another manifest.")

    def _take_part(
        self,
        store: Store,
        carried: Carried | None,
        on_progress: Callable[[Progress], None] | None,
        on_wait: Callable[[str, float], None] | None,
        on_commit: Callable[[], None] | None,
        tap: Tap | None,
    ) -> Outcome:
        """Run both phases on links that remember."""
        network = self.job.network
        source = Keystream(store.fix("key", os.urandom(32)))
        self._draw = store.draw()
        patience, connections = self.seat.patience, cast(Connections, self.connections)
        links = PeerLinks(self.neighbours, connections, store, source, patience=patience, on_wait=on_wait)
        i, mine = self.seat.index, network.neighbours(self.seat.index)
        row = mixing_weights(network, self.job.weights).tocsr()[[i]].toarray()[0]
        neighbours = Neighbours(
            links,
            me=i,
            neighbours=mine.tolist(),
            agents=len(network),
            own_weight=float(row[i]),
            weights=row[mine],
            names=self.neighbours,
        )
        around, rows = tapped(tap, i, neighbours), row_ranges(network.degrees)[i]

        def hide(cost: Family, peers: Peers) -> Hidden:
            """Run phase 1, unless its masks were carried here from an earlier epoch and somebody has used them."""
            if carried is not None:
                published = around.aside().sum(np.array([float(carried.committed)]), add=np.maximum)
                if carried.committed and not published[0]:
                    raise ProtocolError(
                        "a neighbour denies what this member has published: its masks stay as they are."
                    )
                if published[0] and not drawn_afresh(self.job.privacy):  # whose masks serve one sum anyway
                    return hide_again(carried, cost, peers, seat=self.seat)
            store.fix("drawn", b"")
            if self.job.privacy is None:
                return Hidden(cost, peers)
            return self.job.privacy.hide(cost, peers, source, network=network, rows=rows)

        def committed() -> None:
            store.fix("committed", b"")
            if on_commit is not None:
                on_commit()

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
        return outcome

    def _carried(self, store: Store, cost: bytes) -> Carried | None:
        """Return what this member brings from the epoch before; None in the first."""
        if not self.seat.epoch:
            return None
        return carry(self.file, self.seat, store, cost=cost)

    def _from(self, carried: Carried | None) -> Job:
        """Return the job, from where the epoch before had come; where all must hold the same x, from its start."""
        if carried is None or self.job.algorithm.sums:
            return self.job
        return dataclasses.replace(self.job, x0=start(carried, self.job.x0))

    def _answered(self) -> Outcome | None:
        """Return the answer of a run that is over; its private file, if a crash has left it, goes now."""
        if not self.result.exists():
            return None
        try:
            answer = outcome_of(self.result.read_bytes())
        except msgspec.MsgspecError as error:
            if self.file.exists():  # which still knows
                return None
            raise FileError(f"{self.result}: is damaged; the answer is with the other members.") from error
        remove(self.file)
        return answer

    def _connect(self, store: Store) -> Connections:
        position, outbox, told_end = store.position(), store.outbox(), store.get("ended")
        ended = None if told_end is None else msgspec.json.decode(told_end, type=list[tuple[int, int]])
        channels = {}
        for row, name in enumerate(self.neighbours):
            link = channel(self.seat, name, limit=self._longest, columns=self._columns)
            at = (position.cursors[row], position.used[row]) if position else (0, 0)
            link.restore(outbox.get(row, []), store.journal(row), cursor=at[0], used=at[1])
            if ended is not None:  # and only goodbyes are missing
                link.restore(outbox.get(row, []), [], cursor=ended[row][0], used=ended[row][1])
                link.rewind(cursor=ended[row][0], used=ended[row][1])
            link.finished = store.get(f"goodbye of {name}") is not None
            channels[name] = link
        return connections(self.seat, self.key, channels, listen=self._listen)

    def _digest(self) -> bytes:
        """Return a digest of the cost that tells nothing without the cost: keyed by this member's private key.

        What it does at a few points stands for it, to eight digits: other machines round the last ones otherwise.
        """
        x0 = self.job.x0
        told = [type(self.cost).__name__]
        with np.errstate(all="ignore"):
            for x in (x0, x0 + 1.0, x0 + np.cos(np.arange(len(x0)))):
                for what in (self.cost.grad(x), self.cost.rough_prox(x, 1.0)):
                    told += [f"{value:.7e}" for value in np.asarray(what, dtype=np.float64).ravel()]
        data = " ".join(told).encode()
        return hashlib.blake2b(data, key=hashlib.sha256(self.key.read_bytes()).digest()).digest()


def _hashed(columns: Sequence[str], session: str) -> str:
    """Return a hash of the columns' names; nothing where there are none."""
    named = msgspec.json.encode((session, tuple(columns)))
    return hashlib.sha256(named).hexdigest()[:32] if columns else ""


def _in_a_loop() -> bool:
    """Tell whether an event loop runs in this thread already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
