"""Going on without a member that has left, or without a link that is down for good.

The members who stay agree on a new manifest, the next *epoch*: the same run without the leaver. Whoever starts an
agent with it accepts it; nobody can be made to. Before anything was published the leaver costs nothing: all draw
new masks. Afterwards the masks stay, and everybody cancels the terms that it shared with the leaver d:

    a_j ← a_j − (r_dj − r_jd)          so that Σ a_j = 0 over those who stay

New masks would be worse: the same leak of the leaver, and a second noisy view of everybody else. A link that is
down between two members who both stay keeps its terms, which still cancel.

What that costs: whoever saw all effective costs before and after can subtract them, and knows what the leaver's
masks hid; and for the others the leaver counts as corrupted (the certificate of the network without it).

An agent that has gone on cannot go back: its former file is marked first and emptied last, so that a crash in
between leaves no way back. The terms are drawn and received once: here they are worked out again from the former
key and journal, and never sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.costs import Family
from tacit.errors import FileError, TacitError
from tacit.masks import Hidden, Keystream
from tacit.masks.mechanism import Rounded
from tacit.protocol import decode
from tacit.protocol.frames import fetched
from tacit.protocol.record import Carried, Stage
from tacit.protocol.run import Supersede, carry
from tacit.runtimes.linked_peers import LinkedPeers, Message
from tacit.runtimes.peers.seat import Lineage, Seat
from tacit.runtimes.peers.store import Store
from tacit.runtimes.phases import row_ranges
from tacit.typing import Array, Numbers, Peers


def carried_by(file: Path, seat: Seat) -> Carried | None:
    """Return what the member with this state *file* brings into a later epoch; None if there is nothing to read."""
    former = _former(file, seat)
    if file.exists():
        with Store(file) as store:
            if store.record.carried is not None:
                return store.record.carried
    if not former.exists():
        return None
    with Store(former) as store:
        return _read(store, seat)


def take_over(file: Path, seat: Seat, *, cost: bytes) -> Carried:
    """Return what is needed from the file of the epoch before, which is marked: there is no way back to it."""
    former = _former(file, seat)
    if not former.exists():
        raise FileError(
            f"{former}: is not there; a later epoch goes on from the file of the one before it. A member that "
            "has ended, or lost its file, is left out of the next epoch too."
        )
    with Store(former) as before:
        carried = _read(before, seat)
        before.advance(Supersede(seat.session, seat.previous, cost))
    return carried


def leave_behind(file: Path, seat: Seat, *, cost: bytes) -> None:
    """Empty the file of the epoch before, if it is there: what it held is in *file*."""
    former = _former(file, seat)
    if former.exists():
        with Store(former) as before:
            if before.record.stage is not Stage.SUPERSEDED:  # a copy was put back
                before.advance(Supersede(seat.session, seat.previous, cost))
            before.forget()


def _former(file: Path, seat: Seat) -> Path:
    """Return the state file of the epoch before, beside that of this one."""
    return file.with_name(f"{seat.former_stem}.state")


def _lineage(seat: Seat) -> Lineage:
    if seat.lineage is None:
        raise TacitError(f"epoch {seat.epoch}: there is nothing here to read the epochs before it with.")
    return seat.lineage


def _read(store: Store, seat: Seat) -> Carried:
    """Return what the file of the former epoch brings into this one, which must follow from it."""
    recalled = store.recall()
    try:
        carried = carry(
            store.record,
            by=seat.session,
            previous=seat.previous,
            journal=[
                [bytes(fetched(body)) for body in store.journal(row)] for row in range(len(store.record.neighbours))
            ],
            x=b"" if recalled is None else recalled.state[0].tobytes(),
        )
    except TacitError as error:
        raise type(error)(f"{store.path}: {error}") from None
    _lineage(seat).before(store.record.agreement)  # refuses a manifest that does not follow
    return carried


def hide_again(carried: Carried, cost: Family, peers: Peers, *, seat: Seat) -> Hidden:
    """Return the effective cost under the carried masks, with the terms of all who have left cancelled."""
    origin = _lineage(seat).origin(carried.agreement)
    job, names = origin.job, origin.neighbours(seat.me)
    if job.privacy is None:
        return Hidden(cost, peers)
    i, stay = origin.members.index(seat.me), set(seat.members)
    replay = LinkedPeers(
        ReplayedLinks(carried.journal),
        network=job.network,
        me=i,
        own_weight=1.0,
        weights=np.zeros(len(names)),
    )
    replay.meet()  # before phase 1
    if origin.epoch:  # and whether anybody had published under masks of an earlier epoch: nobody had
        replay.aside().sum(np.zeros(1), add=np.maximum)
    cancelling = Cancelling(replay, np.array([name not in stay for name in names]))
    rows = row_ranges(job.network.degrees)[i]
    hidden = job.privacy.hide(cost, cancelling, Keystream(carried.key), network=job.network, rows=rows)
    return hidden.among(Rounded(peers, hidden.peers.resolution))


class ReplayedLinks:
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
