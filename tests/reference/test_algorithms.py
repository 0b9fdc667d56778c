"""Every algorithm against the centralised optimum, from no masks to σ = 10⁶."""

import warnings
from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.algorithms import ALGORITHMS, Landscape
from tacit.algorithms.chebyshev import Gossip
from tacit.algorithms.gradient_tracking import contraction
from tacit.errors import AlgorithmError
from tacit.masks import AffineMasks, Keystreams, agent_keys
from tacit.network import Network, Spectrum
from tacit.runtimes import Stacked
from tacit.solving.solve import InexactWarning

masked = partial(AffineMasks, seed=20)  # NOT PRIVATE: reproducible
EXACT = [name for name, kind in ALGORITHMS.items() if kind.exact and not kind.sums]


def least_squares(n=20, m=10, *, l2=0.0, seed=0, degree=4):
    """Random 4-regular network, eight records an agent: convex one by one, strongly only together."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(m)
    costs = []
    for _ in range(n):
        A = rng.standard_normal((8, m))
        costs.append(tacit.LeastSquares(A, A @ truth + 0.1 * rng.standard_normal(8), l2=l2))
    return tacit.Problem(nx.random_regular_graph(degree, n, seed=1), costs)


def optimum(problem):
    return np.linalg.solve(problem.stack.total_curvature().below, -problem.stack.affine.sum(axis=0))


@pytest.mark.parametrize("name", EXACT)
def test_exact_algorithms_reach_the_centralised_solution_whatever_sigma(name):
    """1e-8 up to σ = 10³ and 1e-6 at 10⁶, and every factor 1000 in σ costs about the same extra rounds."""
    problem = least_squares(l2=0.1 if name == "opapc" else 0.0)
    best = optimum(problem)
    rounds = {}
    for sigma in (0.0, 1.0, 1e3, 1e6):
        privacy = masked(sigma) if sigma else None
        answer = tacit.solve(problem, privacy=privacy, algorithm=name)
        assert answer.converged, answer.sentence
        assert np.abs(answer.x - best).max() <= (1e-6 if sigma == 1e6 else 1e-8)
        rounds[sigma] = answer.record.phase2.rounds
    per_factor = rounds[1e3] - rounds[1.0]
    assert rounds[1e6] - rounds[1e3] <= 2 * per_factor + 300  # logarithmic: not a factor 1000
    assert rounds[1e6] <= 4 * rounds[1.0] + 100


def test_dgd_shows_its_bias_and_solve_warns():
    problem = least_squares()
    best = optimum(problem)
    bias = {}
    for sigma in (1.0, 1e3):
        with pytest.warns(InexactWarning, match="inexact"):
            answer = tacit.solve(problem, privacy=masked(sigma), algorithm="dgd")
        bias[sigma] = np.abs(answer.x - best).max()
        assert not answer.converged
        assert "inexact" in answer.sentence
    assert bias[1e3] > 100 * bias[1.0] > 1.0


def test_diminishing_steps_remove_the_bias_slowly():
    problem = least_squares(n=8, m=2)
    best = optimum(problem)
    error = []
    for rounds in (500, 5000, 50_000):
        with pytest.warns(InexactWarning):
            answer = tacit.solve(problem, algorithm="dgd-diminishing", max_rounds=rounds, tolerance=1e-12)
        error.append(np.abs(answer.x - best).max())
    assert error[2] < error[1] < error[0]
    assert error[2] < 1e-2


@pytest.mark.parametrize("name", ["nids", "pg-extra", "admm"])
@pytest.mark.parametrize("sigma", [0.0, 100.0])
def test_rough_costs_are_solved(name, sigma):
    """Lasso over ten agents equals coordinate descent on the pooled data."""
    rng = np.random.default_rng(2)
    A, b = rng.standard_normal((60, 5)), rng.standard_normal(60)
    costs = [tacit.LeastSquares(A[i::10], b[i::10]) + tacit.L1(1.5) for i in range(10)]
    problem = tacit.Problem(nx.random_regular_graph(4, 10, seed=3), costs)
    answer = tacit.solve(problem, privacy=masked(sigma) if sigma else None, algorithm=name)
    assert answer.converged
    x = np.zeros(5)
    for _ in range(2000):
        for k in range(5):
            rest = b - A @ x + A[:, k] * x[k]
            x[k] = np.sign(A[:, k] @ rest) * max(abs(A[:, k] @ rest) - 15.0, 0.0) / (A[:, k] @ A[:, k])
    np.testing.assert_allclose(answer.x, x, atol=1e-7)
    assert (np.abs(x) < 1e-12).any(), "the test should have a coefficient at zero"


@pytest.mark.parametrize("name", ["admm", "pg-extra", "nids"])
def test_the_median_is_the_minimiser_of_absolute_values(name):
    points = np.array([[1.0, 10.0], [2.0, -3.0], [4.0, 0.0], [8.0, 5.0], [16.0, 7.0]])
    problem = tacit.Problem(nx.cycle_graph(5), [tacit.AbsoluteValue(point) for point in points])
    answer = tacit.solve(problem, privacy=masked(5.0), algorithm=name)
    np.testing.assert_allclose(answer.x, np.median(points, axis=0), atol=1e-6)


@pytest.mark.parametrize("sigma", [10.0, 1000.0])
@pytest.mark.parametrize("name", ["auto", "pg-extra", "admm"])
def test_a_box_is_respected(name, sigma):
    """Masks push x into the corners until the dual variables have grown to their size: slow, and not stalled."""
    costs = [tacit.Quadratic.distance([float(i), 0.0]) + tacit.Box(-1.0, 2.0) for i in range(8)]
    answer = tacit.solve(tacit.Problem(nx.cycle_graph(8), costs), privacy=masked(sigma), algorithm=name)
    assert answer.converged, answer.sentence
    np.testing.assert_allclose(answer.x, [2.0, 0.0], atol=1e-7)


def test_poisson_regression_goes_to_admm():
    rng = np.random.default_rng(6)
    truth = np.array([0.5, -0.3, 0.2])
    A = rng.standard_normal((120, 3))
    y = rng.poisson(np.exp(A @ truth)).astype(float)
    problem = tacit.Problem(
        nx.random_regular_graph(3, 8, seed=1), [tacit.Poisson(A[i::8], y[i::8], l2=0.01) for i in range(8)]
    )
    answer = tacit.solve(problem, privacy=masked(100.0))
    assert answer.record.phase2.algorithm == "ADMM"
    x = np.zeros(3)
    for _ in range(30):
        mean = np.exp(A @ x)
        x = x - np.linalg.solve((A.T * mean) @ A + 0.08 * np.eye(3), A.T @ (mean - y) + 0.08 * x)
    np.testing.assert_allclose(answer.x, x, atol=1e-7)


def test_costs_need_not_be_convex_one_by_one():
    """Half the agents have negative curvature; the sum is strongly convex, and is all that counts."""
    rng = np.random.default_rng(7)
    costs = [tacit.Quadratic((3.0 if i % 2 else -1.0) * np.eye(2), rng.standard_normal(2)) for i in range(10)]
    problem = tacit.Problem(nx.random_regular_graph(4, 10, seed=1), costs)
    answer = tacit.solve(problem, privacy=masked(10.0))
    assert answer.record.phase2.algorithm == "MultiConsensus"
    assert "not convex" in answer.record.phase2.reason
    assert answer.converged
    np.testing.assert_allclose(answer.x, optimum(problem), atol=1e-7)
    with pytest.raises(AlgorithmError, match="every single cost to be convex"):
        tacit.solve(problem, algorithm="nids")


@given(seed=st.integers(0, 10_000), curvature=st.floats(-2.0, 0.5))
@pytest.mark.large
def test_the_step_test_for_non_convex_costs_is_safe(seed, curvature):
    """With the chosen step, random quadratics of any local curvature contract as the matrix promises."""
    rng = np.random.default_rng(seed)
    network = Network(nx.random_regular_graph(4, 8, seed=seed))
    diagonals = rng.uniform(curvature, 4.0, (8, 2))
    diagonals += np.maximum(0.2 - diagonals.mean(axis=0), 0)
    problem = tacit.Problem(network, [tacit.Quadratic(np.diag(d), rng.standard_normal(2)) for d in diagonals])
    landscape = Landscape(problem.stack, network, "metropolis")
    algorithm = tacit.algorithms.GradientTracking.tuned(landscape)
    second, smallest = landscape.spectrum
    rate = contraction(
        algorithm.step_size, L=landscape.smoothness, L_mean=landscape.mean_smoothness,
        mu_mean=landscape.mean_strong_convexity, second=second, smallest=smallest,
    )  # fmt: skip
    assert rate < 1
    peers, best = Stacked(network), optimum(problem)
    state = algorithm.init(np.zeros((8, 2)), problem.stack)
    first = np.abs(state.x - best).max()
    rounds = 4000
    for _ in range(rounds):
        state = algorithm.step(state, peers, problem.stack)
    assert np.abs(state.x - best).max() <= max(100 * first * rate ** (rounds / 2), 1e-9)


@given(seed=st.integers(0, 10_000), fraction=st.floats(0.2, 0.99))
@pytest.mark.large
def test_gradient_tracking_with_lazy_weights_is_stable_up_to_two_over_l(seed, fraction):
    """W ⪰ 0 and convex costs: any step below 2/L contracts, on any network."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    graph = nx.gnp_random_graph(n, 0.5, seed=seed)
    graph.add_edges_from(zip(range(n - 1), range(1, n), strict=True))
    roots = rng.standard_normal((n, 2, 2))
    problem = tacit.Problem(
        graph, [tacit.Quadratic(r @ r.T + 0.05 * np.eye(2), rng.standard_normal(2)) for r in roots]
    )
    step = fraction * 2.0 / float(problem.stack.smoothness.max())
    peers, algorithm = Stacked(problem.network, "lazy"), tacit.algorithms.GradientTracking(step)
    state = algorithm.init(np.zeros((n, 2)), problem.stack)
    size = [np.abs(state.x - optimum(problem)).max()]
    for _ in range(1500):
        state = algorithm.step(state, peers, problem.stack)
        size.append(np.abs(state.x - optimum(problem)).max())
    assert size[-1] <= max(1e-9, 0.9 * max(size[:50]))


@given(n=st.integers(4, 40), seed=st.integers(0, 100))
def test_chebyshev_gossip_stays_within_its_bounds(n, seed):
    """The eigenvalues of P(G), computed column by column, lie where the polynomial says."""
    network = Network(nx.connected_watts_strogatz_graph(n, min(4, n - 1), 0.2, seed=seed))
    peers = Stacked(network)
    landscape = Landscape(tacit.costs.stack([tacit.Affine([0.0])] * n), network)
    gossip = Gossip.of(landscape.spectrum)
    values = np.linalg.eigvalsh(gossip.apply(np.eye(n), peers))
    least, largest = gossip.bounds
    assert abs(values[0]) < 1e-9
    assert values[1] >= least - 1e-9
    assert values[-1] <= largest + 1e-9
    assert peers.traffic.exchanges == gossip.exchanges


def test_chebyshev_on_a_complete_graph_is_one_exchange():
    assert Gossip.of(Spectrum(second=0.0, smallest=0.0)).exchanges == 1


def test_opapc_needs_far_fewer_gradients_on_a_badly_conditioned_problem():
    """κ = 2000: rounds grow with √κ, not κ."""
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    P = turn @ np.diag([1.0, 10.0, 200.0, 2000.0]) @ turn.T
    costs = [tacit.Quadratic(P, 100 * rng.standard_normal(4)) for _ in range(20)]
    problem = tacit.Problem(nx.random_regular_graph(4, 20, seed=1), costs)
    rounds = {}
    for name in ("opapc", "extra", "nids"):
        answer = tacit.solve(problem, algorithm=name, privacy=masked(1e3))
        assert answer.converged
        np.testing.assert_allclose(answer.x, optimum(problem), atol=1e-7)
        rounds[name] = answer.record.phase2.rounds
    assert rounds["opapc"] < rounds["nids"] < rounds["extra"]
    assert tacit.solve(problem).record.phase2.algorithm == "OPAPC"


def test_auto_does_not_accelerate_where_the_average_is_well_conditioned():
    """Costs that are badly conditioned in different directions: their average is not, and NIDS is faster."""
    rng = np.random.default_rng(1)
    turns = [np.linalg.qr(rng.standard_normal((4, 4)))[0] for _ in range(20)]
    costs = [tacit.Quadratic(t @ np.diag([1.0, 10.0, 200.0, 2000.0]) @ t.T, rng.standard_normal(4)) for t in turns]
    problem = tacit.Problem(nx.random_regular_graph(4, 20, seed=1), costs)
    chosen = tacit.solve(problem).record.phase2
    assert chosen.algorithm == "NIDS"
    assert chosen.exchanges < tacit.solve(problem, algorithm="opapc").record.phase2.exchanges


@pytest.mark.parametrize(
    ("costs", "algorithm", "message"),
    [
        ([tacit.Poisson([[1.0]], [1.0])] * 3, "nids", "Lipschitz"),
        ([tacit.Quadratic.distance([1.0]) + tacit.L1(1)] * 3, "extra", "no step for costs without a gradient"),
        ([tacit.Quadratic.distance([1.0]) + tacit.L1(1)] * 3, tacit.algorithms.EXTRA(0.1), "no step"),
        ([tacit.LeastSquares([[1.0, 0.0]], [1.0]) for _ in range(3)], "opapc", "strongly convex"),
        ([tacit.Quadratic.distance([1.0])] * 3, "newtons", "no algorithm is called 'newtons'"),
        (
            [tacit.CallableCost(1, grad=lambda x: 0 * x, smoothness=1, strong_convexity=-0.5)] * 3,
            "gradient-tracking",
            "cannot choose a step",
        ),
    ],
    ids=["poisson", "rough", "rough settings", "weak", "unknown", "blind"],
)
def test_what_an_algorithm_cannot_solve_is_refused(costs, algorithm, message):
    with pytest.raises(AlgorithmError, match=message):
        tacit.solve(tacit.Problem(nx.complete_graph(3), costs), algorithm=algorithm)


def test_a_step_that_is_too_large_is_called_divergence():
    answer = tacit.solve(least_squares(n=6, m=2), algorithm=tacit.algorithms.EXTRA(step_size=10.0))
    assert answer.status == "diverged"
    assert "smaller" in answer.sentence


def test_running_out_of_rounds_is_said():
    answer = tacit.solve(least_squares(), max_rounds=5)
    assert answer.status == "out of rounds"
    assert answer.record.phase2.rounds == 5


def test_a_slow_method_does_not_pass_for_a_finished_one():
    """With a tiny step every round changes little; the estimate of what is left keeps it running."""
    problem = least_squares(n=8, m=2)
    answer = tacit.solve(problem, algorithm=tacit.algorithms.NIDS(step_size=1e-4), tolerance=1e-6)
    assert answer.converged
    assert np.abs(answer.x - optimum(problem)).max() < 1e-5
    assert answer.record.history[-1].change < 1e-8


def test_weights_can_be_chosen():
    problem = least_squares(n=8, m=2)
    for weights in ("metropolis", "lazy", "laplacian"):
        answer = tacit.solve(problem, algorithm="nids", weights=weights)
        assert answer.record.phase2.weights == weights
        np.testing.assert_allclose(answer.x, optimum(problem), atol=1e-8)
    with pytest.raises(AlgorithmError, match="weights"):
        tacit.solve(problem, weights="heavy")


def test_exchanges_are_counted_as_they_happen():
    """One for phase 1; EXTRA one a round, gradient tracking two, OPAPC K."""
    problem = least_squares(n=8, m=2, l2=1.0)
    for name, per_round in (("extra", 1), ("gradient-tracking", 2), ("admm", 1)):
        record = tacit.solve(problem, algorithm=name, privacy=masked(1.0)).record
        assert record.phase2.exchanges == 1 + per_round * record.phase2.rounds
    record = tacit.solve(problem, algorithm="opapc").record
    assert record.phase2.exchanges == record.phase2.settings["gossip"][0] * record.phase2.rounds
    assert record.phase2.bytes == record.phase2.exchanges * 2 * 16 * 2 * 8


def test_a_lattice_too_coarse_for_the_answer_is_said():
    """σ = 10¹² leaves steps of about 10⁻²: the run converges, and warns how far off it may be."""
    problem = least_squares(n=6, m=2)
    with pytest.warns(InexactWarning, match="numbers are rounded"):
        answer = tacit.solve(problem, privacy=masked(1e12))
    assert np.abs(answer.x - optimum(problem)).max() < 1.0
    assert any("rounded" in caution for caution in answer.record.warnings)


@pytest.mark.parametrize("sigma", [1e5, 1e7])
def test_a_slow_problem_does_not_pass_for_one_at_its_rounding_floor(sigma):
    """Curvature 10⁻⁵ in one direction: masks are large, rounds move little, and the end is far away."""
    rng = np.random.default_rng(0)
    weak = 1e-5
    costs = [
        tacit.Quadratic(
            np.diag([1.0, 0.0 if i % 2 else 2 * weak]), [rng.standard_normal(), 0.0 if i % 2 else -6 * weak]
        )
        for i in range(20)
    ]
    problem = tacit.Problem(nx.random_regular_graph(4, 20, seed=1), costs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = tacit.solve(problem, privacy=masked(sigma), algorithm="nids", max_rounds=20_000)
    assert not answer.converged or abs(answer.x[1] - 3.0) < 0.1


def test_rounding_of_the_dual_variables_does_not_pile_up():
    """30 000 rounds at σ = 10⁶: the sum of the duals stays at zero, and x at its floor."""
    problem = least_squares(n=10, m=3)
    best = optimum(problem)
    masks = masked(1e6)
    peers = Stacked(problem.network)
    source = Keystreams(agent_keys(10, seed=1), problem.network.degrees)
    cost = masks.hide(problem.stack, peers, source, network=problem.network).cost
    algorithm = tacit.algorithms.NIDS.tuned(Landscape(problem.stack, problem.network))
    state = algorithm.init(np.zeros((10, 3)), cost)
    for _ in range(30_000):
        state = algorithm.step(state, peers, cost)
    assert np.abs(state.x - best).max() < 1e-7
    assert np.abs((state.d + state.low).sum(axis=0)).max() < 1e-6


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6])
def test_accuracy_is_relative_to_the_answer(scale):
    points = scale * np.array([1.0, 2.0, 4.0, 7.0, 11.0, 13.0])
    problem = tacit.Problem(nx.cycle_graph(6), [tacit.Quadratic.distance([p]) for p in points])
    answer = tacit.solve(problem)
    assert answer.converged
    assert answer.x[0] == pytest.approx(points.mean(), rel=1e-7)


def test_an_optimum_at_zero_is_reached():
    costs = [tacit.Quadratic.distance([p]) for p in (-3.0, -1.0, 0.5, 3.5)]
    for privacy in (None, masked(100.0)):
        answer = tacit.solve(tacit.Problem(nx.cycle_graph(4), costs), privacy=privacy)
        assert answer.converged, answer.sentence
        assert abs(answer.x[0]) < 1e-8


def test_badly_scaled_columns_are_not_called_unbounded():
    rng = np.random.default_rng(0)
    X = np.column_stack([3e5 * rng.standard_normal(200), rng.standard_normal(200)])
    costs = [tacit.LeastSquares(X[i::10], rng.standard_normal(20), intercept=True) for i in range(10)]
    tacit.Problem(nx.cycle_graph(10), costs)
    tacit.Problem(nx.path_graph(2), [tacit.Quadratic(np.diag([1e12, 1.0]), [1.0, 1.0])] * 2)


def test_poorly_connected_networks_get_the_accelerated_method():
    """A ring of 100: two hundred links of gossip are the bottleneck, not the costs."""
    problem = tacit.Problem(nx.cycle_graph(100), [tacit.Quadratic.distance([float(i)]) for i in range(100)])
    answer = tacit.solve(problem, privacy=masked(1e3))
    assert answer.record.phase2.algorithm == "OPAPC"
    assert answer.converged
    assert answer.x[0] == pytest.approx(49.5, abs=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        tacit.algorithms.EXTRA(0.0),
        tacit.algorithms.NIDS(-1.0),
        tacit.algorithms.ADMM(float("nan")),
        tacit.algorithms.DGD(float("inf")),
    ],
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(AlgorithmError, match="must be a positive number"):
        tacit.solve(least_squares(n=6, m=2), algorithm=settings)


def test_a_diverged_record_survives_its_file():
    answer = tacit.solve(least_squares(n=6, m=2), algorithm=tacit.algorithms.EXTRA(step_size=1e200))
    assert answer.status == "diverged"
    assert tacit.RunRecord.from_json(answer.record.to_json()).status == "diverged"
    assert answer.x.shape == (2,)


def test_masks_that_hide_nothing_are_not_called_private():
    problem = tacit.Problem(nx.cycle_graph(5), [tacit.AbsoluteValue([float(i)]) for i in range(5)])
    answer = tacit.solve(problem, privacy=AffineMasks(5.0))
    assert not answer.record.private
    assert [stamp.reason for stamp in answer.record.stamps] == ["nothing hidden"]
