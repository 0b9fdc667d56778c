"""Calibrate, design, augment: targets that come back, graphs that hold."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.certificates import certify, exposing, privacy_lines
from tacit.errors import InputError, MaskError, NotPrivateError, VacuousError
from tacit.network import Network, small_vertex_cut

GRAPH = nx.random_regular_graph(6, 24, seed=3)


@settings(max_examples=25)
@given(epsilon=st.floats(1e-8, 10.0), t=st.integers(0, 2))
def test_calibrate_then_certify_returns_epsilon(epsilon, t):
    sigma = tacit.calibrate(GRAPH, any=t, epsilon=epsilon, resolution=1.0, bound=1.0 + 1e3 * epsilon**-0.5)
    assert tacit.certify(GRAPH, any=t, sigma=sigma).epsilon == pytest.approx(epsilon, rel=1e-9)


@given(guess=st.floats(0.501, 0.99), hide=st.floats(0.01, 100.0))
def test_calibrate_then_certify_returns_the_guess(guess, hide):
    sigma = tacit.calibrate(GRAPH, {1, 5}, guess=guess, hide=hide, bound=hide)
    assert tacit.certify(GRAPH, {1, 5}, sigma=sigma).guess(hide) == pytest.approx(guess, abs=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-3), (3.0, 0.1)])
def test_calibrate_then_certify_returns_delta(epsilon, delta):
    sigma = tacit.calibrate(GRAPH, any=1, epsilon=epsilon, delta=delta, hide=5.0)
    assert tacit.certify(GRAPH, any=1, sigma=sigma).tradeoff(5.0).delta(epsilon) == pytest.approx(delta, rel=1e-9)


def test_a_sigma_the_lattice_cannot_carry_is_refused_with_the_largest_it_can():
    with pytest.raises(MaskError, match="largest σ at that resolution is") as caught:
        tacit.calibrate(GRAPH, any=1, epsilon=1e-30)
    largest = float(str(caught.value).split("resolution is ")[1].split(". Ask")[0])
    mu = tacit.certify(GRAPH, any=1, sigma=1.0).mu
    assert tacit.calibrate(GRAPH, any=1, epsilon=1 / (4 * (0.9999 * largest) ** 2 * mu)) == pytest.approx(
        0.9999 * largest
    )
    with pytest.raises(MaskError, match="largest σ"):
        tacit.calibrate(GRAPH, any=1, epsilon=1 / (4 * (2.0 * largest) ** 2 * mu))


def test_degrees_must_exceed_t():
    pendant = GRAPH.copy()
    pendant.add_edge(0, "leaf")
    with pytest.raises(NotPrivateError, match="no σ protects leaf"):
        tacit.calibrate(pendant, any=1, epsilon=0.1)


def test_a_cut_cannot_be_calibrated_away():
    barbell = nx.barbell_graph(5, 0)
    with pytest.raises(NotPrivateError, match="cut the honest agents apart"):
        tacit.calibrate(barbell, any=1, epsilon=0.1)
    with pytest.raises(NotPrivateError, match="learn sums exactly"):
        tacit.calibrate(nx.path_graph(5), {2}, epsilon=0.1)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "one target"),
        ({"epsilon": 0.1, "guess": 0.6}, "one target"),
        ({"epsilon": -1.0}, "epsilon = -1.0"),
        ({"epsilon": 0.1, "delta": 2.0}, "delta"),
        ({"guess": 0.5}, "a coin"),
        ({"guess": 0.6, "hide": 0.0}, "hide"),
    ],
)
def test_impossible_targets_are_refused(target, message):
    with pytest.raises(InputError, match=message):
        tacit.calibrate(GRAPH, any=1, **target)


def test_design_reaches_its_target_and_beats_one_draw():
    """64 agents, 6 links each, any two: σ for ε = 0.01 is below the 3.95 of one random draw."""
    found = tacit.design(agents=64, any=2, epsilon=0.01, links=6, seed=1)
    assert set(dict(found.graph.degree()).values()) == {6}
    assert found.certificate.epsilon == pytest.approx(0.01, rel=1e-9)
    assert found.certificate.method == "exact"
    assert found.sigma < 3.95
    assert tacit.certify(found.graph, any=2, sigma=found.sigma).epsilon == pytest.approx(0.01, rel=1e-9)
    again = tacit.design(agents=64, any=2, epsilon=0.01, links=6, seed=1)
    assert set(again.graph.edges()) == set(found.graph.edges())


def test_design_takes_enough_links_by_itself():
    found = tacit.design(agents=15, any=2, guess=0.55, hide=3.0, draws=4, seed=2)
    assert min(dict(found.graph.degree()).values()) >= 6
    assert found.certificate.guess(3.0) == pytest.approx(0.55, abs=1e-9)


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        ({"agents": 5, "any": 4}, VacuousError, "0 ≤ any ≤ 3"),
        ({"agents": 10, "any": 3, "links": 3}, InputError, "more than any"),
        ({"agents": 9, "any": 1, "links": 3}, InputError, "even"),
        ({"agents": 10, "any": 1, "links": 10}, InputError, "less than agents"),
    ],
)
def test_impossible_designs_are_refused(request_, error, message):
    with pytest.raises(error, match=message):
        tacit.design(epsilon=0.1, **request_)


def fewest(graph, t):
    """The least number of links by brute force."""
    missing = list(nx.non_edges(graph))
    for size in range(len(missing) + 1):
        for links in combinations(missing, size):
            bigger = graph.copy()
            bigger.add_edges_from(links)
            if nx.node_connectivity(bigger) > t:
                return size
    raise AssertionError


@pytest.mark.parametrize("seed", range(12))
def test_augment_is_exact_on_small_graphs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 8))
    graph = nx.random_labeled_tree(n, seed=seed)
    graph.add_edges_from(nx.gnp_random_graph(n, 0.2, seed=seed).edges())
    for t in (1, 2):
        found = tacit.augment(graph, any=t)
        assert found.exact
        assert len(found.links) == fewest(graph, t)
        assert nx.node_connectivity(found.graph) > t
        assert set(found.graph.edges()) == {*graph.edges(), *(tuple(sorted(link)) for link in found.links)}


@pytest.mark.parametrize(
    ("graph", "t"),
    [
        (nx.random_labeled_tree(150, seed=1), 1),
        (nx.random_labeled_tree(80, seed=2), 2),
        (nx.grid_2d_graph(8, 12), 2),
        (nx.barbell_graph(40, 3), 1),
    ],
    ids=["tree", "tree-2", "grid", "barbell"],
)
def test_augment_holds_on_larger_graphs_and_says_how_few_there_could_be(graph, t):
    found = tacit.augment(graph, any=t)
    assert small_vertex_cut(Network(found.graph), t) is None
    assert found.at_least <= len(found.links) <= 2 * found.at_least + 2


def test_augment_reaches_a_connectivity():
    found = tacit.augment(nx.cycle_graph(12), any=1, mu=0.8)
    assert found.mu >= 0.8
    assert tacit.certify(found.graph, any=1, sigma=1.0).mu == pytest.approx(found.mu, rel=1e-6)


def test_augment_of_a_sound_graph_adds_nothing():
    found = tacit.augment(nx.petersen_graph(), any=2)
    assert found.links == ()
    assert found.exact


def test_augment_refuses_nonsense():
    with pytest.raises(VacuousError, match="1 ≤ any ≤ 1"):
        tacit.augment(nx.path_graph(3), any=2)
    with pytest.raises(InputError, match="mu = 20"):
        tacit.augment(nx.path_graph(5), any=1, mu=20.0)


@pytest.mark.large
def test_correct_inequalities_in_place_of_the_papers_cheeger_remark():
    """μ₂ ≤ κ(G) for graphs that are not complete, and Mohar's bounds by the isoperimetric number."""
    from networkx.generators.atlas import graph_atlas_g

    broken = 0
    for graph in graph_atlas_g():
        n = len(graph)
        if n < 4 or not nx.is_connected(graph) or graph.number_of_edges() == n * (n - 1) // 2:
            continue
        mu = tacit.Network(graph).algebraic_connectivity
        assert mu <= nx.node_connectivity(graph) + 1e-9
        sets = [set(s) for k in range(1, n // 2 + 1) for s in combinations(graph, k)]
        isoperimetric = min(len(list(nx.edge_boundary(graph, s))) / len(s) for s in sets)
        largest = max(dict(graph.degree()).values())
        assert mu / 2 <= isoperimetric + 1e-9
        assert isoperimetric <= np.sqrt(mu * (2 * largest - mu)) + 1e-9
        vertex_expansion = min(len(set(nx.node_boundary(graph, s))) / len(s) for s in sets)
        broken += mu > 2 * vertex_expansion + 1e-9
    assert broken > 100, "the inequality printed in the paper fails for many graphs"


def test_allocation_strengthens_the_bridge_of_a_barbell():
    """Two K₄ and a bridge: μ₂ from 0.354 to 0.929 at the same total noise, the bridge with 4.6 of 13."""
    graph = nx.barbell_graph(4, 0)
    scales = tacit.allocate(graph)
    assert sum(s**2 for s in scales.values()) == pytest.approx(13.0)
    assert scales[3, 4] ** 2 == pytest.approx(4.64, abs=0.05)
    assert tacit.certify(graph, (), sigma=1.0).mu == pytest.approx(0.3542, abs=1e-4)
    assert tacit.certify(graph, (), sigma=1.0, link_scales=scales).mu == pytest.approx(0.929, abs=2e-3)


def test_allocation_guards_against_coalitions():
    graph = nx.connected_watts_strogatz_graph(12, 4, 0.3, seed=2)
    scales = tacit.allocate(graph, any=1)
    before, after = (tacit.certify(graph, any=1, sigma=1.0, link_scales=s).mu for s in (None, scales))
    assert after > 1.05 * before
    sigma = tacit.calibrate(graph, any=1, epsilon=0.01, link_scales=scales)
    assert tacit.certify(graph, any=1, sigma=sigma, link_scales=scales).epsilon == pytest.approx(0.01, rel=1e-9)
    assert sigma < tacit.calibrate(graph, any=1, epsilon=0.01)


def test_nothing_is_gained_where_all_links_are_alike():
    scales = tacit.allocate(nx.complete_graph(5))
    np.testing.assert_allclose(list(scales.values()), 1.0, atol=1e-6)
    with pytest.raises(NotPrivateError, match="cuts this graph apart"):
        tacit.allocate(nx.path_graph(4), any=1)


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
def test_scaled_masks_are_drawn_as_they_are_certified(runtime):
    """A run with scaled links reaches the optimum, and its certificate knows the scales."""
    graph = nx.barbell_graph(4, 0)
    scales = tacit.allocate(graph)
    points = np.arange(8.0)
    problem = tacit.Problem(graph, [tacit.Quadratic.distance([p]) for p in points])
    masks = tacit.AffineMasks(100.0, link_scales=scales, seed=1)
    answer = tacit.solve(problem, privacy=masks, runtime=runtime)
    assert answer.x[0] == pytest.approx(points.mean(), abs=1e-8)
    expected = tacit.certify(graph, (), sigma=100.0, link_scales=scales).epsilon
    assert answer.certificate(()).epsilon == pytest.approx(expected, rel=1e-12)


def test_scaled_masks_have_the_covariance_of_the_scaled_laplacian():
    from tacit.masks import Keystreams, agent_keys, draw, mask
    from tacit.runtimes import Stacked

    graph = nx.barbell_graph(3, 0)
    network, samples = Network(graph), 100_000
    scales = {(2, 3): 3.0, (0, 1): 0.5}
    masks = tacit.AffineMasks(2.0, link_scales=scales)
    lattice = masks.lattice(agents=6, links=7)
    source = Keystreams(agent_keys(6, seed=1), network.degrees)
    a = mask(draw(source, (14, samples), lattice, masks.row_scales(network)[:, None]), Stacked(network))
    assert (a.sum(axis=0) == 0).all()
    by_link = np.array([scales.get((network.agents[i], network.agents[j]), 1.0) for i, j in network.links])
    expected = 2 * 2.0**2 * network.scaled_laplacian(by_link).toarray()
    np.testing.assert_allclose(a @ a.T / samples, expected, atol=0.05 * np.abs(expected).max() / 2)
    with pytest.raises(MaskError, match="not linked"):
        tacit.AffineMasks(1.0, link_scales={(0, 5): 2.0}).row_scales(network)
    with pytest.raises(MaskError, match="positive"):
        tacit.AffineMasks(1.0, link_scales={(0, 1): -1.0})


def test_a_bound_that_says_nothing_is_not_called_not_private():
    """Nobody knows whether three agents learn anything: that is neither a guarantee nor an exposure."""
    certificate = certify(nx.random_regular_graph(4, 60, seed=1), any=3, sigma=1e3, quick=True)
    (stamp,) = exposing([], certificate)
    assert (stamp.reason, stamp.voids) == ("not proven", True)
    assert str(stamp).startswith("NOT PROVEN: no guarantee against coalitions of 3 was proven, and none disproved")
    assert not certificate.is_private
    assert "NOT PRIVATE" not in " ".join([*privacy_lines([stamp], certificate), certificate.statement()])
