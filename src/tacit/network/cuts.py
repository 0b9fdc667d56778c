"""Small vertex cuts: sets of at most t agents whose removal leaves the others in pieces.

Even's test (SIAM J. Comput. 4(3), 1975): a graph is (t + 1)-connected if t + 1 disjoint paths join every two
of its first t + 1 agents, and join every later agent to all those before it. Each is one maximum flow on
the graph with every agent split into an entrance and an exit, joined by a pipe of capacity 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.later import later
from tacit.network.topology import Topology
from tacit.typing import Indices

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
else:
    nx = later("networkx")
    sp = later("scipy.sparse")


def small_vertex_cut(topology: Topology, t: int) -> Indices | None:
    """Return a vertex cut of at most *t* agents of a connected graph, by index; None if there is none."""
    n, thinnest = len(topology), int(topology.degrees.argmin())
    least = int(topology.degrees[thinnest])
    if least == n - 1 or t < 1:
        return None  # a complete graph has no vertex cut
    if least <= t:
        return topology.neighbours(thinnest)
    if t == 1:
        graph: nx.Graph[int] = nx.Graph()
        graph.add_edges_from(topology.links.tolist())
        point = next(nx.articulation_points(graph), None)
        return None if point is None else np.array([point])
    return _Flows(topology).cut(t)


class _Flows:
    """The split graph: entrance i, exit n + i, and a source 2n that can be joined to any entrance."""

    def __init__(self, topology: Topology) -> None:
        self.n = n = len(topology)
        i, j = topology.links.T
        agents = np.arange(n)
        tails = np.concatenate([agents, n + i, n + j, np.full(n, 2 * n)])
        heads = np.concatenate([n + agents, j, i, agents])
        pipes = np.ones(len(tails), dtype=np.int32)
        self.graph = sp.csr_array((pipes, (tails, heads)), shape=(2 * n + 1, 2 * n + 1))
        self.graph.sort_indices()
        self.at_source = slice(int(self.graph.indptr[2 * n]), int(self.graph.indptr[2 * n + 1]))
        self.adjacent = topology.adjacency

    def cut(self, t: int) -> Indices | None:
        """Return a cut of at most t agents, or None."""
        for j in range(1, self.n):
            sources = [[i] for i in range(j) if not self.adjacent[i, j]] if j <= t else [list(range(j))]
            for group in sources:
                separator = self._separating(group, j, t)
                if separator is not None:
                    return separator
        return None

    def _separating(self, group: list[int], sink: int, t: int) -> Indices | None:
        """Return at most t agents that part *group* from *sink*, if that few can."""
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow  # heavy: agents go without

        capacity = self.graph.copy()
        open_pipes = np.zeros(self.n, dtype=np.int32)
        open_pipes[group] = 1
        capacity.data[self.at_source] = open_pipes
        source = 2 * self.n
        if len(group) == 1:
            source = self.n + group[0]
        flow = maximum_flow(capacity, source, sink)
        if flow.flow_value > t:
            return None
        left = sp.csr_array(capacity - flow.flow)
        left.data[left.data < 0] = 0
        left.eliminate_zeros()
        reached = np.zeros(2 * self.n + 1, dtype=bool)
        reached[breadth_first_order(left, source, return_predecessors=False)] = True
        entrances, exits = reached[: self.n], reached[self.n : 2 * self.n]
        cut = np.flatnonzero(entrances & ~exits)
        # a full pipe out of the source counts the agent behind it
        behind = group if len(group) > 1 else self.adjacent[[group[0]]].indices.tolist()
        cut = np.setdiff1d(np.union1d(cut, [i for i in behind if not reached[i]]), group if len(group) == 1 else [])
        return cut.astype(np.intp)
