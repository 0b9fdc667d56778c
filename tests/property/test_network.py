"""Networks: what is accepted, weights, spectra, cuts."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import GraphError, InputError
from tacit.network import WEIGHTS, Network, algebraic_connectivity, mixing_spectrum, mixing_weights


@st.composite
def connected_graphs(draw):
    n = draw(st.integers(2, 14))
    tree = nx.random_labeled_tree(n, seed=draw(st.integers(0, 1000)))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20))
    tree.add_edges_from((a, b) for a, b in pairs if a != b)
    return tree


@given(graph=connected_graphs(), kind=st.sampled_from(WEIGHTS))
def test_weights_are_symmetric_doubly_stochastic_and_local(graph, kind):
    network = Network(graph)
    W = mixing_weights(network, kind).toarray()
    np.testing.assert_allclose(W, W.T, atol=0)
    np.testing.assert_allclose(W.sum(axis=1), 1.0, atol=1e-14)
    assert (W >= -1e-15).all()
    off = (W > 0) & ~np.eye(len(network), dtype=bool)
    np.testing.assert_array_equal(off, network.adjacency.toarray() > 0)
    spectrum = mixing_spectrum(mixing_weights(network, kind))
    assert -1 < spectrum.smallest <= spectrum.second < 1
    if kind == "lazy":
        assert spectrum.smallest >= -1e-12


@given(graph=connected_graphs(), seed=st.integers(0, 100))
def test_honest_graph_is_the_induced_subgraph(graph, seed):
    network = Network(graph)
    rng = np.random.default_rng(seed)
    coalition = rng.choice(len(network), size=int(rng.integers(0, len(network))), replace=False).tolist()
    honest = network.without(coalition)
    expected = graph.subgraph(set(graph) - set(coalition))
    assert set(honest.agents) == set(expected)
    links = {frozenset((honest.agents[i], honest.agents[j])) for i, j in honest.links}
    assert links == {frozenset(edge) for edge in expected.edges()}
    assert len(honest.components) == nx.number_connected_components(expected)
    assert network.is_vertex_cut(coalition) == (nx.number_connected_components(expected) > 1)


@given(graph=connected_graphs(), seed=st.integers(0, 100))
def test_labels_do_not_matter(graph, seed):
    order = np.random.default_rng(seed).permutation(len(graph))
    renamed = nx.relabel_nodes(graph, {node: ("agent", int(order[node])) for node in graph})
    before, after = Network(graph), Network(renamed)
    assert before.algebraic_connectivity == pytest.approx(after.algebraic_connectivity, abs=1e-9)
    assert sorted(before.degrees) == sorted(after.degrees)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.random_regular_graph(6, 1500, seed=1), None),
        (nx.cycle_graph(1600), 2 - 2 * np.cos(2 * np.pi / 1600)),
        (nx.star_graph(1200), 1.0),
        (nx.grid_2d_graph(40, 40), 2 - 2 * np.cos(np.pi / 40)),
        (nx.barbell_graph(600, 0), None),
    ],
    ids=["expander", "long ring", "star", "grid", "barbell"],
)
def test_large_spectra_equal_the_dense_ones(graph, expected):
    network = Network(graph)
    L = network.laplacian
    if expected is None:
        expected = np.linalg.eigvalsh(L.toarray())[1]
    assert algebraic_connectivity(L) == pytest.approx(expected, rel=1e-6)
    W = mixing_weights(network)
    dense = np.linalg.eigvalsh(W.toarray())
    spectrum = mixing_spectrum(W)
    assert spectrum.second == pytest.approx(dense[-2], abs=1e-8)
    exact = spectrum.smallest == pytest.approx(dense[0], abs=1e-8)
    assert exact or spectrum.smallest == pytest.approx(2 * W.diagonal().min() - 1)
    assert spectrum.smallest <= dense[0] + 1e-8


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([(0, 1), (1, 2)]), "make it undirected"),
        (nx.MultiGraph([(0, 1), (0, 1)]), "parallel"),
        (nx.Graph([("a", "a"), ("a", "b")]), "self-loops"),
        (nx.Graph([("a", "b"), ("c", "d")]), r"2 pieces \(a, b; c, d\)"),
        (nx.empty_graph(1), "1 agent"),
        (nx.empty_graph(0), "0 agent"),
        ([(0, 1)], "networkx graph, not from list"),
    ],
    ids=["directed", "parallel", "loop", "pieces", "one", "none", "list"],
)
def test_what_is_no_network_gets_a_sentence(graph, message):
    with pytest.raises(GraphError, match=message):
        Network(graph)


def test_unknown_names_are_named():
    with pytest.raises(GraphError, match="no agent is called z"):
        Network(nx.path_graph(3)).without(["z"])
    with pytest.raises(InputError, match="'fast'"):
        mixing_weights(Network(nx.path_graph(3)), "fast")


def test_any_hashable_is_a_label():
    graph = nx.Graph([(("grid", 1), frozenset({2})), (frozenset({2}), 3.5)])
    network = Network(graph)
    assert network.agents == (("grid", 1), frozenset({2}), 3.5)
    assert Network(network).graph.edges() == graph.edges()


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_are_worked_out_once_and_nobody_can_change_them(kind):
    """An audit asks for them a thousand times; a network never changes, so neither do they."""
    network = Network(nx.cycle_graph(5))
    W = mixing_weights(network, kind)
    assert mixing_weights(network, kind) is W
    with pytest.raises(ValueError, match="read-only"):
        W.data[0] = 2.0
    np.testing.assert_array_equal(mixing_weights(Network(nx.cycle_graph(5)), kind).toarray(), W.toarray())


def test_an_array_of_links_gives_the_network_of_the_graph():
    graph = nx.random_regular_graph(4, 30, seed=1)
    network = Network(graph)
    pairs = np.array([(network.index[b], network.index[a]) for a, b in graph.edges()] * 2)
    again = Network.of_pairs(pairs)
    assert again.agents == tuple(range(30))
    np.testing.assert_array_equal(again.links, network.links)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (1, 1)], "1 linked to itself"),
        ([(0, 1), (2, 3)], "falls into 2 pieces"),
        ([(0, 1), (1, -1)], "agent -1"),
        ([(0.5, 1.0)], "pairs of agents' numbers"),
        ([], "pairs of agents' numbers"),
        ([0, 1], "pairs of agents' numbers"),
    ],
)
def test_an_array_that_is_no_network_gets_a_sentence(pairs, message):
    with pytest.raises(GraphError, match=message):
        Network.of_pairs(pairs)
