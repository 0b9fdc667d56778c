"""Agents who alone cut the network, and those who come loose without them.

One depth-first walk (Hopcroft & Tarjan, Commun. ACM 16(6), 1973): what was reached through c comes loose without
its parent v where no link leads from there past v. It was reached in a row, so all of it is a range of the walk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.network.topology import Topology
from tacit.typing import Indices


class Hinges(NamedTuple):
    """What falls apart without one agent."""

    cuts: Indices
    """The agents without whom two pieces or more, each of two agents or more, are left."""
    loose: Indices
    """The agents in those pieces, less any piece with more than half of the network."""


def hinges(topology: Topology) -> Hinges:
    """Return the agents who alone cut a connected graph into pieces, and whom they cut off.

    A piece of one agent does not count: that agent has one neighbour, and is known by that. Nor does a piece with
    most of the network: its sum is that over all agents, less what the others bring.
    """
    n = len(topology)
    order, parent = _walk(topology)
    position = [0] * n
    for place, agent in enumerate(order):
        position[agent] = place
    lowest, size = _lowest(topology, order, parent, position), _sizes(order, parent)
    hanging: dict[int, list[tuple[int, int]]] = {}  # what comes loose below every agent, as ranges of the walk
    for c in order[1:]:
        if lowest[c] >= position[parent[c]]:
            hanging.setdefault(parent[c], []).append((position[c], position[c] + size[c]))
    cuts, edges = [], np.zeros(n + 1, dtype=np.intp)  # +1 where a range of loose agents starts, −1 behind its end
    for v, spans in hanging.items():
        rest = n - 1 - sum(stop - start for start, stop in spans)
        if sum(stop - start > 1 for start, stop in spans) + (rest > 1) < 2:
            continue
        cuts.append(v)
        for start, stop in spans:
            if 1 < stop - start <= n / 2:
                edges[start] += 1
                edges[stop] -= 1
        if 1 < rest <= n / 2:  # all but v and what hangs on it
            edges[0] += 1
            for start, stop in ((position[v], position[v] + 1), *spans):
                edges[start] -= 1
                edges[stop] += 1
    loose = np.array(order, dtype=np.intp)[np.cumsum(edges[:n]) > 0]
    return Hinges(np.array(sorted(cuts), dtype=np.intp), np.sort(loose))


def _walk(topology: Topology) -> tuple[list[int], list[int]]:
    """Return the agents in the order of a depth-first walk, and from whom each was reached; −1 at the start."""
    n, table = len(topology), topology.adjacency
    starts, ends = table.indptr.tolist(), table.indices.tolist()
    order, parent, seen = [0], [-1] * n, [False] * n
    seen[0] = True
    path = [(0, iter(ends[: starts[1]]))]
    while path:
        here, around = path[-1]
        following = next((agent for agent in around if not seen[agent]), None)
        if following is None:
            path.pop()
            continue
        seen[following], parent[following] = True, here
        order.append(following)
        path.append((following, iter(ends[starts[following] : starts[following + 1]])))
    return order, parent


def _lowest(topology: Topology, order: list[int], parent: list[int], position: list[int]) -> list[int]:
    """Return the earliest place of the walk that one link leads to from all that was reached through an agent."""
    lowest = position.copy()
    for i, j in topology.links.tolist():
        if parent[i] != j and parent[j] != i:
            lowest[i], lowest[j] = min(lowest[i], position[j]), min(lowest[j], position[i])
    for v in order[:0:-1]:
        lowest[parent[v]] = min(lowest[parent[v]], lowest[v])
    return lowest


def _sizes(order: list[int], parent: list[int]) -> list[int]:
    """Return how many agents were reached through each, itself included."""
    size = [1] * len(order)
    for v in order[:0:-1]:
        size[parent[v]] += size[v]
    return size
