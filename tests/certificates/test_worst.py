"""m_t: branch and bound against brute force, bounds, deadlines, cuts."""

import time
from itertools import combinations, count

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.generators.atlas import graph_atlas_g

import tacit
from tacit.certificates import worst as worst_module
from tacit.certificates.suspects import suspects
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
    found = tacit.certify(graph, any=2, sigma=1.0, link_scales=scales)
    worst = max(tacit.certify(graph, c, sigma=1.0, link_scales=scales).epsilon for c in combinations(graph, 2))
    assert found.epsilon == pytest.approx(worst, rel=1e-6)


def test_a_deadline_leaves_a_labelled_bound():
    graph = nx.random_regular_graph(8, 150, seed=1)
    cut_short = tacit.certify(graph, any=4, sigma=1.0, deadline=0.0)
    assert cut_short.method == "bound"
    exact = tacit.certify(graph, any=3, sigma=1.0)
    assert exact.method == "exact"
    assert cut_short.epsilon >= exact.epsilon  # more agents, and a bound
    assert "may differ by at least" in cut_short.statement()
    assert tacit.worst_coalition(graph, 4, deadline=0.0) is None


def test_progress_is_reported():
    seen = []
    tacit.certify(nx.random_regular_graph(6, 60, seed=2), any=3, sigma=1.0, on_progress=seen.append)
    assert seen
    assert all(0 <= share <= 1 for share in seen)


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("kind", ["regular", "scaled", "grown"])
def test_thousands_of_agents_are_searched_without_decomposition(kind, t, monkeypatch):
    """The path for thousands of agents, on graphs where the truth is affordable."""
    rng = np.random.default_rng(7)
    graph = nx.barabasi_albert_graph(150, 4, seed=3) if kind == "grown" else nx.random_regular_graph(6, 150, seed=4)
    network = Network(graph)
    scales = rng.uniform(0.5, 2.0, len(network.links)) if kind == "scaled" else None
    exact = worst_coalition_indices(network, t, scales=scales)
    monkeypatch.setattr(worst_module, "_DENSE", 100)
    seen = []
    found = worst_coalition_indices(network, t, scales=scales, on_progress=seen.append)
    assert found.exact
    assert found.coalition == exact.coalition
    assert found.mu == pytest.approx(exact.mu, rel=1e-7)
    assert all(0.0 <= share < 1.0 for share in seen)
    bound = worst_coalition_indices(network, t, scales=scales, quick=True)
    late = worst_coalition_indices(network, t, scales=scales, deadline=0.0, clock=iter(range(100)).__next__)
    assert (late.exact, late.mu) == (False, bound.mu)
    assert bound.mu <= exact.mu


def test_a_crowd_that_is_cut_by_two_is_told_so(monkeypatch):
    graph = nx.disjoint_union(nx.random_regular_graph(6, 60, seed=1), nx.random_regular_graph(6, 60, seed=2))
    graph.add_edges_from(("x", i) for i in (0, 1, 2, 60, 61, 62))
    graph.add_edges_from(("y", i) for i in (3, 4, 5, 63, 64, 65))
    monkeypatch.setattr(worst_module, "_DENSE", 100)
    found = worst_coalition_indices(Network(graph), 2)
    assert (found.mu, {Network(graph).agents[i] for i in found.coalition}) == (0.0, {"x", "y"})


def test_large_graphs_get_a_bound_without_decomposition(monkeypatch):
    """What is left for three colluders among thousands, and for tens of thousands of agents."""
    graph = nx.random_regular_graph(8, 300, seed=4)
    exact = worst_coalition_indices(Network(graph), 3)
    monkeypatch.setattr(worst_module, "_DENSE", 100)
    bound = worst_coalition_indices(Network(graph), 3)
    assert not bound.exact
    assert 0.7 * exact.mu < bound.mu <= exact.mu
    monkeypatch.setattr(worst_module, "_INVERTIBLE", 100)
    crude = worst_coalition_indices(Network(graph), 3)
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
        "Against an observer who controls agents 3, 7, two worlds of the same sum may differ by up to 0.287 before a guess"
    )
    assert "This assumes that links are private" in text
    assert "It does not cover the curved parts" in text
    assert "It holds whatever the observer sends. A lie about its own numbers is not noticed" in text
    sums = tacit.certify(nx.petersen_graph(), {3, 7}, sigma=np.inf).statement()
    assert "if it lies, at points of its choosing" in sums
    assert "telling different agents different sums is noticed before another masked number leaves" in sums
    nobody = tacit.certify(nx.petersen_graph(), (), sigma=5.0).statement()
    assert "the observer sends" not in nobody
    assert "controls no agent and sees all effective costs" in nobody
    assert "any one agent" in tacit.certify(nx.petersen_graph(), any=1, sigma=5.0).statement()


def test_json_has_no_infinity():
    import json

    cut = tacit.certify(nx.path_graph(4), {1}, sigma=1.0)
    text = json.dumps(cut.to_dict(), allow_nan=False)
    assert json.loads(text)["epsilon"] is None
    assert json.loads(text)["exposed_agents"] == ["0"]


@pytest.mark.parametrize("seed", range(30))
def test_small_cuts_are_cuts_whatever_the_order_of_the_agents(seed):
    """Against networkx, with agents in a random order: the set found is a cut, and none is missed."""
    rng = np.random.default_rng(seed)
    kinds = [
        nx.barbell_graph(5, seed % 3),
        nx.gnp_random_graph(12, 0.35, seed=seed),
        nx.connected_watts_strogatz_graph(14, 4, 0.2, seed=seed),
        nx.complete_bipartite_graph(3, 7),
    ]
    for graph in kinds:
        if not nx.is_connected(graph):
            continue
        shuffled = nx.Graph()
        shuffled.add_nodes_from(rng.permutation(list(graph)).tolist())
        shuffled.add_edges_from(graph.edges())
        network, kappa = Network(shuffled), nx.node_connectivity(graph)
        for t in range(1, 5):
            cut = small_vertex_cut(network, t)
            assert (cut is None) == (kappa > t)
            if cut is not None:
                assert len(cut) <= t
                assert network.is_vertex_cut(network.agents[i] for i in cut)


@pytest.mark.parametrize(
    "graph", [nx.hypercube_graph(4), nx.heawood_graph(), nx.petersen_graph(), nx.cycle_graph(9)]
)
@pytest.mark.parametrize("t", [2, 3, 4])
def test_no_suspect_is_lost_to_a_tie(graph, t):
    """On graphs where everything is a tie: every coalition with λ_max(S_C) > 1 is handed out."""
    threshold = Threshold(Network(graph))
    for fraction in (0.5, 0.8):
        bounds = threshold.bounds(fraction * threshold.mu)
        handed = {tuple(c) for batch, _ in suspects(bounds, t) for c in batch.tolist()}
        S = bounds.coupling + np.diag(bounds.single)
        every = np.array(list(combinations(range(len(graph)), t)))
        top = np.linalg.eigvalsh(S[every[:, :, None], every[:, None, :]])[:, -1]
        assert {tuple(c) for c in every[top > 1 + 1e-9].tolist()} <= handed


@pytest.mark.usefixtures("no_enumeration")
def test_a_bad_start_does_not_matter(monkeypatch):
    """With the worst possible first coalition the search still ends at the truth."""

    def poor(threshold, t, bounds, theta):
        every = [np.array(c) for c in combinations(range(threshold.n), t)]
        values = [threshold.connectivity_without(c) for c in every]
        worst = int(np.argmax(values))
        return tuple(every[worst].tolist()), values[worst]

    monkeypatch.setattr(worst_module, "_promising", poor)
    for graph in (nx.heawood_graph(), nx.random_regular_graph(4, 14, seed=1), nx.hypercube_graph(4)):
        assert worst_coalition_indices(Network(graph), 3).mu == pytest.approx(
            brute_force(graph, 3), rel=1e-6, abs=1e-9
        )


def test_rounding_does_not_hide_a_cut_from_the_quick_bound():
    """A chain of triangles: every joint is a cut, and Λ is 1 up to rounding there."""
    chain = nx.Graph()
    for k in range(33):
        nx.add_cycle(chain, [2 * k, 2 * k + 1, 2 * k + 2])
    certificate = tacit.certify(chain, any=1, sigma=1.0, quick=True)
    assert not certificate.is_private
    assert certificate.exposed_sums


def test_scales_too_far_apart_are_refused():
    graph = nx.circulant_graph(6, [1, 2])
    thin = {link: 1e-8 for link in graph.edges() if 3 in link}
    with pytest.raises(InputError, match="rounding would decide"):
        tacit.certify(graph, (), sigma=1.0, link_scales=thin)


@pytest.mark.large
def test_a_deadline_is_kept():
    """Of work, which a busy machine does not change: the exact answer takes hours."""
    start = time.process_time()
    certificate = tacit.certify(nx.random_regular_graph(8, 150, seed=1), any=6, sigma=1.0, deadline=0.2)
    assert certificate.method == "bound"
    assert time.process_time() - start < 30


def test_a_deadline_is_one_of_the_clock_that_is_given():
    network = Network(nx.random_regular_graph(6, 60, seed=2))
    exact = worst_coalition_indices(network, 3, deadline=0.0, clock=lambda: 7.0)
    assert exact == worst_coalition_indices(network, 3)
    assert exact.exact, "no time has passed on that clock"
    assert not worst_coalition_indices(network, 3, deadline=2.5, clock=count().__next__).exact


@pytest.mark.parametrize("distance", [-1.0, float("inf"), float("nan")])
def test_impossible_distances_are_refused(distance):
    with pytest.raises(InputError, match="distance"):
        tacit.certify(nx.petersen_graph(), {1}, sigma=1.0).guess(distance)


def test_a_cut_tells_worlds_apart_with_certainty():
    cut = tacit.certify(nx.path_graph(5), {2}, sigma=1.0)
    assert cut.guess(1.0) == 1.0
    assert cut.guess(0.0) == 0.5
