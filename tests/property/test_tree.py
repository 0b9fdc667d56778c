"""The spanning tree that agents build from what their neighbours tell them."""

from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.network import Network
from tacit.runtimes import LinkedPeers, Stacked
from tacit.runtimes.agents import QueueLinks
from tacit.runtimes.tree import depth_of, find_place

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
        weights = np.ones(len(mine))
        peers.append(
            LinkedPeers(links, me=i, neighbours=mine, agents=len(network), own_weight=0.0, weights=weights)
        )
    return peers


def at_once(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(timeout=30) for future in [pool.submit(call) for call in calls]]


def places(network):
    peers = assembled(network)
    hops = [0] * len(peers)

    def build(i):
        def exchange(messages):
            hops[i] += 1
            return peers[i]._exchange(messages)

        return find_place(i, network.neighbours(i).tolist(), len(network), exchange)

    return at_once([lambda i=i: build(i) for i in range(len(peers))]), hops


def check_tree(network):
    found, hops = places(network)
    depth = depth_of(network)
    distance = nx.single_source_shortest_path_length(nx.Graph(network.links.tolist()), 0)
    assert hops == [3 * depth] * len(network)
    for i, place in enumerate(found):
        mine = network.neighbours(i).tolist()
        assert place.depth == depth
        assert (place.parent is None) == (i == 0)
        if place.parent is not None:
            parent = mine[place.parent]
            assert distance[parent] == distance[i] - 1
            assert parent == min(j for j in mine if distance[j] == distance[i] - 1)
            assert i in [network.neighbours(parent)[row] for row in found[parent].children]
    assert sum(len(place.children) for place in found) == len(network) - 1


@pytest.mark.parametrize("name", GRAPHS)
def test_agents_build_a_breadth_first_tree_from_the_smallest_id_and_stop_together(name):
    check_tree(Network(GRAPHS[name]))


@given(n=st.integers(2, 14), seed=st.integers(0, 10_000))
def test_any_connected_graph_gets_its_tree(n, seed):
    graph = nx.gnp_random_graph(n, 0.35, seed=seed)
    if not nx.is_connected(graph):
        graph = nx.compose(graph, nx.path_graph(n))
    check_tree(Network(graph))


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
    assert together.traffic.exchanges == peers[0].traffic.exchanges == (3 + 2 + 2) * depth_of(network)
    assert together.traffic.messages == sum(p.traffic.messages for p in peers)
    assert together.traffic.bytes == sum(p.traffic.bytes for p in peers)


def test_an_addition_of_ones_own_is_used_on_the_way():
    network = Network(nx.path_graph(4))
    peers = assembled(network)
    largest = at_once([lambda i=i: peers[i].sum(np.array([float(i)]), add=np.maximum) for i in range(4)])
    assert [float(x[0]) for x in largest] == [3.0] * 4
    assert Stacked(network).sum(np.arange(4.0)[:, None], add=np.maximum) == [3.0]
