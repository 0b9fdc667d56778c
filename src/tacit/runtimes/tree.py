"""A breadth-first spanning tree, built by the agents themselves.

Nobody sees more than its neighbours. In every hop each agent tells all neighbours what it believes: the smallest id
it has heard of (the root), its distance from it, its parent, and how many agents hang below it and how deep. An
agent follows the smallest root, at the shortest distance, through the smallest neighbour.

Hops are synchronous, so an agent hears of the true root along a shortest path first, and never changes its mind
about it: after D hops everybody hangs in the tree, where D is the root's eccentricity. D hops later the root counts
all n agents, and no other root ever can, since the true one never hangs below it. The root then names the hop in
which all stop, and after 3·D hops they do, together.

Nobody is believed beyond that. What a neighbour says must be what an agent can say that follows these rules and has
heard this one: of the ids 0 … n − 1, no farther from a root than one hop behind this agent, about no more than n
agents, with an end that is named once and comes within 3·n hops; and in the end there is one root, agent 0. Whoever
says anything else is named, and the run does not begin. A member can still lie about agents that only it has seen.
Then the tree is no tree, and somebody waits in vain; but the tree only carries masked words, and decides nothing
about who may read them.

    building   3·D hops, of six numbers to every neighbour
    a sum      D hops up and D hops down, one vector along each of the n − 1 tree links, each way
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ProtocolError
from tacit.network import Topology

Message = NDArray[np.int64]
MESSAGE_BYTES = 6 * 8


class Belief(NamedTuple):
    """What an agent tells its neighbours in every hop."""

    root: int
    distance: int
    parent: int
    below: int  # agents in the own subtree, the agent included
    height: int  # of the own subtree
    stop: int  # the last hop, once the root knows; 0 before


class Place(NamedTuple):
    """An agent's place in the finished tree: rows of its neighbours."""

    parent: int | None  # None at the root
    children: tuple[int, ...]
    depth: int  # of the whole tree


class Hop(Protocol):
    """One message to and from every neighbour."""

    def __call__(self, messages: list[Message]) -> list[Message]:
        """Send message k to neighbour k, and return what the neighbours sent in the same hop."""


def find_place(me: int, neighbours: Sequence[int], agents: int, exchange: Hop, names: Sequence[str] = ()) -> Place:
    """Build the tree together with the neighbours, and return the own place in it; *names* are theirs."""
    names = names or [f"agent {neighbour}" for neighbour in neighbours]
    mine = Belief(root=me, distance=0, parent=me, below=1, height=0, stop=0)
    earlier, hop, heard = mine, 0, list[Belief]()
    while not mine.stop or hop < mine.stop:
        if hop == 3 * agents:
            raise ProtocolError(
                f"a tree of {agents} agents is not built after {hop} hops: somebody keeps it from it."
            )
        before, heard = (
            heard,
            [Belief(*map(int, m)) for m in exchange([np.array(mine, dtype=np.int64)] * len(neighbours))],
        )
        for row, belief in enumerate(heard):
            past = before[row] if before else None
            wrong = _wrong(belief, past, neighbours[row], me=me, earlier=earlier, agents=agents, hop=hop)
            if wrong:
                raise ProtocolError(f"{names[row]} {wrong} while the tree was built.", neighbour=names[row])
        earlier = mine
        hop += 1
        root, distance, parent = min(
            (mine.root, mine.distance, mine.parent),
            *((b.root, b.distance + 1, j) for j, b in zip(neighbours, heard, strict=True)),
        )
        children = [b for b in heard if b.root == root and b.parent == me]
        below = 1 + sum(b.below for b in children)
        height = max((b.height + 1 for b in children), default=0)
        if below > agents:
            several = ", ".join(names[row] for row, b in enumerate(heard) if b.root == root and b.parent == me)
            raise ProtocolError(f"{several} claim more than all {agents} agents while the tree was built.")
        stop = max([mine.stop, *(b.stop for b in heard)])
        for row, belief in enumerate(heard):
            if belief.stop not in (0, stop):
                raise ProtocolError(
                    f"{names[row]} named another end than others while the tree was built.", neighbour=names[row]
                )
        if root == me and below == agents and not stop:
            stop = hop + height
        mine = Belief(root, distance, parent, below, height, stop)
    return _place(mine, heard, me=me, neighbours=neighbours, names=names, hops=hop)


def _wrong(
    belief: Belief, before: Belief | None, sender: int, *, me: int, earlier: Belief, agents: int, hop: int
) -> str:
    """Return what no honest agent could have said after so many hops; nothing, where one could.

    *earlier* is what this agent had told when the sender made up its mind.
    """
    root, distance, parent, below, height, stop = belief
    if not 0 <= root <= sender:
        return f"claimed the root {root}"
    if not 0 <= parent < agents or (distance == 0) != (root == sender) or (parent == sender) != (root == sender):
        return "claimed a parent that it cannot have"
    if not 0 <= distance <= min(hop, agents - 1):
        return f"claimed to be {distance} hop(s) from the root after {hop}"
    if not (1 <= below <= agents and 0 <= height < below):
        return f"claimed {below} agent(s) below it in {height + 1} level(s)"
    if stop and not hop <= stop <= 3 * agents:
        return f"named the end {stop} in hop {hop}"
    if before is None:
        return "" if belief == Belief(sender, 0, sender, 1, 0, 0) else "claimed to know the others"
    if (root, distance) > min(before[:2], (earlier.root, earlier.distance + 1)):
        return "forgot a root that it had heard of"
    if parent == me and (root, distance) != (earlier.root, earlier.distance + 1):
        return "claimed to hang below this agent, and elsewhere"
    if stop < before.stop:
        return "took an end back"
    return ""


def _place(
    mine: Belief, heard: Sequence[Belief], *, me: int, neighbours: Sequence[int], names: Sequence[str], hops: int
) -> Place:
    """Return the own place; refuse a tree that is not one."""
    for row, belief in enumerate(heard):
        if belief.root != 0 or abs(belief.distance - mine.distance) > 1:
            raise ProtocolError(
                f"{names[row]} did not find its place when the tree was built.", neighbour=names[row]
            )
    if mine.root != 0:
        raise ProtocolError("the tree was built before its root was known: somebody named an end too early.")
    parent = None if mine.parent == me else list(neighbours).index(mine.parent)
    return Place(
        parent=parent,
        children=tuple(row for row, belief in enumerate(heard) if belief.parent == me),
        depth=hops // 3,
    )


def depth_of(network: Topology) -> int:
    """Return D: how far the farthest agent is from the first."""
    from scipy.sparse.csgraph import shortest_path  # heavy, and only simulations ask

    return int(shortest_path(network.adjacency, unweighted=True, indices=0).max())
