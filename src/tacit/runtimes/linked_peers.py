"""One agent's reading of `Peers`: no agent axis; row k belongs to the k-th neighbour, by increasing id."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import EquivocationError, ProtocolError
from tacit.network import Network
from tacit.runtimes.traffic import Traffic
from tacit.runtimes.transcript import DIGEST_WORDS, Transcript, hexadecimal
from tacit.typing import Array, Numbers, Peers, Rows

Message = NDArray[Any]
_PIECE = 1 << 15  # numbers


class Links(Protocol):
    """All links of one agent, as its algorithm uses them. Messages on one link arrive in the order of sending.

    Implementations are called after how they are made: `QueueLinks`, `DurableLinks`, `ReplayedLinks`.
    """

    def send(self, neighbour: int, message: Message) -> None:
        """Send something to the neighbour of that row; do not wait for it to arrive."""

    def flush(self) -> None:
        """Let what was sent go now, where it would else wait for the next message to be wanted."""

    def receive(self, neighbour: int) -> Message:
        """Wait for the next message of the neighbour of that row."""

    def exchange(self, messages: list[Message]) -> list[Message]:
        """Send one message to every neighbour, by rows, and wait for one of every neighbour."""


class Together(Peers, Protocol):
    """`Peers` of one agent, which knows its neighbours by *names*, and can also talk aside."""

    names: Sequence[str]

    def aside(self) -> Peers:
        """Return the same peers for what is not part of the algorithm: looks, and waiting for each other."""

    def meet(self) -> None:
        """Wait until all agents have come as far as this one."""

    def confirm(self, hops: int = 1) -> None:
        """Compare with all neighbours what this agent was told; refuse to go on where it was not the same.

        Whoever refuses says nothing more, so that after more *hops* those farther away have noticed, too.
        """


class LinkedPeers:
    """`Peers` for one agent that knows the network, its own weights and its own links, and nothing else.

    Masked words are sent only after all neighbours were found to know the same totals: `tacit.runtimes.transcript`.
    """

    resolution = 0.0

    def __init__(
        self,
        links: Links,
        *,
        network: Network,
        me: int,
        own_weight: float,
        weights: Array,
        names: Sequence[str] = (),
        transcript: Transcript | None = None,
    ) -> None:
        neighbours, tree = network.neighbours(me).tolist(), network.tree
        self._links, self._me, self._depth, self._diameter = links, me, tree.depth, tree.diameter
        self._parent = None if tree.root == me else neighbours.index(tree.parents[me])
        self._children = [neighbours.index(child) for child in tree.children(me)]
        self._own_weight, self._weights = own_weight, weights
        self.names = names or [f"agent {neighbour}" for neighbour in neighbours]
        self.degree = self.links = len(weights)
        self.first: Rows = np.array([me < neighbour for neighbour in neighbours], dtype=bool)
        self.traffic = Traffic()
        self._transcript = transcript or Transcript()
        self._aside: LinkedPeers | None = None

    def mix(self, x: Array) -> Array:
        """Return the weighted average of the own x and the neighbours', added in the order of their ids."""
        mixed = self._own_weight * x
        for weight, theirs in zip(self._weights, self._exchange([x] * self.degree), strict=True):
            _add(mixed, weight, theirs)
        return mixed

    def gather(self, x: Array) -> Array:
        """Return the sum of the neighbours' x."""
        return np.sum(self._exchange([x] * self.degree), axis=0)

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Send row k to neighbour k, and return the rows that came back."""
        compares = self._transcript.is_open and not more and r.dtype == np.uint64
        if compares and known is not None:
            self.confirm()
            self.traffic.count(exchanges=1, messages=0, bytes=0)
        if known is not None:
            return known
        sent = len(r) if only is None else int(only.sum())
        self.traffic.count(exchanges=not more, messages=0 if more else sent, bytes=sent * r[0].nbytes)
        return self._compared(r, only) if compares else self._traded(r, only)

    def _traded(self, r: Numbers, only: Rows | None, *, digests: bool = False) -> Numbers:
        """Trade all rows, or send *only* some and receive the others; *digests* before them always go both ways."""
        if only is None:
            return np.stack(self._received(self._links.exchange(list(r)), like=list(r), digests=digests))
        always = DIGEST_WORDS if digests else 0
        for row, width in enumerate(np.where(only, r.shape[1], always)):
            if width:
                self._links.send(row, r[row, :width])
        came = np.zeros_like(r)
        for row, width in enumerate(np.where(only, always, r.shape[1])):
            if width:
                came[row, :width] = self._receive(row, like=r[row, :width], digest=digests)
        return came

    def _compared(self, r: Numbers, only: Rows | None) -> Numbers:
        """Trade rows with the digest of all totals before each of them: nothing is returned where they differ."""
        digests = np.tile(self._transcript.words, (len(r), 1))
        rows: Any = np.concatenate([digests, r], axis=1)
        came = self._traded(rows, only, digests=True)
        self._transcript.close()
        return came[:, DIGEST_WORDS:]

    def meet(self) -> None:
        """Wait until all agents have come so far: whoever has tells its neighbours, and they theirs."""
        self._compare_all(self._diameter)

    def confirm(self, hops: int = 1) -> None:
        """Compare the digest of all totals with all neighbours: once, unless that was done since the last one."""
        self._compare_all(hops if hops > 1 or self._transcript.is_open else 0)

    def _compare_all(self, hops: int) -> None:
        for _ in range(hops):
            mine = [self._transcript.words] * self.degree
            self._received(self._links.exchange(mine), like=mine, digests=True)
            self._transcript.close()

    def total(self, r: Numbers) -> Numbers:
        """Return the sum of the own rows."""
        return r.sum(axis=0)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the sum over the network: up the tree to the root, and down again."""
        if v.dtype == np.uint64:  # masked: never sent before all neighbours were found to know the same
            self.confirm()
        for child in self._children:
            v = add(v, self._receive(child, like=v))
        if self._parent is not None:
            self._links.send(self._parent, v)
            below, v = v, self._receive(self._parent, like=v)
            if add is np.maximum and (v < below).any():
                above = self.names[self._parent]
                raise ProtocolError(f"{above} sent a largest number below what it was sent.", neighbour=above)
        for child in self._children:
            self._links.send(child, v)
        self._transcript.add(v)
        self._links.flush()  # those below wait for it, while this agent computes
        spoken = len(self._children) + (self._parent is not None)
        self.traffic.count(exchanges=2 * self._depth, messages=spoken, bytes=spoken * v.nbytes)
        return v

    def aside(self) -> LinkedPeers:
        """Return the same peers with a count of their own, for what is not part of the algorithm: looks."""
        if self._aside is None:
            self._aside = copy.copy(self)
            self._aside.traffic = Traffic()
        return self._aside

    def _exchange(self, messages: list[Message], *, more: bool = False) -> list[Message]:
        spoken = 0 if more else len(messages)
        self.traffic.count(exchanges=not more, messages=spoken, bytes=len(messages) * messages[0].nbytes)
        return self._received(self._links.exchange(messages), like=messages)

    def _received(
        self, messages: list[Message], *, like: Sequence[Message], digests: bool = False
    ) -> list[Message]:
        if digests:  # all of them, before anything else is said about any
            for row, message in enumerate(messages):
                self._compare(row, message)
        return [_like(*each) for each in zip(like, messages, self.names, strict=True)]

    def _receive(self, row: int, *, like: Message, digest: bool = False) -> Message:
        message = self._links.receive(row)
        if digest:
            self._compare(row, message)
        return _like(like, message, self.names[row])

    def _compare(self, row: int, message: Message) -> None:
        """Refuse a digest that is not the own; of a neighbour that is elsewhere in the run it is another."""
        mine, theirs = self._transcript.words, message[:DIGEST_WORDS]
        if message.dtype.kind == "u" and len(theirs) == DIGEST_WORDS and not np.array_equal(theirs, mine):
            raise EquivocationError(
                self.names[row], hexadecimal(mine), hexadecimal(theirs), self._transcript.totals
            )


def _add(mixed: Array, weight: float, theirs: Array) -> None:
    """Add what a neighbour sent, piece by piece: a long vector needs no second one for that."""
    if mixed.ndim != 1 or len(mixed) <= _PIECE:
        mixed += weight * theirs
        return
    for start in range(0, len(mixed), _PIECE):
        mixed[start : start + _PIECE] += weight * theirs[start : start + _PIECE]


def _like(mine: Message, theirs: Message, sender: str) -> Message:
    """Return what a neighbour sent, if it is of the kind and the size of what this agent sends."""
    if theirs.shape != mine.shape or theirs.dtype.kind != mine.dtype.kind:
        raise ProtocolError(
            f"{sender} sent {theirs.size} number(s) of the kind {theirs.dtype.kind!r} where {mine.size} of the "
            f"kind {mine.dtype.kind!r} were due: it is not at the same place of the same run. It deviates, or was "
            "told something else than this agent.",
            neighbour=sender,
        )
    return theirs
