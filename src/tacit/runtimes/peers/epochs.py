"""Going on without a member that has left, or without a link that is down for good.

The members who stay agree on a new manifest, the next *epoch*: the same run without the leaver. Whoever starts an
agent with it accepts it; nobody can be made to. Before anything was published the leaver costs nothing: all draw
new masks. Afterwards the masks stay, and everybody cancels the terms that it shared with the leaver d:

    a_j ← a_j − (r_dj − r_jd)          so that Σ a_j = 0 over those who stay

New masks would be worse: the same leak of the leaver, and a second noisy view of everybody else. A link that is
down between two members who both stay keeps its terms, which still cancel.

What that costs: whoever saw all effective costs before and after can subtract them, and knows what the leaver's
masks hid; and for the others the leaver counts as corrupted (the certificate of the network without it).

An agent that has gone on cannot go back: its former file is emptied and says so. The terms are drawn and received
once: here they are worked out again from the former key and journal, and never sent again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tacit.costs import Family
from tacit.errors import FileError, InputError, TacitError
from tacit.masks import Hidden, Keystream
from tacit.masks.mechanism import Rounded
from tacit.protocol import decode
from tacit.runtimes.agent import row_ranges
from tacit.runtimes.neighbours import Message, Neighbours
from tacit.runtimes.peers.manifest import Manifest
from tacit.runtimes.peers.store import Store, draw_of
from tacit.typing import Array, Numbers, Peers


class Carried(msgspec.Struct, frozen=True):
    """What an agent takes into the next epoch. As secret as the file that it comes from."""

    manifest: bytes
    """Of the epoch in which the masks were exchanged."""
    key: bytes
    journal: list[list[bytes]]
    cost: bytes
    """The digest of the cost: masks serve one cost, and no other."""
    committed: bool
    """Whether anything may have been published under these masks."""
    x: bytes
    """The own estimate at the last checkpoint; empty without one."""

    def __repr__(self) -> str:
        return "Carried(…)"


def without(manifest: Manifest, *, members: Iterable[str] = (), links: Iterable[tuple[str, str]] = ()) -> Manifest:
    """Return the manifest of the next epoch: the same run without some members and links."""
    gone, links = set(members), list(links)
    down = {frozenset(link) for link in links}
    strange = sorted(gone - set(manifest.members))
    if strange:
        raise InputError(f"{strange[0]!r} is no member; the manifest has {', '.join(manifest.members)}.")
    missing = [link for link in links if frozenset(link) not in map(frozenset, manifest.links)]
    if missing:
        raise InputError(f"{missing[0][0]} and {missing[0][1]} are not linked.")
    if not gone and not down:
        raise InputError("say which member has left, or which link is down.")
    if gone and manifest.dropout != "exclude":
        raise InputError(
            'the members have agreed to wait (dropout = "wait"): nobody is left out of this run. Wait for '
            f"{', '.join(sorted(gone))}, or begin a new run under a new manifest."
        )
    stay = {name: member for name, member in manifest.members.items() if name not in gone}
    if len(stay) < 2:
        raise InputError(f"{len(stay)} member(s) would stay: there is nothing to agree on.")
    linked = [link for link in manifest.links if not gone & set(link) and frozenset(link) not in down]
    model = manifest.model
    if model is not None and gone:  # masks serve one cost: everybody keeps its share of the penalties
        model = msgspec.structs.replace(model, shares=model.shares or len(manifest.members))
    after = msgspec.structs.replace(
        manifest, members=stay, links=linked, model=model, epoch=manifest.epoch + 1, previous=manifest.session()
    )
    after.job()  # refuses what falls apart
    return after


class Brought(NamedTuple):
    """Where a member's masks come from, as far as it can tell before it goes on."""

    origin: Manifest
    """Of the epoch in which they were exchanged."""
    committed: bool
    """Whether this member may have published something under them: then it goes on with them, if Gaussian."""
    draw: str = ""
    """Names them: a one-way digest of their key."""


def brought(file: Path, manifest: Manifest, *, me: str) -> Brought | None:
    """Return what the member with this state *file* brings into a later epoch; None if there is nothing to read."""
    former = former_file(file, manifest, me)
    known = None
    if file.exists():
        store = Store(file)
        known = store.get("carried")
        store.close()
    if known is None and not former.exists():
        return None
    if known is None:
        with Store(former) as store:
            carried = _read(store, manifest, me)
    else:
        carried = msgspec.msgpack.decode(known, type=Carried)
    return Brought(msgspec.json.decode(carried.manifest, type=Manifest), carried.committed, draw_of(carried.key))


def former_file(file: Path, manifest: Manifest, me: str) -> Path:
    """Return the state file of the epoch before, beside that of this one."""
    return file.with_name(f"{me}-{manifest.previous[:12]}.state")


def carry(former: Path, manifest: Manifest, store: Store, *, me: str, cost: bytes) -> Carried:
    """Take what is needed from the former epoch's file, once, and empty that file."""
    known = store.get("carried")
    if known is not None:
        carried = msgspec.msgpack.decode(known, type=Carried)
        _refuse_other_data(carried, former, cost)
    else:
        if not former.exists():
            raise FileError(
                f"{former}: is not there; a later epoch goes on from the file of the one before it. A member that "
                "has ended, or lost its file, is left out of the next epoch too."
            )
        with Store(former) as before:  # marked first, emptied last: a crash in between leaves no way back
            carried = _read(before, manifest, me)
            _refuse_other_data(carried, former, cost)
            before.fix("superseded", manifest.session().encode())
        store.fix("carried", msgspec.msgpack.encode(carried))
    if former.exists():
        with Store(former) as before:
            before.empty()
    return carried


def _refuse_other_data(carried: Carried, former: Path, cost: bytes) -> None:
    if carried.cost != cost:
        raise TacitError(f"{former}: was begun with other data; a run must end with those it began with.")


def _read(store: Store, manifest: Manifest, me: str) -> Carried:
    """Return what the file of the former epoch brings into the one of *manifest*, which must follow from it."""
    by = store.get("superseded")
    if by is not None and by != manifest.session().encode():
        raise TacitError(
            f"{store.path}: this member has gone on under another manifest, session {by.decode()[:16]}."
        )
    own, earlier = store.get("manifest"), store.get("carried")
    key, cost = store.get("key"), store.get("cost")
    if own is None or key is None or cost is None or store.get("session") != manifest.previous.encode():
        raise TacitError(f"{store.path}: does not belong to the epoch before this one.")
    before = msgspec.json.decode(own, type=Manifest)
    refuse_stranger(before, manifest)
    recalled = store.recall()
    x = b"" if recalled is None else recalled.state[0].tobytes()
    committed = store.get("committed") is not None
    if earlier is not None and store.get("drawn") is None:  # that epoch went on with the masks of an earlier one
        carried = msgspec.msgpack.decode(earlier, type=Carried)
        return msgspec.structs.replace(carried, committed=carried.committed or committed, x=x or carried.x)
    rows = len(_neighbours(before, me))
    return Carried(own, key, [store.journal(row) for row in range(rows)], cost, committed, x)


def refuse_stranger(before: Manifest, after: Manifest) -> None:
    """Refuse a manifest that says anything else than the one before it, but who and which links are left out.

    Members may have moved to another address; their certificates stay.
    """
    stay = {name: before.members[name] for name in after.members if name in before.members}
    links = {frozenset(link) for link in after.links}
    down = [link for link in before.links if set(link) <= set(stay) and frozenset(link) not in links]
    expected = without(before, members=set(before.members) - set(stay), links=down)
    moved = {
        name: msgspec.structs.replace(member, address=stay[name].address) if name in stay else member
        for name, member in after.members.items()
    }
    if msgspec.structs.replace(after, members=moved) != expected:
        raise InputError(
            "this manifest does not follow from the one before it: from epoch to epoch members and links are left "
            "out, and nothing else changes."
        )


def hide_again(carried: Carried, cost: Family, peers: Peers, *, me: str, members: Iterable[str]) -> Hidden:
    """Return the effective cost under the carried masks, with the terms of all who are no *members* cancelled."""
    origin = msgspec.json.decode(carried.manifest, type=Manifest)
    job, names = origin.job(), _neighbours(origin, me)
    if job.privacy is None:
        return Hidden(cost, peers)
    i, stay = list(origin.members).index(me), set(members)
    replay = Neighbours(
        Replay(carried.journal),
        me=i,
        neighbours=job.network.neighbours(i).tolist(),
        agents=len(job.network),
        own_weight=1.0,
        weights=np.zeros(len(names)),
    )
    replay.aside().sum(np.zeros(1))  # the barrier before phase 1
    if origin.epoch:  # and whether anybody had published under masks of an earlier epoch: nobody had
        replay.aside().sum(np.zeros(1), add=np.maximum)
    cancelling = Cancelling(replay, np.array([name not in stay for name in names]))
    rows = row_ranges(job.network.degrees)[i]
    hidden = job.privacy.hide(cost, cancelling, Keystream(carried.key), network=job.network, rows=rows)
    return Hidden(hidden.cost, Rounded(peers, hidden.peers.resolution))


def _neighbours(manifest: Manifest, me: str) -> list[str]:
    names = list(manifest.members)
    return [names[j] for j in manifest.network().neighbours(names.index(me))]


class Replay:
    """`Links` on which everything was said before: what is sent goes nowhere, and what comes is in the journal."""

    def __init__(self, journal: Sequence[Sequence[bytes]]) -> None:
        self._journal = [iter(messages) for messages in journal]

    def send(self, neighbour: int, message: Message) -> None:
        """Say nothing."""

    def receive(self, neighbour: int) -> Message:
        """Return what the neighbour once sent."""
        body = next(self._journal[neighbour], None)
        if body is None:
            raise TacitError("the masks of this agent are not complete: it cannot go on without the one who left.")
        return decode(body)

    def flush(self) -> None:
        """Say nothing."""

    def exchange(self, messages: list[Message]) -> list[Message]:
        """Return what all neighbours once sent."""
        return [self.receive(row) for row in range(len(messages))]


class Cancelling:
    """`Peers` that leave the rows of those who are *gone* out of every total."""

    def __init__(self, peers: Peers, gone: Any) -> None:
        self._peers, self._gone = peers, gone
        self.degree, self.links, self.first, self.resolution = peers.degree, peers.links, peers.first, 0.0
        self.mix, self.gather, self.swap, self.sum = peers.mix, peers.gather, peers.swap, peers.sum

    def total(self, r: Numbers) -> Numbers:
        """Add up the rows of those who stay."""
        return self._peers.total(np.where(self._gone[:, None], r.dtype.type(0), r))


def start(carried: Carried, x0: Array) -> Array:
    """Return where to go on from: the own estimate, if there was one."""
    return np.frombuffer(carried.x).copy() if carried.x else x0
