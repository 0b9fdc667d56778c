"""The spanning tree that every agent works out from the network, and sums over it."""

from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import GraphError
from tacit.network import Network, Topology, tree
from tacit.runtimes import LinkedPeers, Stacked
from tacit.runtimes.agents import QueueLinks

GRAPHS = {
    "pair": nx.path_graph(2),
    "path": nx.path_graph(9),
    "path from its middle": nx.relabel_nodes(nx.path_graph(5), {0: 3, 1: 1, 2: 0, 3: 2, 4: 4}),
    "star": nx.star_graph(6),
    "complete": nx.complete_graph(6),
    "florentine": nx.florentine_families_graph(),
    "regular": nx.random_regular_graph(4, 30, seed=2),
}


def assembled(network):
    """Return every agent's peers, over queues."""
    queues = {(int(i), int(j)): SimpleQueue() for a, b in network.links for i, j in ((a, b), (b, a))}
    peers = []
    for i in range(len(network)):
        mine = network.neighbours(i).tolist()
        links = QueueLinks([queues[i, j] for j in mine], [queues[j, i] for j in mine])
        peers.append(LinkedPeers(links, network=network, me=i, own_weight=0.0, weights=np.ones(len(mine))))
    return peers


def at_once(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(timeout=30) for future in [pool.submit(call) for call in calls]]


def check_tree(network):
    grown, graph = network.tree, nx.Graph(network.links.tolist())
    assert grown.root == min(nx.center(graph))
    assert grown.depth == nx.radius(graph)
    assert grown.diameter == nx.diameter(graph)
    distance = nx.single_source_shortest_path_length(graph, grown.root)
    assert grown.depths.tolist() == [distance[i] for i in range(len(network))]
    for i in set(range(len(network))) - {grown.root}:
        assert grown.parents[i] == min(j for j in graph[i] if distance[j] == distance[i] - 1)
        assert i in grown.children(grown.parents[i])
    assert sum(len(grown.children(i)) for i in range(len(network))) == len(network) - 1


@pytest.mark.parametrize("name", GRAPHS)
def test_the_tree_is_breadth_first_from_the_first_agent_in_the_centre(name):
    check_tree(Network(GRAPHS[name]))


@given(n=st.integers(2, 14), seed=st.integers(0, 10_000))
def test_any_connected_graph_has_its_tree(n, seed):
    graph = nx.gnp_random_graph(n, 0.35, seed=seed)
    if not nx.is_connected(graph):
        graph = nx.compose(graph, nx.path_graph(n))
    check_tree(Network(graph))


@pytest.mark.parametrize(
    "graph",
    [
        nx.path_graph(41),
        nx.random_labeled_tree(60, seed=3),
        nx.random_regular_graph(4, 60, seed=1),
        nx.cycle_graph(30),
    ],
    ids=["path", "tree", "regular", "ring"],
)
def test_among_very_many_agents_the_root_is_in_the_middle_of_a_long_way(graph, monkeypatch):
    """On trees that is the centre; elsewhere the tree is one hop too deep at most here, and the bound a bound."""
    monkeypatch.setattr(tree, "_EXACT", 10)
    grown = Network(graph).tree
    assert grown.depth <= nx.radius(graph) + (not nx.is_tree(graph))
    assert grown.diameter >= nx.diameter(graph)
    assert sorted(grown.parents < 0) == [False] * (len(graph) - 1) + [True]


def test_agents_in_pieces_have_no_tree():
    pieces = Topology(range(4), np.array([[0, 1], [2, 3]]))
    with pytest.raises(GraphError, match="pieces"):
        _ = pieces.tree


@pytest.mark.parametrize("name", GRAPHS)
def test_sums_apart_are_sums_together_and_cost_the_same(name):
    """Floats to rounding, words to the bit; hops, messages and bytes alike."""
    network = Network(GRAPHS[name])
    rng = np.random.default_rng(0)
    v = rng.standard_normal((len(network), 5))
    w = rng.integers(0, 2**63, (len(network), 5), dtype=np.uint64) * np.uint64(2)
    together = Stacked(network)
    peers = assembled(network)

    def both(i):
        return peers[i].sum(v[i]), peers[i].sum(w[i])

    apart = at_once([lambda i=i: both(i) for i in range(len(peers))])
    floats, words = together.sum(v), together.sum(w)
    for mine, exact in apart:
        np.testing.assert_allclose(mine, floats, rtol=1e-14, atol=1e-14)
        assert (mine == apart[0][0]).all(), "agents hold different sums"
        np.testing.assert_array_equal(exact, words)
    assert together.traffic.exchanges == peers[0].traffic.exchanges == 2 * 2 * network.tree.depth
    assert together.traffic.messages == sum(p.traffic.messages for p in peers)
    assert together.traffic.bytes == sum(p.traffic.bytes for p in peers)


def test_an_addition_of_ones_own_is_used_on_the_way():
    network = Network(nx.path_graph(4))
    peers = assembled(network)
    largest = at_once([lambda i=i: peers[i].sum(np.array([float(i)]), add=np.maximum) for i in range(4)])
    assert [float(x[0]) for x in largest] == [3.0] * 4
    assert Stacked(network).sum(np.arange(4.0)[:, None], add=np.maximum) == [3.0]
