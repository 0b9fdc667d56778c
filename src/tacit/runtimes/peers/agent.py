"""One member of a federation: its cost, its key, its links, its file, and the answer.

    agent = Agent("federation.toml", cost, me="north", key="north.key")
    agent.run().x

`run` waits for the others, goes on after a crash from where it was, and ends in the same round as everybody else.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from tacit.costs import Family
from tacit.errors import CostError, FileError, InputError
from tacit.masks import Keystream
from tacit.network import mixing_weights
from tacit.protocol import Channel, Frame, Kind, longest
from tacit.runtimes.agent import Outcome, row_ranges, run_agent
from tacit.runtimes.neighbours import Neighbours
from tacit.runtimes.peers.connections import Connections, Neighbour
from tacit.runtimes.peers.identity import context, der
from tacit.runtimes.peers.links import PeerLinks
from tacit.runtimes.peers.manifest import Manifest, address_of
from tacit.runtimes.peers.store import Store
from tacit.runtimes.stopping import Check, Progress, Verdict
from tacit.runtimes.tap import Tap, tapped
from tacit.runtimes.traffic import Traffic

_LINGER = 10.0  # seconds to wait, after the end, for neighbours who may want something again


class Agent:
    """One member. *folder* keeps its private state; *key* is its private key, with the certificate beside it."""

    def __init__(
        self,
        manifest: Manifest | str | Path,
        cost: Family,
        *,
        me: str,
        key: str | Path,
        folder: str | Path = ".",
        listen: tuple[str, int] | None = None,
        durable: bool = True,
    ) -> None:
        self.manifest = manifest if isinstance(manifest, Manifest) else Manifest.read(Path(manifest))
        if me not in self.manifest.members:
            raise InputError(f"{me!r} is no member; the manifest has {', '.join(self.manifest.members)}.")
        if cost.dim != self.manifest.unknowns:
            raise CostError(f"the cost has {cost.dim} unknown(s), and the manifest says {self.manifest.unknowns}.")
        self.me, self.cost, self.key = me, cost, Path(key)
        self.job = self.manifest.job()
        self.file = Path(folder) / f"{me}-{self.manifest.session()[:12]}.state"
        self.result = self.file.with_suffix(".done")
        """What is left when the run is over: the answer, and nothing secret."""
        self._listen = listen or address_of(self.manifest.members[me])
        self._durable = durable
        self.connections: Connections | None = None
        self.traffic = Traffic()
        self._refuse_bad_key()

    def _refuse_bad_key(self) -> None:
        certificate = self.key.with_suffix(".crt")
        for path in (self.key, certificate):
            if not path.exists():
                raise InputError(f"{path}: is not there; `tacit keygen` makes a key and its certificate.")
        if self.key.stat().st_mode & 0o077:
            raise InputError(f"{self.key}: others can read it; use chmod 600.")
        if der(certificate.read_bytes()) != der(self.manifest.members[self.me].certificate):
            raise InputError(f"{certificate}: is not the certificate that the manifest has for {self.me}.")

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
        answer = self._answered()
        if answer is not None:
            return answer
        network, order = self.job.network, list(self.manifest.members)
        i = order.index(self.me)
        names = [order[j] for j in network.neighbours(i)]
        store = Store(self.file, durable=self._durable, numbers=self.manifest.unknowns)
        try:
            store.check("session", self.manifest.session().encode(), "belongs to another manifest.")
            store.check(
                "cost", self._digest(), "was begun with other data; a run must end with those it began with."
            )
            source = Keystream(store.fix("key", os.urandom(32)))
            self.connections = self._connect(names, store)
            links = PeerLinks(
                names, self.connections, store, source, patience=self.manifest.stop.patience, on_wait=on_wait
            )
            W = mixing_weights(network, self.job.weights).tocsr()
            row = W[[i]].toarray()[0]
            mine = network.neighbours(i)
            heard, announce = tapped(tap, i, mine.tolist(), links)
            neighbours = Neighbours(
                heard,
                me=i,
                neighbours=mine.tolist(),
                agents=len(network),
                own_weight=float(row[i]),
                weights=row[mine],
                announce=announce,
            )
            self.connections.start()
            known = store.get("outcome")
            if known is None:
                outcome = run_agent(
                    self.job,
                    self.cost,
                    neighbours,
                    source,
                    rows=row_ranges(network.degrees)[i],
                    memory=links,
                    barriers=True,
                    on_commit=on_commit,
                    on_progress=on_progress,
                )
                links.flush()
                known = store.fix("outcome", _told(outcome))  # before goodbye: nothing is needed any more
                self.traffic = neighbours.traffic
            if self._confirmed(store):
                _write_whole(self.result, known)
                store.erase()
            else:
                store.close()
            return _outcome(known)
        except BaseException:
            store.close()
            raise
        finally:
            if self.connections is not None:
                self.connections.stop()

    def _answered(self) -> Outcome | None:
        """Return the answer of a run that is over; its private file, if a crash has left it, goes now."""
        if not self.result.exists():
            return None
        try:
            answer = _outcome(self.result.read_bytes())
        except msgspec.MsgspecError as error:
            if self.file.exists():  # which still knows
                return None
            raise FileError(f"{self.result}: is damaged; the answer is with the other members.") from error
        if self.file.exists():
            Store(self.file).erase()
        return answer

    def _connect(self, names: list[str], store: Store) -> Connections:
        members, order = self.manifest.members, list(self.manifest.members)
        position, outbox = store.position(), store.outbox()
        neighbours = {}
        for row, name in enumerate(names):
            channel = Channel(
                me=self.me,
                neighbour=name,
                session=self.manifest.session(),
                parts=self.manifest.parts(),
                limit=longest(self.manifest.unknowns),
            )
            channel.restore(
                outbox.get(row, []),
                store.journal(row),
                cursor=position.cursors[row] if position else 0,
                used=position.used[row] if position else 0,
            )
            channel.finished = store.get(f"goodbye of {name}") is not None
            host, port = address_of(members[name])
            neighbours[name] = Neighbour(
                name=name,
                host=host,
                port=port,
                certificate=der(members[name].certificate),
                dials=order.index(name) < order.index(self.me),
                channel=channel,
            )
        trusted = [members[name].certificate for name in names]
        certificate = self.key.with_suffix(".crt")
        return Connections(
            neighbours,
            listen=self._listen,
            server=context(self.key, certificate, trusted, server=True),
            client=context(self.key, certificate, trusted, server=False),
            idle=self.manifest.stop.idle,
        )

    def _digest(self) -> bytes:
        """Return a digest of the cost that tells nothing without the cost: keyed by this member's private key."""
        try:
            data = pickle.dumps(self.cost)
        except Exception:
            data = type(self.cost).__name__.encode()
        return hashlib.blake2b(data, key=hashlib.sha256(self.key.read_bytes()).digest()).digest()

    def _confirmed(self, store: Store) -> bool:
        """Say goodbye, stay while a neighbour may still want something, and tell whether all have said the same.

        A neighbour that is away may come back and want messages again: then the file is kept, and starting this
        agent once more serves them.
        """
        connections = self.connections
        if connections is None:
            return False
        deadline = time.monotonic() + _LINGER
        said: set[tuple[str, int]] = set()
        while time.monotonic() < deadline:
            with connections.guard:
                waiting = [n for n in connections.neighbours.values() if not n.channel.finished]
                gone = [n.name for n in connections.neighbours.values() if n.channel.finished]
                greet = [
                    (n.name, Frame(Kind.BYE, 0, n.channel.used).encode())
                    for n in connections.neighbours.values()
                    if n.open and (n.name, n.connected) not in said
                ]
            for name in gone:
                store.fix(f"goodbye of {name}", b"")
            connections.write(greet)
            said |= {(name, connections.neighbours[name].connected) for name, _ in greet}
            if not waiting:
                connections.wait(lambda: False, 0.02)
                return True
            if any(n.open for n in waiting):
                deadline = time.monotonic() + _LINGER
            connections.wait(lambda: all(n.channel.finished for n in connections.neighbours.values()), 0.05)
        return False


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _told(outcome: Outcome) -> bytes:
    return msgspec.msgpack.encode((outcome.x.tobytes(), outcome.rounds, outcome.verdict, outcome.history))


def _outcome(told: bytes) -> Outcome:
    x, rounds, verdict, history = msgspec.msgpack.decode(told, type=tuple[bytes, int, Verdict, tuple[Check, ...]])
    return Outcome(np.frombuffer(x), rounds, verdict, history)
