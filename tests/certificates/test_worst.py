"""m_t: branch and bound against brute force, bounds, deadlines, cuts."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.generators.atlas import graph_atlas_g

import tacit
from tacit.certificates import worst as worst_module
from tacit.certificates.threshold import Threshold
from tacit.certificates.worst import worst_coalition_indices
from tacit.errors import GraphError, InputError, VacuousError
from tacit.network import Network, small_vertex_cut

ATLAS = [graph for graph in graph_atlas_g() if len(graph) >= 3 and nx.is_connected(graph)]


def connectivity(graph):
    """μ₂ by networkx and NumPy alone."""
    return max(float(np.linalg.eigvalsh(nx.laplacian_matrix(graph).toarray().astype(float))[1]), 0.0)


def brute_force(graph, t):
    """The least μ₂ over all coalitions of t, by one batch of dense eigenvalues."""
    n, A = len(graph), nx.to_numpy_array(graph)
    kept = np.array([[i for i in range(n) if i not in c] for c in combinations(range(n), t)])
    parts = A[kept[:, :, None], kept[:, None, :]]
    laplacians = parts.sum(axis=2)[:, :, None] * np.eye(n - t) - parts
    return max(float(np.linalg.eigvalsh(laplacians)[:, 1].min()), 0.0)


@pytest.fixture
def no_enumeration(monkeypatch):
    """Force the search even where trying all coalitions would be quicker."""
    monkeypatch.setattr(worst_module, "_ENUMERATED", 0)


@pytest.mark.usefixtures("no_enumeration")
@pytest.mark.parametrize("t", [1, 2])
def test_every_connected_graph_with_up_to_seven_agents(t):
    """All 995 of them: the search equals brute force, and so does the cut finder."""
    tried = 0
    for graph in ATLAS:
        if len(graph) < t + 2:
            continue
        expected = brute_force(graph, t)
        found = worst_coalition_indices(Network(graph), t)
        assert found.exact
        assert found.mu == pytest.approx(expected, rel=1e-6, abs=1e-9)
        cut = small_vertex_cut(Network(graph), t)
        assert (cut is None) == (expected > 1e-9)
        tried += 1
    assert tried > 900


def test_worst_size_is_exactly_t():
    """Some agent can always be added to a coalition without raising μ₂: no smaller coalition is worse than t."""
    for graph in ATLAS:
        if len(graph) == 6:
            smaller = brute_force(graph, 1)
            assert brute_force(graph, 2) <= smaller + 1e-9
            assert smaller <= connectivity(graph) + 1e-9


@pytest.mark.usefixtures("no_enumeration")
@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_up_to_thirty_agents(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 31))
    graph = nx.gnp_random_graph(n, 0.35, seed=seed)
    graph.add_edges_from(zip(range(n), [*range(1, n), 0], strict=True))
    for t in (1, 2, 3):
        expected = brute_force(graph, t)
        found = worst_coalition_indices(Network(graph), t)
        assert found.exact
        assert found.mu == pytest.approx(expected, rel=1e-6, abs=1e-9)
        if found.mu > 0:
            reached = connectivity(graph.subgraph(set(graph) - set(found.coalition)))
            assert reached == pytest.approx(expected, rel=1e-6)
        quick = worst_coalition_indices(Network(graph), t, quick=True)
        assert quick.mu <= expected * (1 + 1e-9)


@pytest.mark.parametrize(
    ("n", "t", "expected"), [(100, 3, 2.3407), (200, 3, 2.5295), (200, 2, None)], ids=["100-3", "200-3", "200-2"]
)
def test_larger_regular_graphs(n, t, expected):
    """Random 8-regular graphs, seed 7; nothing sampled at random is worse."""
    graph = nx.random_regular_graph(8, n, seed=7)
    found = worst_coalition_indices(Network(graph), t)
    if expected is not None:
        assert found.mu == pytest.approx(expected, abs=5e-5)
    rng = np.random.default_rng(0)
    for _ in range(200):
        near = rng.choice(list(graph[int(rng.integers(n))]), t, replace=False)
        assert connectivity(graph.subgraph(set(graph) - set(near.tolist()))) >= found.mu * (1 - 1e-6)


@given(seed=st.integers(0, 5000), t=st.integers(1, 3), fraction=st.floats(0.05, 0.95))
def test_the_threshold_identity(seed, t, fraction):
    """μ₂(G − C) ≥ θ ⟺ Λ(C) ≤ 1, and Λ stays below both bounds; links may have scales."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(t + 4, 16))
    graph = nx.gnp_random_graph(n, 0.5, seed=seed)
    graph.add_edges_from(zip(range(n), [*range(1, n), 0], strict=True))
    network = Network(graph)
    scales = rng.uniform(0.5, 2.0, len(network.links)) if seed % 2 else None
    threshold = Threshold(network, scales)
    theta = fraction * threshold.mu
    coalitions = np.array(list(combinations(range(n), t)))
    M = threshold.resolvent(theta)
    peaks = threshold.peaks(M, coalitions)
    bounds = threshold.bounds(theta)
    for coalition, peak in zip(coalitions[::7], peaks[::7], strict=True):
        keep = [i for i in range(n) if i not in coalition]
        L = network.scaled_laplacian(scales).toarray()[np.ix_(keep, keep)]
        np.fill_diagonal(L, 0)
        np.fill_diagonal(L, -L.sum(axis=1))
        mu = float(np.linalg.eigvalsh(L)[1])
        if abs(mu - theta) > 1e-7 * threshold.mu:
            assert (mu >= theta) == (peak <= 1)
        expected = min(mu, threshold.mu)
        assert threshold.connectivity_without(coalition) == pytest.approx(expected, abs=1e-7 * threshold.mu)
        S = bounds.coupling[np.ix_(coalition, coalition)] + np.diag(bounds.single[coalition])
        assert peak <= np.linalg.eigvalsh(S)[-1] + 1e-8
    assert peaks.max() <= bounds.row_sums(t).max() + 1e-8
    np.testing.assert_allclose(threshold.resolvent_by_inversion(theta), M, atol=1e-8 * np.abs(M).max())


@pytest.mark.usefixtures("no_enumeration")
def test_scaled_links_have_their_own_worst_coalition():
    rng = np.random.default_rng(3)
    graph = nx.random_regular_graph(5, 16, seed=3)
    scales = {link: float(rng.uniform(0.3, 2)) for link in graph.edges()}
    found = tacit.certify(graph, any=2, sigma=1.0, link_sigmas=scales)
    worst = max(tacit.certify(graph, c, sigma=1.0, link_sigmas=scales).epsilon for c in combinations(graph, 2))
    assert found.epsilon == pytest.approx(worst, rel=1e-6)


def test_a_deadline_leaves_a_labelled_bound():
    graph = nx.random_regular_graph(8, 150, seed=1)
    cut_short = tacit.certify(graph, any=4, sigma=1.0, deadline=0.0)
    assert cut_short.method == "bound"
    exact = tacit.certify(graph, any=3, sigma=1.0)
    assert exact.method == "exact"
    assert cut_short.epsilon >= exact.epsilon  # more agents, and a bound
    assert "at most" in cut_short.statement()
    assert tacit.worst_coalition(graph, 4, deadline=0.0) is None


def test_progress_is_reported():
    seen = []
    tacit.certify(nx.random_regular_graph(6, 60, seed=2), any=3, sigma=1.0, on_progress=seen.append)
    assert seen
    assert all(0 <= share <= 1 for share in seen)


def test_large_graphs_get_a_bound_without_decomposition(monkeypatch):
    """The path for thousands of agents, on a graph where the truth is affordable."""
    graph = nx.random_regular_graph(8, 300, seed=4)
    exact = worst_coalition_indices(Network(graph), 2)
    monkeypatch.setattr(worst_module, "_DENSE", 100)
    bound = worst_coalition_indices(Network(graph), 2)
    assert not bound.exact
    assert 0.7 * exact.mu < bound.mu <= exact.mu
    monkeypatch.setattr(worst_module, "_INVERTIBLE", 100)
    crude = worst_coalition_indices(Network(graph), 2)
    assert crude.mu <= bound.mu


def test_power_grids_are_told_who_has_no_privacy():
    """A ring with pendant buses: each is exposed to its one neighbour, and named."""
    grid = nx.cycle_graph(8)
    grid.add_edges_from([(0, "bus a"), (3, "bus b"), (3, "bus c")])
    certificate = tacit.certify(grid, any=1, sigma=10.0)
    assert not certificate.is_private
    assert set(certificate.without_privacy) == {"bus a", "bus b", "bus c"}
    assert set(certificate.exposed_agents) <= {"bus a", "bus b", "bus c"}
    assert "exactly" in certificate.statement()
    more = tacit.augment(grid, any=1)
    assert tacit.certify(more.graph, any=1, sigma=10.0).is_private


def test_cut_vertices_without_pendants_are_found():
    """Two cliques that share two agents: no small degree, and still a cut of two."""
    graph = nx.union(nx.complete_graph(6), nx.complete_graph(range(10, 16)))
    for clique in (range(6), range(10, 16)):
        graph.add_edges_from((hub, member) for hub in ("x", "y") for member in clique)
    certificate = tacit.certify(graph, any=2, sigma=1.0)
    assert set(certificate.coalition) == {"x", "y"}
    assert certificate.exposed_agents == ()
    assert {len(agents) for agents in certificate.exposed_sums} == {6}
    assert certificate.components[0].epsilon == pytest.approx(1 / (4 * 6))
    assert tacit.certify(graph, any=1, sigma=1.0).is_private


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tacit.certify(nx.cycle_graph(5), ["z"], sigma=1.0), GraphError, "no agent is called z"),
        (lambda: tacit.certify(nx.cycle_graph(5), any=4, sigma=1.0), VacuousError, "0 ≤ any ≤ 3"),
        (lambda: tacit.certify(nx.cycle_graph(5), any=-1, sigma=1.0), VacuousError, "any = -1"),
        (lambda: tacit.certify(nx.cycle_graph(5), range(5), sigma=1.0), VacuousError, "0 honest agent"),
        (lambda: tacit.certify(nx.cycle_graph(5), range(4), sigma=1.0), VacuousError, "1 honest agent"),
        (lambda: tacit.certify(nx.cycle_graph(5), sigma=1.0), InputError, "name either"),
        (lambda: tacit.certify(nx.cycle_graph(5), [1], any=1, sigma=1.0), InputError, "name either"),
        (lambda: tacit.certify(nx.cycle_graph(5), [1], sigma=0.0), InputError, "sigma"),
        (lambda: tacit.certify(nx.cycle_graph(5), [1], sigma=(1.0, -1.0)), InputError, "sigma"),
        (lambda: tacit.certify(nx.Graph([(0, 1), (2, 3)]), [1], sigma=1.0), GraphError, "pieces"),
    ],
)
def test_bad_input_gets_a_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_statement_has_its_assumptions_and_limits():
    text = tacit.certify(nx.petersen_graph(), {3, 7}, sigma=5.0).statement(1.0)
    assert text.startswith(
        "An observer who controls agents 3, 7 and must decide between two worlds that differ by 1 guesses right"
    )
    assert "This assumes that links are private" in text
    assert "It does not cover the curved parts" in text
    nobody = tacit.certify(nx.petersen_graph(), (), sigma=5.0).statement()
    assert "controls no agent and sees all effective costs" in nobody
    assert "any one agent" in tacit.certify(nx.petersen_graph(), any=1, sigma=5.0).statement()


def test_json_has_no_infinity():
    import json

    cut = tacit.certify(nx.path_graph(4), {1}, sigma=1.0)
    text = json.dumps(cut.to_dict(), allow_nan=False)
    assert json.loads(text)["epsilon"] is None
    assert json.loads(text)["exposed_agents"] == ["0"]
