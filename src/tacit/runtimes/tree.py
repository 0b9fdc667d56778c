"""A breadth-first spanning tree, built by the agents themselves.

Nobody sees more than its neighbours. In every hop each agent tells all neighbours what it believes: the smallest id
it has heard of (the root), its distance from it, its parent, and how many agents hang below it and how deep. An
agent follows the smallest root, at the shortest distance, through the smallest neighbour.

Hops are synchronous, so an agent hears of the true root along a shortest path first, and never changes its mind
about it: after D hops everybody hangs in the tree, where D is the root's eccentricity. D hops later the root counts
all n agents, and no other root ever can, since the true one never hangs below it. The root then names the hop in
which all stop, and after 3·D hops they do, together.

    building   3·D hops, of six numbers to every neighbour
    a sum      D hops up and D hops down, one vector along each of the n − 1 tree links, each way
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

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


def find_place(me: int, neighbours: Sequence[int], agents: int, exchange: Hop) -> Place:
    """Build the tree together with the neighbours, and return the own place in it."""
    mine = Belief(root=me, distance=0, parent=me, below=1, height=0, stop=0)
    hop = 0
    while not mine.stop or hop < mine.stop:
        heard = [Belief(*map(int, m)) for m in exchange([np.array(mine, dtype=np.int64)] * len(neighbours))]
        hop += 1
        root, distance, parent = min(
            (mine.root, mine.distance, mine.parent),
            *((b.root, b.distance + 1, j) for j, b in zip(neighbours, heard, strict=True)),
        )
        children = [b for b in heard if b.root == root and b.parent == me]
        below = 1 + sum(b.below for b in children)
        height = max((b.height + 1 for b in children), default=0)
        stop = max([mine.stop, *(b.stop for b in heard)])
        if root == me and below == agents and not stop:
            stop = hop + height
        mine = Belief(root, distance, parent, below, height, stop)
    return Place(
        parent=None if mine.parent == me else list(neighbours).index(mine.parent),
        children=tuple(row for row, belief in enumerate(heard) if belief.parent == me),
        depth=hop // 3,
    )


def depth_of(network: Topology) -> int:
    """Return D: how far the farthest agent is from the first."""
    from scipy.sparse.csgraph import shortest_path  # heavy, and only simulations ask

    return int(shortest_path(network.adjacency, unweighted=True, indices=0).max())
