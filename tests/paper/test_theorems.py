"""Theorems 1 and 2, Corollary 1, and what the paper says about vertex cuts."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import VacuousError
from tacit.masks import AffineMasks, Keystreams, agent_keys, draw, mask
from tacit.network import Network
from tacit.runtimes import Stacked


def test_theorem_1_without_corrupted_agents():
    """C = ∅: ε = 1/(4σ²μ₂(L)); the cycle of n has μ₂ = 2 − 2cos(2π/n)."""
    certificate = tacit.certify(Network(nx.cycle_graph(9)), (), sigma=2.0)
    assert certificate.epsilon == pytest.approx(1 / (16 * (2 - 2 * np.cos(2 * np.pi / 9))), rel=1e-12)


def test_theorem_2_is_theorem_1_on_the_honest_graph():
    """K_n − C = K_{n−|C|}, whose μ₂ is its size."""
    certificate = tacit.certify(Network(nx.complete_graph(7)), {0, 3}, sigma=1.5)
    assert certificate.epsilon == pytest.approx(1 / (4 * 1.5**2 * 5), rel=1e-12)
    assert set(certificate.uncertainty) == {1, 2, 4, 5, 6}
    assert certificate.uncertainty[1] == pytest.approx(1.5 * np.sqrt(2 * 4))


def test_the_bound_is_attained_in_the_fiedler_direction():
    graph = nx.random_regular_graph(4, 12, seed=2)
    network, sigma = Network(graph), 0.7
    honest = network.without({0})
    L = honest.laplacian.toarray()
    fiedler = np.linalg.eigh(L)[1][:, 1]
    divergence = fiedler @ np.linalg.pinv(L) @ fiedler / (4 * sigma**2)
    assert divergence == pytest.approx(tacit.certify(network, {0}, sigma=sigma).epsilon, rel=1e-9)


def test_guess_is_what_the_likelihood_ratio_test_achieves():
    """20 000 sampled views of two worlds in the worst direction: the best test is right Φ(μ/2) of the time."""
    network, sigma, samples, distance = Network(nx.petersen_graph()), 1.0, 20_000, 1.5
    L = network.laplacian.toarray()
    direction = distance * np.linalg.eigh(L)[1][:, 1]
    lattice = AffineMasks(sigma).lattice(agents=10, links=15)
    source = Keystreams(agent_keys(10, seed=11), network.degrees)
    a = mask(draw(source, (30, 2 * samples), lattice), Stacked(network))
    score = direction @ np.linalg.pinv(L)
    midpoint = score @ direction / 2
    in_world_0, in_world_1 = score @ a[:, :samples], score @ (a[:, samples:] + direction[:, None])
    right = ((in_world_0 < midpoint).mean() + (in_world_1 >= midpoint).mean()) / 2
    expected = tacit.certify(network, (), sigma=sigma).guess(distance)
    assert abs(right - expected) < 4 * np.sqrt(0.25 / (2 * samples))


def test_corollary_1_connectivity_suffices():
    """(t + 1)-connected ⇒ private against every t; the Petersen graph is 3-connected."""
    network = Network(nx.petersen_graph())
    assert tacit.certify(network, any=2, sigma=1.0).is_private
    cut = tacit.certify(network, any=3, sigma=1.0)
    assert not cut.is_private
    assert cut.exposed_agents
    assert "exactly" in cut.statement()


def test_complete_graphs_have_no_vertex_cut():
    """K_n counts as (n − 1)-connected: needed for the triangle with t = 1."""
    certificate = tacit.certify(Network(nx.complete_graph(3)), any=1, sigma=1.0)
    assert certificate.is_private
    assert certificate.epsilon == 0.125


def test_every_coalition_is_the_worst_of_all():
    network = Network(nx.random_regular_graph(4, 10, seed=3))
    worst = max(tacit.certify(network, {a, b}, sigma=1.0).epsilon for a in range(10) for b in range(a))
    assert tacit.certify(network, any=2, sigma=1.0).epsilon == pytest.approx(worst, rel=1e-12)


def test_a_large_network_gets_a_bound_that_is_one():
    network = Network(nx.random_regular_graph(12, 400, seed=4))
    bound = tacit.certify(network, any=2, sigma=1.0, quick=True)
    assert bound.method == "bound"
    rng = np.random.default_rng(0)
    for _ in range(5):
        sampled = tacit.certify(network, rng.choice(400, 2, replace=False).tolist(), sigma=1.0)
        assert sampled.epsilon <= bound.epsilon
    assert "may differ by at least" in bound.statement()


def test_a_vertex_cut_exposes_the_sum_of_each_piece():
    """Path 0-1-2-3-4 with C = {2}: the pieces {0, 1} and {3, 4}."""
    certificate = tacit.certify(Network(nx.path_graph(5)), {2}, sigma=1.0)
    assert not certificate.is_private
    assert certificate.exposed_sums == ((0, 1), (3, 4))
    assert certificate.exposed_agents == ()
    assert certificate.components[0].epsilon == pytest.approx(1 / 8)
    assert "cuts the honest agents apart" in certificate.statement()


def test_the_definition_is_vacuous_with_one_honest_agent():
    with pytest.raises(VacuousError, match="1 honest agent"):
        tacit.certify(Network(nx.complete_graph(3)), {0, 1}, sigma=1.0)
    with pytest.raises(VacuousError, match="0 ≤ any ≤ 1"):
        tacit.certify(Network(nx.complete_graph(3)), any=2, sigma=1.0)
