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

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tacit.costs import Family
from tacit.errors import FileError, TacitError
from tacit.masks import Hidden, Keystream
from tacit.masks.mechanism import Rounded
from tacit.protocol import decode
from tacit.runtimes.agent import row_ranges
from tacit.runtimes.neighbours import Message, Neighbours
from tacit.runtimes.peers.seat import Lineage, Seat
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

    @property
    def draw(self) -> str:
        """Names the masks: a one-way digest of their key."""
        return draw_of(self.key)

    def __repr__(self) -> str:
        return "Carried(…)"


def carried_by(file: Path, seat: Seat) -> Carried | None:
    """Return what the member with this state *file* brings into a later epoch; None if there is nothing to read."""
    former, kept = _former(file, seat), None
    if file.exists():
        with Store(file) as store:
            kept = store.get("carried")
    if kept is not None:
        return msgspec.msgpack.decode(kept, type=Carried)
    if not former.exists():
        return None
    with Store(former) as store:
        return _read(store, seat)


def _former(file: Path, seat: Seat) -> Path:
    """Return the state file of the epoch before, beside that of this one."""
    return file.with_name(f"{seat.former_stem}.state")


def _lineage(seat: Seat) -> Lineage:
    if seat.lineage is None:
        raise TacitError(f"epoch {seat.epoch}: there is nothing here to read the epochs before it with.")
    return seat.lineage


def carry(file: Path, seat: Seat, store: Store, *, cost: bytes) -> Carried:
    """Take what is needed from the file of the epoch before, once, and empty that file."""
    former, known = _former(file, seat), store.get("carried")
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
            carried = _read(before, seat)
            _refuse_other_data(carried, former, cost)
            before.fix("superseded", seat.session.encode())
        store.fix("carried", msgspec.msgpack.encode(carried))
    if former.exists():
        with Store(former) as before:
            before.empty()
    return carried


def _refuse_other_data(carried: Carried, former: Path, cost: bytes) -> None:
    if carried.cost != cost:
        raise TacitError(f"{former}: was begun with other data; a run must end with those it began with.")


def _read(store: Store, seat: Seat) -> Carried:
    """Return what the file of the former epoch brings into this one, which must follow from it."""
    by = store.get("superseded")
    if by is not None and by != seat.session.encode():
        raise TacitError(
            f"{store.path}: this member has gone on under another manifest, session {by.decode()[:16]}."
        )
    own, earlier = store.get("manifest"), store.get("carried")
    key, cost = store.get("key"), store.get("cost")
    if own is None or key is None or cost is None or store.get("session") != seat.previous.encode():
        raise TacitError(f"{store.path}: does not belong to the epoch before this one.")
    before = _lineage(seat).before(own)
    recalled = store.recall()
    x = b"" if recalled is None else recalled.state[0].tobytes()
    committed = store.get("committed") is not None
    if earlier is not None and store.get("drawn") is None:  # that epoch went on with the masks of an earlier one
        carried = msgspec.msgpack.decode(earlier, type=Carried)
        return msgspec.structs.replace(carried, committed=carried.committed or committed, x=x or carried.x)
    rows = len(before.neighbours(seat.me))
    return Carried(own, key, [store.journal(row) for row in range(rows)], cost, committed, x)


def hide_again(carried: Carried, cost: Family, peers: Peers, *, seat: Seat) -> Hidden:
    """Return the effective cost under the carried masks, with the terms of all who have left cancelled."""
    origin = _lineage(seat).origin(carried.manifest)
    job, names = origin.job, origin.neighbours(seat.me)
    if job.privacy is None:
        return Hidden(cost, peers)
    i, stay = origin.members.index(seat.me), set(seat.members)
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
