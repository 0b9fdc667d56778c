"""One agent's reading of `Peers`: no agent axis; row k belongs to the k-th neighbour, by increasing id."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ProtocolError
from tacit.runtimes.traffic import Traffic
from tacit.runtimes.tree import Place, find_place
from tacit.typing import Array, Numbers, Peers, Rows

Message = NDArray[Any]


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
    """`Peers` of one agent, which can also talk aside."""

    def aside(self) -> Peers:
        """Return the same peers for what is not part of the algorithm: looks, and waiting for each other."""


class LinkedPeers:
    """`Peers` for one agent that knows its own weights and its own links, and nothing else."""

    resolution = 0.0

    def __init__(
        self,
        links: Links,
        *,
        me: int,
        neighbours: Sequence[int],
        agents: int,
        own_weight: float,
        weights: Array,
        names: Sequence[str] = (),
    ) -> None:
        self._links, self._me, self._neighbours, self._agents = links, me, neighbours, agents
        self._own_weight, self._weights = own_weight, weights
        self._names = names or [f"agent {neighbour}" for neighbour in neighbours]
        self.degree = self.links = len(weights)
        self.first: Rows = np.array([me < neighbour for neighbour in neighbours], dtype=bool)
        self.traffic = Traffic()
        self._tree: list[Place] = []
        self._aside: LinkedPeers | None = None

    def mix(self, x: Array) -> Array:
        """Return the weighted average of the own x and the neighbours', added in the order of their ids."""
        mixed = self._own_weight * x
        for weight, theirs in zip(self._weights, self._exchange([x] * self.degree), strict=True):
            mixed = mixed + weight * theirs
        return mixed

    def gather(self, x: Array) -> Array:
        """Return the sum of the neighbours' x."""
        return np.sum(self._exchange([x] * self.degree), axis=0)

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Send row k to neighbour k, and return the rows that came back."""
        if known is not None:
            return known
        if only is not None:
            return self._hand_over(r, only, more=more)
        return np.stack(self._exchange(list(r), more=more))

    def _hand_over(self, r: Numbers, only: Rows, *, more: bool) -> Numbers:
        """Send some rows, and return the others, which the neighbours send."""
        for row in np.flatnonzero(only):
            self._links.send(int(row), r[row])
        sent = int(only.sum())
        self.traffic.count(exchanges=not more, messages=0 if more else sent, bytes=int(r[only].nbytes))
        came = np.zeros_like(r)
        for row in np.flatnonzero(~only):
            came[row] = self._receive(int(row), like=r[row])
        return came

    def total(self, r: Numbers) -> Numbers:
        """Return the sum of the own rows."""
        return r.sum(axis=0)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the sum over the network: up the tree to the root, and down again."""
        place = self._find_place()
        for child in place.children:
            v = add(v, self._receive(child, like=v))
        if place.parent is not None:
            self._links.send(place.parent, v)
            v = self._receive(place.parent, like=v)
        for child in place.children:
            self._links.send(child, v)
        self._links.flush()  # those below wait for it, while this agent computes
        spoken = len(place.children) + (place.parent is not None)
        self.traffic.count(exchanges=2 * place.depth, messages=spoken, bytes=spoken * v.nbytes)
        return v

    def aside(self) -> LinkedPeers:
        """Return the same peers with a count of their own, for what is not part of the algorithm: looks."""
        if self._aside is None:
            self._aside = copy.copy(self)  # the tree is shared: whoever needs it first builds it for both
            self._aside.traffic = Traffic()
        return self._aside

    def _find_place(self) -> Place:
        """Return the own place in the spanning tree, which all agents build before their first sum."""
        if not self._tree:
            self._tree.append(find_place(self._me, self._neighbours, self._agents, self._exchange))
        return self._tree[0]

    def _exchange(self, messages: list[Message], *, more: bool = False) -> list[Message]:
        spoken = 0 if more else len(messages)
        self.traffic.count(exchanges=not more, messages=spoken, bytes=len(messages) * messages[0].nbytes)
        came = self._links.exchange(messages)
        return [_like(*each) for each in zip(messages, came, self._names, strict=True)]

    def _receive(self, row: int, *, like: Message) -> Message:
        return _like(like, self._links.receive(row), self._names[row])


def _like(mine: Message, theirs: Message, sender: str) -> Message:
    """Return what a neighbour sent, if it is of the kind and the size of what this agent sends."""
    if theirs.shape != mine.shape or theirs.dtype.kind != mine.dtype.kind:
        raise ProtocolError(
            f"{sender} sent {theirs.size} number(s) of the kind {theirs.dtype.kind!r} where {mine.size} of the "
            f"kind {mine.dtype.kind!r} were due: it is not at the same place of the same run."
        )
    return theirs
