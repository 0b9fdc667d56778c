"""Well-connected networks with the same number of links for everybody.

Random d-regular graphs with d ≥ 3 are connected with a probability that tends to one, and keep μ₂ near
d − 2√(d − 1) whatever n is (Friedman 2008), so that few links each are enough for quick agreement and for honest
agents who stay connected whoever colludes. A network is public: it is drawn with fixed seeds, which harms nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice, repeat
from typing import TYPE_CHECKING, Any

from tacit.errors import GraphError
from tacit.later import later
from tacit.network.topology import Network

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


def well_connected(agents: int, degree: int, *, draws: int = 30, seed: int | None = 0) -> nx.Graph[Any]:
    """Return the graph with the largest μ₂ among *draws* connected ones with *degree* neighbours for everybody.

    Its nodes are 0, …, agents − 1. All with all where *degree* is agents − 1 or more, and a cycle where it is 2.
    Everybody has one neighbour more where agents · degree is odd, because links have two ends. Graphs are drawn
    from *seed*, seed + 1, …, and anew each time where it is None.

    >>> sorted(dict(well_connected(9, 3).degree).values())[0], well_connected(4, 7).size()
    (4, 6)
    """
    if agents < 2:
        raise GraphError(f"{agents} agent(s): a network has at least two.")
    if degree < min(2, agents - 1):
        raise GraphError(f"{degree} link(s) each do not connect {agents} agents; use at least 2.")
    if draws < 1:
        raise GraphError(f"draws = {draws} must be at least 1: the number of graphs to compare.")
    degree += agents * degree % 2
    if degree >= agents - 1:
        return nx.complete_graph(agents)
    if degree == 2:
        return nx.cycle_graph(agents)
    drawn = list(islice(_connected(agents, degree, seed), draws))
    return max(drawn, key=lambda graph: Network(graph).algebraic_connectivity) if draws > 1 else drawn[0]


def _connected(agents: int, degree: int, seed: int | None) -> Iterator[nx.Graph[Any]]:
    """Yield random regular graphs without those that fall into pieces."""
    for each in repeat(None) if seed is None else count(seed):
        graph: nx.Graph[Any] = nx.empty_graph(agents)
        graph.add_edges_from(nx.random_regular_graph(degree, agents, seed=each).edges())
        if nx.is_connected(graph):
            yield graph
