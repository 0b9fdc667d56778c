"""Sections II and III: incidence matrix, eq. (4), Lemmas 1 to 3, eq. (5)."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.masks import AffineMasks, Keystreams, agent_keys, draw, mask
from tacit.network import Network, Topology
from tacit.runtimes import Stacked

GRAPHS = {
    "triangle": nx.complete_graph(3),
    "petersen": nx.petersen_graph(),
    "florentine": nx.florentine_families_graph(),
    "star": nx.star_graph(6),
    "random regular": nx.random_regular_graph(4, 20, seed=1),
}
each_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())


def drawn(network, sigma, m, seed=7):
    lattice = AffineMasks(sigma).lattice(agents=len(network), links=len(network.links))
    source = Keystreams(agent_keys(len(network), seed=seed), network.degrees)
    return draw(source, (2 * len(network.links), m), lattice)


@each_graph
def test_incidence_has_plus_one_at_the_smaller_index(graph):
    network = Network(graph)
    incidence = network.incidence.toarray()
    for column, (i, j) in zip(incidence.T, network.links, strict=True):
        assert i < j
        assert column[i] == 1
        assert column[j] == -1
        assert np.abs(column).sum() == 2


@each_graph
def test_laplacian_is_incidence_times_its_transpose(graph):
    network = Network(graph)
    incidence = network.incidence.toarray()
    np.testing.assert_array_equal(incidence @ incidence.T, network.laplacian.toarray())
    np.testing.assert_array_equal(network.laplacian.toarray(), nx.laplacian_matrix(graph).toarray())


def test_lemma_1_rank_is_agents_minus_components():
    apart = nx.disjoint_union(nx.cycle_graph(4), nx.disjoint_union(nx.complete_graph(3), nx.path_graph(2)))
    topology = Topology(list(apart), np.array(sorted(tuple(sorted(e)) for e in apart.edges())))
    assert len(topology.components) == 3
    assert np.linalg.matrix_rank(topology.incidence.toarray()) == 9 - 3


@each_graph
def test_mask_is_incidence_times_the_link_differences(graph):
    """a = ∇b with b_e = r_ji − r_ij for e = {i < j}: eq. (4) and its matrix form agree bit for bit."""
    network = Network(graph)
    r = drawn(network, 1.0, 5)
    owner = np.repeat(np.arange(len(network)), network.degrees)
    neighbour = np.concatenate([network.neighbours(i) for i in range(len(network))])
    row = {pair: k for k, pair in enumerate(zip(owner.tolist(), neighbour.tolist(), strict=True))}
    b = np.array([r[row[j, i]] - r[row[i, j]] for i, j in network.links.tolist()])
    np.testing.assert_array_equal(mask(r, Stacked(network)), network.incidence @ b)


def test_lemma_2_covariance_is_two_sigma_squared_laplacian():
    """Sample covariance of 200 000 coordinates against 2σ²L, within 5 standard errors entry by entry."""
    network, sigma, m = Network(nx.petersen_graph()), 3.0, 200_000
    a = mask(drawn(network, sigma, m), Stacked(network))
    expected = 2 * sigma**2 * network.laplacian.toarray()
    spread = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / m)
    assert (np.abs(a @ a.T / m - expected) <= 5 * spread).all()
    assert (np.abs(a.mean(axis=1)) <= 5 * np.sqrt(np.diag(expected) / m)).all()


@each_graph
def test_lemma_3_effective_coefficients_keep_their_sum(graph):
    network = Network(graph)
    masks = AffineMasks(100.0, seed=3)
    lattice = masks.lattice(agents=len(network), links=len(network.links))
    rng = np.random.default_rng(0)
    cost = tacit.costs.stack([tacit.Affine(rng.standard_normal(4)) for _ in network.agents])
    source = Keystreams(agent_keys(len(network), seed=3), network.degrees)
    effective = masks.hide(cost, Stacked(network), source, network=network).cost
    np.testing.assert_array_equal(effective.affine.sum(axis=0), lattice.round(cost.affine).sum(axis=0))
    assert np.abs(effective.affine - cost.affine).min() > 1e-6


@each_graph
def test_the_sum_of_effective_costs_is_the_sum_of_costs(graph):
    """Σ h̃_i ≡ Σ h_i, eq. (5), for costs that are not quadratic too."""
    rng = np.random.default_rng(1)
    costs = [
        tacit.Logistic(rng.standard_normal((4, 2)), [0, 1, 1, 0], l2=0.1)
        if i % 2
        else tacit.Quadratic.distance([i, 1])
        for i in range(len(graph))
    ]
    problem = tacit.Problem(graph, costs)
    masks = AffineMasks(50.0, seed=1)
    source = Keystreams(agent_keys(len(graph), seed=1), problem.network.degrees)
    effective = masks.hide(problem.stack, Stacked(problem.network), source, network=problem.network).cost
    for x in rng.standard_normal((5, 2)):
        everywhere = np.tile(x, (len(graph), 1))
        true, seen = problem.stack.value(everywhere).sum(), effective.value(everywhere).sum()
        assert abs(true - seen) <= 1e-9 * np.abs(effective.value(everywhere)).sum()
