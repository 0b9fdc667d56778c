"""Listening at the seam between agents and peers: one decorator of `Peers`, in every runtime.

    all agents at once     rows on links of the coalition are copied, and the others not looked at
    one agent by itself    what it sends and what it is sent: the same exchange, from one of its ends

`Peers.mix` and `gather` return one vector where a member is sent one by every neighbour, so a member that listens
to itself swaps, and adds up as its peers would: the same messages go over the same links. What comes up a tree is
heard where it is added. Nothing else of anybody is in reach: no cost, no key, no link between others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.knowledge.view import Exchange
from tacit.network import Network, mixing_weights
from tacit.runtimes import Together
from tacit.typing import Array, Numbers, Peers, Rows

ENOUGH = 4000
"""Exchanges kept: later rounds tell less than early ones."""


class Wiretap:
    """Whose links are listened at, and the network around them, which is public."""

    def __init__(self, network: Network, weights: str, coalition: Collection[int]) -> None:
        self.agents: tuple[int, ...] = tuple(sorted(coalition))
        self.owners = np.repeat(np.arange(len(network)), network.degrees)
        self.others = np.concatenate([network.neighbours(i) for i in range(len(network))])
        self.weights = mixing_weights(network, weights).toarray()
        self.parents, self.depths = network.tree.parents, network.tree.depths
        self.words: list[NDArray[Any]] = []
        """All masked words of secret sums, as the worst case publishes them; where all agents are at once."""


class Listening:
    """`Peers` of all agents at once that pass everything on, and write down what a coalition's links carry."""

    def __init__(self, peers: Peers, wiretap: Wiretap, heard: list[Exchange]) -> None:
        self._peers, self._wiretap, self._heard = peers, wiretap, heard
        self.degree, self.links, self.first = peers.degree, peers.links, peers.first
        self.resolution, self.total = peers.resolution, peers.total
        pairs = np.stack([wiretap.owners, wiretap.others])
        self._near = np.flatnonzero(np.isin(pairs, wiretap.agents).any(axis=0))
        self._senders, self._receivers = pairs[:, self._near]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._peers, name)  # whatever else a mechanism may know of its peers

    def mix(self, x: Array) -> Array:
        """Return W x; members hear their neighbours' rows."""
        self._keep("mix", self._senders, self._receivers, x[self._senders])
        return self._peers.mix(x)

    def gather(self, x: Array) -> Array:
        """Return the sums over the neighbours; members hear their rows."""
        self._keep("gather", self._senders, self._receivers, x[self._senders])
        return self._peers.gather(x)

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Let rows trade places; members hear those on their links, and know those that they draw."""
        self._keep(_kind(more, known), self._senders, self._receivers, r[self._near])
        return self._peers.swap(r, more=more, only=only, known=known)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the sum; members hear their children's partial sums, and the total from their parents."""
        v = np.asarray(v)  # whole, even where a run would make it piece by piece
        total = self._peers.sum(v, add)
        if v.dtype.kind == "u":  # masked words; a plain sum is nobody's business
            self._wiretap.words.append(v.copy())
        parents, partial = self._wiretap.parents, list(v)
        order = [int(i) for i in np.argsort(-self._wiretap.depths, kind="stable") if parents[i] >= 0]
        for child in order:
            partial[parents[child]] = add(partial[parents[child]], partial[child])
        near = [i for i in order if i in self._wiretap.agents or parents[i] in self._wiretap.agents]
        self._keep_sum(np.array(near), parents[near], np.stack([partial[i] for i in near]), total)
        return total

    def _keep_sum(self, children: NDArray[Any], parents: NDArray[Any], partial: NDArray[Any], total: Any) -> None:
        self._keep("up", children, parents, partial)
        self._keep("down", parents, children, np.stack([total] * len(children)))

    def _keep(self, kind: str, senders: NDArray[Any], receivers: NDArray[Any], values: NDArray[Any]) -> None:
        if len(self._heard) < ENOUGH:
            self._heard.append(Exchange(kind=kind, senders=senders, receivers=receivers, values=values.copy()))


class ListeningAlone(Listening):
    """The same for one member by itself: what it sent and what it was sent."""

    def __init__(
        self, peers: Together, wiretap: Wiretap, heard: list[Exchange], me: int, *, looking: bool = False
    ) -> None:
        super().__init__(peers, wiretap, heard)
        self._me, self._looking, self._talking, self.names = me, looking, peers, peers.names
        self._neighbours = wiretap.others[wiretap.owners == me]

    def aside(self) -> Peers:
        """Return the same peers for looks, of which the member hears as much."""
        aside: Any = self._talking.aside()
        return ListeningAlone(aside, self._wiretap, self._heard, self._me, looking=True)

    def meet(self) -> None:
        """Wait until all have come so far."""
        self._talking.meet()

    def confirm(self, hops: int = 1) -> None:
        """Compare with all neighbours what was told: digests of what is heard here anyway."""
        self._talking.confirm(hops)

    def mix(self, x: Array) -> Array:
        """Return the weighted average of the own x and the neighbours', added in the order of their ids."""
        weights = self._wiretap.weights[self._me]
        mixed = weights[self._me] * x
        for j, theirs in zip(self._neighbours, self._exchanged("mix", x), strict=True):
            mixed = mixed + weights[j] * theirs
        return np.asarray(mixed)

    def gather(self, x: Array) -> Array:
        """Return the sum of the neighbours' x."""
        return np.asarray(self._exchanged("gather", x).sum(axis=0))

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Send row k to neighbour k, and return the rows that came back."""
        came = self._peers.swap(r, more=more, only=only, known=known)
        self._keep_both(_kind(more, known), r, came)
        return came

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the sum: what comes from below is heard where it is added, one child after the other."""
        below: list[Numbers] = []

        def listening(mine: Numbers, theirs: Numbers) -> Numbers:
            below.append(theirs.copy())
            return add(mine, theirs)

        total = self._peers.sum(v, listening)
        parents = self._wiretap.parents
        senders, receivers = np.flatnonzero(parents == self._me), np.full(len(below), self._me)
        partial: list[Any] = [*below]
        if parents[self._me] >= 0:
            senders, receivers = np.append(senders, self._me), np.append(receivers, parents[self._me])
            partial.append(reduce(add, below, v))
        self._keep_sum(senders, receivers, np.stack(partial), total)
        return total

    def _exchanged(self, kind: str, x: Array) -> Array:
        went = np.stack([x] * self.links)
        came = self._peers.swap(went)
        self._keep_both(kind, went, came)
        return came

    def _keep_both(self, kind: str, went: NDArray[Any], came: NDArray[Any]) -> None:
        me = np.full(len(self._neighbours), self._me)
        senders, receivers = np.concatenate([me, self._neighbours]), np.concatenate([self._neighbours, me])
        self._keep(kind, senders, receivers, np.concatenate([went, came]))

    def _keep(self, kind: str, senders: NDArray[Any], receivers: NDArray[Any], values: NDArray[Any]) -> None:
        super()._keep("look" if self._looking else kind, senders, receivers, values)


def _kind(more: bool, known: Any) -> str:
    return "more" if more else "swap" if known is None else "drawn"
