"""The spanning tree on which agents add up: breadth first, from the centre of the network.

    ecc(i)  = max_j d(i, j)                    how far the farthest agent is from agent i
    radius  = min_i ecc(i),  diameter = max_i ecc(i) ≤ 2·radius
    root    = the first agent with ecc = radius

An agent hangs below the first of its neighbours that is nearer to the root. A sum takes *radius* hops up and as
many down, one vector along each of the n − 1 tree links, each way.

The tree follows from the network, which everybody knows: nobody is asked for it, so nobody can lie about it.

Who is reached from where within k hops is one bit for each pair of agents, an integer of n bits for each agent: one
more hop is an `or` over the neighbours, and the first agents to reach everybody are the centre. Among very many
agents the centre is sought by sweeps instead: whoever is farthest from the first agent, whoever is farthest from
that one, and the middle of the way between these two, which is at most a few hops off the centre on most networks
(on trees it is the centre: Handler, Transportation Science 7, 1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import GraphError

_EXACT = 1024  # agents up to which all pairs are looked at

Near = Sequence[Sequence[int]]


class Tree(NamedTuple):
    """A spanning tree: of every agent its parent, −1 at the root, and its distance from the root."""

    parents: NDArray[np.intp]
    depths: NDArray[np.intp]
    diameter: int
    """Of the network; among very many agents a bound on it."""

    @property
    def root(self) -> int:
        """Where sums come together."""
        return int(np.flatnonzero(self.parents < 0)[0])

    @property
    def depth(self) -> int:
        """How many levels there are below the root: the network's radius, if it is not very large."""
        return int(self.depths.max())

    def children(self, agent: int) -> list[int]:
        """Return those who hang below an agent, in their order."""
        return np.flatnonzero(self.parents == agent).tolist()


def spanning_tree(agents: int, links: NDArray[np.intp]) -> Tree:
    """Return the tree of a connected network."""
    near: list[list[int]] = [[] for _ in range(agents)]
    for i, j in links.tolist():
        near[i].append(j)
        near[j].append(i)
    if agents <= _EXACT:
        radii = eccentricities(near)
        root, diameter = radii.index(min(radii)), max(radii)
    else:
        root = _middle(near)
        diameter = 2 * max(_distances(near, root))
    depths = _distances(near, root)
    parents = [min((j for j in near[i] if depths[j] < depths[i]), default=-1) for i in range(agents)]
    return Tree(np.array(parents, dtype=np.intp), np.array(depths, dtype=np.intp), diameter)


def eccentricities(near: Near) -> list[int]:
    """Return how far the farthest agent is from every agent, in a connected network."""
    everybody = (1 << len(near)) - 1
    reached = [1 << i for i in range(len(near))]
    radii, hops = [-1] * len(near), 0
    while True:
        for i, those in enumerate(reached):
            if those == everybody and radii[i] < 0:
                radii[i] = hops
        if -1 not in radii:
            return radii
        before, hops = reached, hops + 1
        reached = list(before)
        for i, neighbours in enumerate(near):
            for j in neighbours:
                reached[i] |= before[j]
        if reached == before:
            raise GraphError("the graph falls into pieces: agents in different pieces never add up together.")


def _distances(near: Near, start: int) -> list[int]:
    away = [-1] * len(near)
    away[start], edge, hops = 0, [start], 0
    while edge:
        hops, further = hops + 1, []
        for i in edge:
            for j in near[i]:
                if away[j] < 0:
                    away[j] = hops
                    further.append(j)
        edge = further
    return away


def _middle(near: Near) -> int:
    """Return the middle of a long way through the network."""
    from_first = _distances(near, 0)
    one = from_first.index(max(from_first))
    from_one = _distances(near, one)
    length = max(from_one)
    from_other = _distances(near, from_one.index(length))
    between = [i for i in range(len(near)) if from_one[i] + from_other[i] == length]
    return min(between, key=lambda i: (abs(2 * from_one[i] - length), i))
