"""Recording a view at the seam between agents and peers: one decorator of `Peers`, in every runtime.

    all agents at once     rows on links of the coalition are copied, and the others not looked at
    one agent by itself    what it sends and what it is sent: the same exchange, from one of its ends

`Peers.mix` and `gather` return one vector where a member is sent one by every neighbour, so a member that listens
to itself swaps, and adds up as its peers would: the same messages go over the same links. What comes up a tree is
heard where it is added. Nothing else of anybody is in reach: no cost, no key, no link between others.

Agents apart also hear the looks that decide when to stop, which the stacked runtime has no messages for. How they
build their tree follows from the network, and is not written down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.tree import parents_and_depths
from tacit.auditing.view import Exchange
from tacit.network import Network, mixing_weights
from tacit.runtimes import Together
from tacit.typing import Array, Numbers, Peers, Rows

_ENOUGH = 4000  # exchanges kept: later rounds tell less than early ones


class Recorder:
    """A tap on the links of a coalition, for all agents at once, for agents apart, and for peers."""

    def __init__(self, network: Network, weights: str, coalition: Collection[int]) -> None:
        self.agents: tuple[int, ...] = tuple(sorted(coalition))
        self.owners = np.repeat(np.arange(len(network)), network.degrees)
        self.others = np.concatenate([network.neighbours(i) for i in range(len(network))])
        self.weights = mixing_weights(network, weights).toarray()
        self.parents, self.depths = parents_and_depths(network)
        self.words: list[NDArray[Any]] = []
        """All masked words of secret sums, as the worst case publishes them; where all agents are at once."""
        self._heard: dict[int, list[Exchange]] = {}

    def together(self, peers: Peers) -> Peers:
        """Return peers of all agents at once that pass everything on."""
        self._heard[-1] = []
        return Listening(peers, self, self._heard[-1])

    def apart(self, agent: int, peers: Together) -> Together:
        """Return peers of a member that pass everything on."""
        self._heard[agent] = []
        return ListeningAlone(peers, self, self._heard[agent], agent)

    def told(self, agent: int) -> list[Exchange]:
        """Return what was heard at that agent."""
        return self._heard.get(agent, [])

    def take(self, agent: int, told: list[Exchange]) -> None:
        """Take over what was heard at that agent in another process."""
        self._heard[agent] = told

    def exchanges(self) -> list[Exchange]:
        """Return all that was said, exchange by exchange; what two members said to each other is there once."""
        logs = self._heard.items()
        if any(agent < 0 for agent, _ in logs):
            return self._heard[-1]
        each = [[self._once(agent, exchange) for exchange in heard] for agent, heard in sorted(logs)]
        return [_merged(parts) for parts in zip(*each, strict=False)][:_ENOUGH]

    def _once(self, agent: int, exchange: Exchange) -> Exchange:
        """Return what was heard at a member, but for what another one with a smaller number heard as well."""
        other = np.where(exchange.senders == agent, exchange.receivers, exchange.senders)
        kept = ~(np.isin(other, self.agents) & (other < agent))
        return Exchange(
            kind=exchange.kind,
            senders=exchange.senders[kept],
            receivers=exchange.receivers[kept],
            values=exchange.values[kept],
        )


class Listening:
    """`Peers` of all agents at once that pass everything on, and write down what a coalition's links carry."""

    def __init__(self, peers: Peers, recorder: Recorder, heard: list[Exchange]) -> None:
        self._peers, self._recorder, self._heard = peers, recorder, heard
        self.degree, self.links, self.first = peers.degree, peers.links, peers.first
        self.resolution, self.total = peers.resolution, peers.total
        pairs = np.stack([recorder.owners, recorder.others])
        self._near = np.flatnonzero(np.isin(pairs, recorder.agents).any(axis=0))
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
        total = self._peers.sum(v, add)
        if v.dtype.kind == "u":  # masked words; a plain sum is nobody's business
            self._recorder.words.append(v.copy())
        parents, partial = self._recorder.parents, list(v)
        order = [int(i) for i in np.argsort(-self._recorder.depths, kind="stable") if parents[i] >= 0]
        for child in order:
            partial[parents[child]] = add(partial[parents[child]], partial[child])
        near = [i for i in order if i in self._recorder.agents or parents[i] in self._recorder.agents]
        self._keep_sum(np.array(near), parents[near], np.stack([partial[i] for i in near]), total)
        return total

    def _keep_sum(self, children: NDArray[Any], parents: NDArray[Any], partial: NDArray[Any], total: Any) -> None:
        self._keep("up", children, parents, partial)
        self._keep("down", parents, children, np.stack([total] * len(children)))

    def _keep(self, kind: str, senders: NDArray[Any], receivers: NDArray[Any], values: NDArray[Any]) -> None:
        if len(self._heard) < _ENOUGH:
            self._heard.append(Exchange(kind=kind, senders=senders, receivers=receivers, values=values.copy()))


class ListeningAlone(Listening):
    """The same for one member by itself: what it sent and what it was sent."""

    def __init__(
        self, peers: Together, recorder: Recorder, heard: list[Exchange], me: int, *, looking: bool = False
    ) -> None:
        super().__init__(peers, recorder, heard)
        self._me, self._looking, self._talking = me, looking, peers
        self._neighbours = recorder.others[recorder.owners == me]

    def aside(self) -> Peers:
        """Return the same peers for looks, of which the member hears as much."""
        aside: Any = self._talking.aside()
        return ListeningAlone(aside, self._recorder, self._heard, self._me, looking=True)

    def mix(self, x: Array) -> Array:
        """Return the weighted average of the own x and the neighbours', added in the order of their ids."""
        weights = self._recorder.weights[self._me]
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
        parents = self._recorder.parents
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


def _merged(parts: Sequence[Exchange]) -> Exchange:
    senders = np.concatenate([part.senders for part in parts])
    receivers = np.concatenate([part.receivers for part in parts])
    order = np.lexsort((receivers, senders))
    values = np.concatenate([part.values for part in parts])
    return Exchange(kind=parts[0].kind, senders=senders[order], receivers=receivers[order], values=values[order])
