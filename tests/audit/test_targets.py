"""What the audit must find, and what it must not."""

import warnings

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import Game, play, play_messages, public_knowledge, watch
from tacit.auditing.attacks.component_sums import ComponentSums
from tacit.auditing.attacks.likelihood import MaximumLikelihood
from tacit.auditing.attacks.observability import Observability
from tacit.auditing.attacks.replay import Replay
from tacit.auditing.recording.release import Keys
from tacit.solving import prepare

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(5)
GOSSIP = [name for name, kind in tacit.algorithms.ALGORITHMS.items() if not kind.sums]


def recorded(problem, coalition, *, privacy=None, algorithm="dgd", worst_case=False, rounds=200):
    """Return what the coalition saw, and what everybody knows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        job = prepare(problem, privacy=privacy, algorithm=algorithm, max_rounds=rounds).job
        return watch(job, coalition, worst_case=worst_case), public_knowledge(problem, job)


def points_of(estimate, honest):
    """Return the private points x_i of costs |x − x_i|² from believed gradients at zero."""
    assert estimate.agents.tolist() == honest
    return -estimate.values / 2.0


def test_one_agent_reads_all_64_private_points_from_plain_dgd():
    points = RNG.normal(size=(64, 1))
    problem = tacit.Problem(nx.random_regular_graph(6, 64, seed=1), [tacit.Quadratic.distance(p) for p in points])
    estimate = Observability()(*recorded(problem, [0]))
    honest = list(range(1, 64))
    assert np.abs(points_of(estimate, honest) - points[honest]).max() <= 1e-6
    assert estimate.deviations.max() <= 1e-6  # and the attacker knows that it knows


def test_behind_masks_the_same_attack_errs_by_what_the_theorem_says():
    """Mean square error per coordinate: 2σ²·tr(L_H) over the agents, within 5 %."""
    sigma, m = 1e3, 200
    points = RNG.normal(size=(64, m))
    problem = tacit.Problem(nx.random_regular_graph(6, 64, seed=1), [tacit.Quadratic.distance(p) for p in points])
    view, public = recorded(problem, [0], privacy=tacit.AffineMasks(sigma, seed=3))
    estimate = Observability()(view, public)
    errors = estimate.values + 2.0 * points[estimate.agents]
    L = problem.network.laplacian.toarray()[1:, 1:]
    L -= np.diag(L.sum(axis=1))  # of the honest graph: the links to the coalition are gone
    predicted = 2.0 * sigma**2 * np.trace(L)
    assert np.square(errors).sum() / m == pytest.approx(predicted, rel=0.05)
    measured = errors @ errors.T / m / (2.0 * sigma**2)
    assert np.abs(measured - L).max() <= 2.0  # off the diagonal too: five deviations of so many samples


def test_all_of_florences_families_are_read_by_one_of_them():
    graph = nx.florentine_families_graph()
    points = RNG.normal(size=(15, 1))
    problem = tacit.Problem(graph, [tacit.Quadratic.distance(p) for p in points])
    for member in (0, list(graph).index("Medici")):
        estimate = Observability()(*recorded(problem, [member]))
        honest = [i for i in range(15) if i != member]
        assert np.abs(points_of(estimate, honest) - points[honest]).max() <= 1e-6


def test_the_papers_triangle():
    """Agent 3 reads x₁ and x₂ without masks; with them x₁ + x₂, and nothing else."""
    points = np.array([[1.0], [2.0], [6.0]])
    problem = tacit.Problem(nx.complete_graph(3), [tacit.Quadratic.distance(p) for p in points])
    plain = Replay()(*recorded(problem, [2]))
    np.testing.assert_allclose(points_of(plain, [0, 1]), points[:2], atol=1e-12)
    view, public = recorded(problem, [2], privacy=tacit.AffineMasks(1.0, seed=4), worst_case=True)
    ((agents, total),) = ComponentSums().sums(view, public)
    assert agents == (0, 1)
    assert -total[0] / 2.0 == pytest.approx(3.0, abs=1e-9)
    believed = MaximumLikelihood()(view, public)
    assert np.abs(points_of(believed, [0, 1]) - points[:2]).min() > 1e-3
    np.testing.assert_allclose(believed.deviations, np.sqrt(2.0))


@pytest.mark.parametrize("algorithm", GOSSIP)
def test_far_away_agents_are_read_whatever_the_algorithm(algorithm):
    points = RNG.normal(size=(15, 2))
    problem = tacit.Problem(nx.florentine_families_graph(), [tacit.Quadratic.distance(p) for p in points])
    estimate = Observability()(*recorded(problem, [3], algorithm=algorithm))
    assert len(estimate.agents) == 14
    assert np.abs(estimate.values + 2.0 * points[estimate.agents]).max() <= 1e-6


def test_costs_whose_unknowns_mix_are_read_too():
    curvatures = [np.array([[2.0, 0.5], [0.5, 1.0 + k / 12]]) for k in range(12)]
    costs = [tacit.Quadratic(P, RNG.normal(size=2)) for P in curvatures]
    problem = tacit.Problem(nx.random_regular_graph(4, 12, seed=3), costs, x0=[0.3, -0.2])
    truth = problem.stack.grad(np.tile(problem.x0, (12, 1)))
    for algorithm in ("nids", "extra"):
        estimate = Observability()(*recorded(problem, [3], algorithm=algorithm))
        assert len(estimate.agents) == 11
        assert np.abs(estimate.values - truth[estimate.agents]).max() <= 1e-6


def test_a_vertex_cut_gives_away_the_sums_of_its_pieces_and_no_more():
    graph = nx.Graph()
    graph.add_nodes_from(range(9))
    graph.add_edges_from(nx.barbell_graph(4, 1).edges)  # agent 4 holds two cliques together
    problem = tacit.Problem(graph, [tacit.Quadratic.distance(RNG.normal(size=3)) for _ in range(9)])
    view, public = recorded(problem, [4], privacy=tacit.AffineMasks(1e3, seed=6), worst_case=True)
    truth = problem.stack.affine
    found = dict(ComponentSums().sums(view, public))
    assert set(found) == {(0, 1, 2, 3), (5, 6, 7, 8)}
    for agents, total in found.items():
        np.testing.assert_allclose(total, truth[list(agents)].sum(axis=0), atol=1e-9)
    z = MaximumLikelihood()(view, public)
    errors = z.values - truth[z.agents]
    values, vectors = np.linalg.eigh(public.honest_laplacian(view.coalition))
    free = vectors[:, values > 1e-9].T @ errors / (1e3 * np.sqrt(2.0 * values[values > 1e-9]))[:, None]
    assert len(free) == 6  # two directions are exact, six are as noisy as the theorem says
    assert 0.4 < np.square(free).mean() < 2.0
    assert np.abs(vectors[:, values <= 1e-9].T @ errors).max() <= 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_twenty_thousand_games_certify_a_bound_near_the_theory_and_never_above_it(seed):
    network = tacit.Network(nx.random_regular_graph(4, 20, seed=1))
    game = play(tacit.AffineMasks(10.0), network, [3], games=20_000, mu=2.0, keys=Keys(seed))
    assert isinstance(game, Game)
    assert 0.9 * game.mu <= game.bound <= game.mu
    assert game.auc == pytest.approx(game.auc_theory, abs=0.01)
    assert game.verdict().status == "within"


def test_the_games_worlds_are_as_far_apart_as_the_certificate_says():
    """μ of the game is √(2 D_KL) of `tacit.leakage`: a second method."""
    network = tacit.Network(nx.random_regular_graph(4, 20, seed=1))
    for mu in (0.5, 1.0, 3.0):
        game = play(tacit.AffineMasks(10.0), network, [3], games=4000, mu=mu, keys=Keys(1))
        worst = tacit.certify(network, {3}, sigma=10.0)
        distance = mu * 10.0 * np.sqrt(2.0 * worst.mu)
        assert worst.tradeoff(distance).mu == pytest.approx(mu)
        assert game.auc == pytest.approx(worst.tradeoff(distance).auc, abs=0.03)


@pytest.mark.parametrize("algorithm", GOSSIP)
def test_messages_of_phase_2_do_not_help_the_player(algorithm):
    network = tacit.Network(nx.random_regular_graph(4, 8, seed=1))
    game = play_messages(tacit.AffineMasks(100.0), network, [3], algorithm=algorithm, games=4000, seed=1)
    assert game.verdict().status == "within"
    assert game.auc <= game.auc_theory + 3.5 * game.auc_error
    assert game.auc >= game.auc_theory - 0.03


def test_a_player_who_is_told_something_in_phase_2_wins(monkeypatch):
    """The game with messages can fail: here every message holds a tenth of the true slope."""
    from tacit.auditing.trials import phase2

    honest = phase2._messages
    leaked = {}

    def problem(network, costs, **more):
        leaked["slopes"] = np.stack([cost.affine for cost in costs])
        return tacit.Problem(network, costs, **more)

    monkeypatch.setattr(phase2, "Problem", problem)
    monkeypatch.setattr(phase2, "_messages", lambda view, k: honest(view, k) + 0.1 * leaked["slopes"][5][:, None])
    network = tacit.Network(nx.random_regular_graph(4, 8, seed=1))
    game = play_messages(tacit.AffineMasks(100.0), network, [3], algorithm="nids", games=4000, seed=1)
    assert game.auc > game.auc_theory + 5 * game.auc_error
    assert game.verdict().status == "beaten"
