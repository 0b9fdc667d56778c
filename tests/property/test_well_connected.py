"""Graphs with as many links for everybody, for any number of agents and links."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import GraphError
from tacit.network import Network, well_connected


@given(st.integers(2, 24), st.integers(2, 26), st.integers(0, 9))
def test_everybody_has_as_many_neighbours_and_the_graph_is_connected(agents, degree, seed):
    graph = well_connected(agents, degree, draws=2, seed=seed)
    expected = min(degree + agents * degree % 2, agents - 1)
    assert list(graph) == list(range(agents))
    assert {links for _, links in graph.degree} == {expected}
    assert nx.is_connected(graph)


def test_two_links_each_are_a_cycle_and_all_links_a_complete_graph():
    assert nx.utils.graphs_equal(well_connected(7, 2), nx.cycle_graph(7))
    assert nx.utils.graphs_equal(well_connected(7, 6), nx.complete_graph(7))
    assert nx.utils.graphs_equal(well_connected(2, 1), nx.complete_graph(2))


def test_the_best_connected_draw_is_taken():
    drawn = [Network(well_connected(20, 4, draws=1, seed=seed)) for seed in range(8)]
    best = Network(well_connected(20, 4, draws=8, seed=0))
    assert best.algebraic_connectivity == max(network.algebraic_connectivity for network in drawn)


def test_draws_that_fall_into_pieces_are_left_out():
    broken = next(s for s in range(10_000) if not nx.is_connected(nx.random_regular_graph(3, 8, seed=s)))
    assert nx.is_connected(well_connected(8, 3, draws=1, seed=broken))


def test_a_seed_repeats_a_graph_and_none_draws_anew():
    assert nx.utils.graphs_equal(well_connected(12, 4, seed=3), well_connected(12, 4, seed=3))
    assert nx.is_connected(well_connected(12, 4, draws=1, seed=None))


@pytest.mark.parametrize(
    ("agents", "degree", "draws", "word"),
    [(1, 2, 1, "1 agent"), (5, 1, 1, "1 link"), (5, -1, 1, "-1 link"), (2, 0, 1, "0 link"), (9, 4, 0, "draws = 0")],
)
def test_what_cannot_be_drawn_is_refused(agents, degree, draws, word):
    with pytest.raises(GraphError, match=word):
        well_connected(agents, degree, draws=draws)
