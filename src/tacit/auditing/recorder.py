"""Recording a view at the seam between agents and peers, in every runtime.

    stacked         all agents are one array: rows that touch the coalition are copied, the others not looked at
    agents, peers   the members' own links are wrapped; nothing else of anybody is in reach

Both write the same exchanges. The agents apart also hear the building of the tree and the looks that decide when to
stop, which the stacked runtime has no messages for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.tree import parents_and_depths
from tacit.auditing.view import Exchange
from tacit.network import Network
from tacit.runtimes import Announce, Links, Message, Stacked
from tacit.typing import Array, Numbers, Rows

_ENOUGH = 4000  # exchanges kept: later rounds tell less than early ones


class Said(NamedTuple):
    """One message on a member's link."""

    exchange: int  # counted by the member
    kind: str
    order: int  # among all that this member said and heard
    sender: int
    receiver: int
    values: Message


class Overheard(Stacked):
    """`Stacked`, with somebody listening at the links of *coalition*."""

    def __init__(
        self, network: Network, weights: str, coalition: Collection[int], *, words: list[NDArray[Any]] | None = None
    ) -> None:
        super().__init__(network, weights)
        self.exchanges: list[Exchange] = []
        i, j = network.links.T
        pairs = np.stack([np.concatenate([i, j]), np.concatenate([j, i])])
        pairs = pairs[:, np.lexsort((pairs[1], pairs[0]))]
        self._rows = np.flatnonzero(np.isin(pairs, list(coalition)).any(axis=0))
        self._senders, self._receivers = pairs[:, self._rows]
        self._coalition, self._words = frozenset(coalition), words
        self._tree: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None

    def mix(self, x: Array) -> Array:
        """Return W x; members hear their neighbours' rows."""
        self._keep("mix", x[self._senders])
        return super().mix(x)

    def gather(self, x: Array) -> Array:
        """Return the sums over the neighbours; members hear their rows."""
        self._keep("gather", x[self._senders])
        return super().gather(x)

    def swap(self, r: Numbers, *, more: bool = False, only: Rows | None = None) -> Numbers:
        """Let rows trade places; members hear those on their links."""
        self._keep("more" if more else "swap", r[self._rows])
        return super().swap(r, more=more, only=only)

    def note(self, went: NDArray[Any], came: NDArray[Any], *, more: bool = False) -> None:
        """Take note of terms that both ends of a link draw from shared keys: members know those on their links."""
        self._keep("more" if more else "drawn", went[self._rows])

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the sum; members hear their children's partial sums, and the total from their parents."""
        total = super().sum(v, add)
        if self._words is not None and v.dtype.kind == "u":  # masked words; a plain sum is nobody's business
            self._words.append(v.copy())
        if len(self.exchanges) < _ENOUGH:
            self._overhear(v, total, add)
        return total

    def _overhear(self, v: Any, total: Any, add: Callable[[Any, Any], Any]) -> None:
        if self._tree is None:
            self._tree = parents_and_depths(self.network)
        parents, depths = self._tree
        partial: list[Any] = list(v)
        order = [i for i in np.argsort(-depths, kind="stable") if parents[i] >= 0]
        for child in order:
            partial[parents[child]] = add(partial[parents[child]], partial[child])
        heard = [i for i in order if i in self._coalition or parents[i] in self._coalition]
        if heard:
            children, above = np.array(heard), parents[heard]
            up = np.stack([partial[i] for i in heard])
            self.exchanges.append(Exchange(kind="up", senders=children, receivers=above, values=up))
            down = np.stack([total] * len(heard))
            self.exchanges.append(Exchange(kind="down", senders=above, receivers=children, values=down))

    def _keep(self, kind: str, values: NDArray[Any]) -> None:
        if len(self.exchanges) < _ENOUGH:
            senders, receivers = self._senders, self._receivers
            self.exchanges.append(Exchange(kind=kind, senders=senders, receivers=receivers, values=values.copy()))


class Listener:
    """A tap on the coalition's own links, for agents apart and for peers."""

    def __init__(self, coalition: Collection[int]) -> None:
        self.agents: tuple[int, ...] = tuple(sorted(coalition))
        self._said: dict[int, list[Said]] = {agent: [] for agent in self.agents}

    def listen(self, agent: int, neighbours: Sequence[int], links: Links) -> tuple[Links, Announce]:
        """Return that agent's links, wrapped."""
        wrapped = _Wrapped(agent, neighbours, links, self._said[agent])
        return wrapped, wrapped.begin

    def told(self, agent: int) -> list[Said]:
        """Return what was said on that agent's links."""
        return self._said[agent]

    def take(self, agent: int, told: list[Said]) -> None:
        """Take over what was said on that agent's links in another process."""
        self._said[agent] = told

    def exchanges(self) -> list[Exchange]:
        """Return all that was said, exchange by exchange; what two members said to each other is there once."""
        together: dict[int, list[Said]] = {}
        for agent, said in self._said.items():
            for one in said:
                other = one.receiver if one.sender == agent else one.sender
                if not (other in self._said and other < agent):
                    together.setdefault(one.exchange, []).append(one)
        found: list[Exchange] = []
        for _, said in sorted(together.items()):
            kind = said[0].kind
            ordered = sorted(said, key=lambda one: (one.sender, one.receiver, one.order))
            found += _hops(ordered) if kind == "sum" else [_exchange(kind, ordered)]
        return found[:_ENOUGH]


class _Wrapped:
    """`Links` that pass everything on, and keep a copy."""

    def __init__(self, agent: int, neighbours: Sequence[int], links: Links, said: list[Said]) -> None:
        self._me, self._neighbours, self._links, self._said = agent, tuple(neighbours), links, said
        self._exchange, self._kind = 0, ""

    def begin(self, kind: str) -> None:
        self._exchange, self._kind = self._exchange + 1, kind

    def send(self, neighbour: int, message: Message) -> None:
        self._keep(self._me, self._neighbours[neighbour], message)
        self._links.send(neighbour, message)

    def receive(self, neighbour: int) -> Message:
        message = self._links.receive(neighbour)
        self._keep(self._neighbours[neighbour], self._me, message)
        return message

    def flush(self) -> None:
        self._links.flush()

    def exchange(self, messages: list[Message]) -> list[Message]:
        for row, message in enumerate(messages):
            self._keep(self._me, self._neighbours[row], message)
        came = self._links.exchange(messages)
        for row, message in enumerate(came):
            self._keep(self._neighbours[row], self._me, message)
        return came

    def note(self, went: NDArray[Any], came: NDArray[Any], *, more: bool = False) -> None:
        self.begin("more" if more else "drawn")
        for row, neighbour in enumerate(self._neighbours):
            self._keep(self._me, neighbour, went[row])
            self._keep(neighbour, self._me, came[row])

    def _keep(self, sender: int, receiver: int, message: Message) -> None:
        self._said.append(Said(self._exchange, self._kind, len(self._said), sender, receiver, message.copy()))


def _hops(said: list[Said]) -> list[Exchange]:
    """Split a sum into what went up and what came down: whoever speaks first on a link is the child."""
    first: dict[frozenset[int], Said] = {}
    for one in sorted(said, key=lambda one: one.order):
        first.setdefault(frozenset((one.sender, one.receiver)), one)
    up = [one for one in said if first[frozenset((one.sender, one.receiver))] is one]
    down = [one for one in said if first[frozenset((one.sender, one.receiver))] is not one]
    return [_exchange("up", up), _exchange("down", down)]


def _exchange(kind: str, said: list[Said]) -> Exchange:
    return Exchange(
        kind=kind,
        senders=np.array([one.sender for one in said]),
        receivers=np.array([one.receiver for one in said]),
        values=np.stack([one.values for one in said]),
    )
