"""How large shares are: equal to brute force over all coalitions, and close to a curator's noise."""

import math
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.differential import share_out
from tacit.differential.sharing import _bounded, spent
from tacit.errors import NotPrivateError


def promise(any, epsilon=1.0):
    return tacit.DifferentialPrivacy(epsilon=epsilon, delta=1e-6, clip=1.0, any=any)


def brute_force(graph, any, share, sigma):
    """Return max [M⁻¹]_ii over all coalitions of at most *any* agents, by inverting every M."""
    worst = 0.0
    for size in range(any + 1):
        for coalition in combinations(graph, size):
            honest = graph.subgraph(set(graph) - set(coalition))
            L = nx.laplacian_matrix(honest).toarray().astype(float)
            if math.isinf(sigma):
                smallest = min(len(piece) for piece in nx.connected_components(honest))
                worst = max(worst, 1.0 / (smallest * share**2))
            else:
                M = 2.0 * sigma**2 * L + share**2 * np.eye(len(L))
                worst = max(worst, np.linalg.inv(M).diagonal().max())
    return worst


GRAPHS = {
    "complete": nx.complete_graph(6),
    "ring": nx.cycle_graph(9),
    "path": nx.path_graph(7),
    "petersen": nx.petersen_graph(),
    "random": nx.random_regular_graph(4, 14, seed=3),
    "twenty": nx.random_regular_graph(5, 20, seed=1),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("sigma", [0.3, 3.0, 300.0, math.inf])
@pytest.mark.parametrize("any", [0, 1, 2])
def test_shares_keep_the_promise_and_no_more_by_brute_force_over_all_coalitions(name, sigma, any):
    graph = GRAPHS[name]
    sharing = share_out(tacit.Network(graph), promise(any), sigma=sigma)
    worst = brute_force(graph, any, sharing.share, sigma)
    assert math.sqrt(worst) == pytest.approx(sharing.mu, rel=1e-9)
    assert math.sqrt(worst) <= sharing.mu * (1.0 + 1e-10)  # the inverse is rounded, too
    assert spent(tacit.Network(graph), any, sharing.share, sigma=sigma) == pytest.approx(sharing.mu, rel=1e-9)


@pytest.mark.parametrize("any", [0, 1, 2])
def test_the_bound_for_large_networks_never_promises_more_than_brute_force(any):
    network = tacit.Network(GRAPHS["complete"])
    share = _bounded(network, any, promise(any).mu, 2.0)
    assert math.sqrt(brute_force(GRAPHS["complete"], any, share, 2.0)) <= promise(any).mu


def test_a_large_network_is_bounded_and_says_so():
    network = tacit.Network(nx.random_regular_graph(12, 300, seed=2))
    sharing = share_out(network, promise(3), sigma=1e4)
    assert not sharing.exact
    assert sharing.beyond_curator == pytest.approx(math.sqrt(300 / 297), rel=1e-3)
    with pytest.raises(NotPrivateError, match="too thin"):
        share_out(tacit.Network(nx.cycle_graph(400)), promise(2), sigma=1e4)


@pytest.mark.parametrize(("agents", "any"), [(20, 2), (50, 2), (20, 1)])
def test_noise_is_that_of_a_curator_but_for_the_shares_of_colluders(agents, any):
    network = tacit.Network(nx.random_regular_graph(6, agents, seed=5))
    ideal = math.sqrt(agents / (agents - any))
    assert share_out(network, promise(any)).beyond_curator == pytest.approx(ideal, rel=1e-9)
    wide = 4.0 * math.sqrt(agents) * share_out(network, promise(any)).share
    assert ideal <= share_out(network, promise(any), sigma=wide).beyond_curator <= 1.03 * ideal


def test_a_coalition_that_cuts_the_network_costs_noise_and_never_the_promise():
    network = tacit.Network(nx.path_graph(5))  # agent 1 alone cuts off agent 0
    sharing = share_out(network, promise(1))
    assert sharing.share == pytest.approx(1.0 / sharing.mu)  # agent 0 must do with its own share
    assert sharing.coalition in {(1,), (3,)}


@pytest.mark.parametrize("sigma", [1e6, 1e9, 1e12])
def test_rounding_of_wide_masks_never_makes_shares_smaller(sigma):
    """An eigenvalue of zero, computed at the masks' scale, would pass for noise."""
    network = tacit.Network(GRAPHS["petersen"])
    assert share_out(network, promise(1), sigma=sigma).share >= (1.0 - 1e-9) * share_out(network, promise(1)).share


def test_local_noise_is_the_case_without_masks():
    network = tacit.Network(nx.complete_graph(8))
    thin = share_out(network, promise(2), sigma=1e-9)
    assert thin.share == pytest.approx(1.0 / thin.mu, rel=1e-9)
