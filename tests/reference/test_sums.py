"""Algorithms by sums against scikit-learn, statsmodels and closed forms, on real data."""

import warnings
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression
from sklearn.preprocessing import StandardScaler

import tacit
from tacit.algorithms.penalised import Penalty, minimise
from tacit.masks import AffineMasks, QuadraticMasks, SumMasks
from tacit.solving.solve import CollinearWarning

AGENTS = 20
GRAPH = nx.random_regular_graph(4, AGENTS, seed=1)


def split(X, y):
    """Return unequal parts: the first agent has three records, the last many."""
    cuts = np.linspace(np.sqrt(3), np.sqrt(len(X)), AGENTS) ** 2
    return [(X[a:b], y[a:b]) for a, b in pairwise([0, *np.unique(cuts.astype(int))])]


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    pooled = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(X, y)
    costs = [tacit.Logistic(a, b, l2=1.0 / AGENTS, intercept=True) for a, b in split(X, y)]
    return tacit.Problem(GRAPH, costs), np.append(pooled.coef_[0], pooled.intercept_)


def diabetes(*, scaled=True):
    X, y = load_diabetes(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), y


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
def test_masked_newton_equals_newton_cholesky_in_a_dozen_sums(runtime):
    problem, pooled = cancer()
    answer = tacit.solve(problem, protect="whole", runtime=runtime)
    phase2 = answer.record.phase2
    assert phase2.algorithm == "Newton"
    assert np.abs(answer.x - pooled).max() <= 1e-8
    assert phase2.rounds <= 12
    assert phase2.exchanges <= 120


@pytest.mark.parametrize("name", ["lbfgs", "fista"])
def test_first_order_sums_get_there_too(name):
    problem, pooled = cancer()
    answer = tacit.solve(problem, privacy=SumMasks(), algorithm=name)
    assert answer.converged, answer.sentence
    assert np.abs(answer.x - pooled).max() <= 1e-7
    assert answer.record.phase2.rounds <= {"lbfgs": 120, "fista": 2500}[name]


def test_memory_and_momentum_are_worth_their_names():
    """Without them, rounds grow with the condition number and not with its root."""
    rng = np.random.default_rng(0)
    curvature = np.geomspace(1.0, 1e4, 40)
    costs = [tacit.Quadratic(np.diag(curvature), curvature * rng.standard_normal(40)) for _ in range(6)]
    problem = tacit.Problem(nx.cycle_graph(6), costs)
    rounds = {
        name: tacit.solve(problem, algorithm=algorithm, privacy=SumMasks()).record.phase2.rounds
        for name, algorithm in {
            "fista": "fista",
            "long": tacit.algorithms.LBFGS(memory=20),
            "short": tacit.algorithms.LBFGS(memory=1),
        }.items()
    }
    assert rounds["fista"] <= 4000  # plain gradient steps need about 10⁴·ln 10⁹
    assert rounds["long"] <= 1000
    assert rounds["long"] < 0.7 * rounds["short"]


def test_multi_consensus_is_accelerated():
    curvature = np.geomspace(1.0, 1e3, 10)
    rng = np.random.default_rng(0)
    costs = [tacit.Quadratic(np.diag(curvature), curvature * rng.standard_normal(10)) for _ in range(AGENTS)]
    answer = tacit.solve(tacit.Problem(GRAPH, costs), algorithm="multi-consensus")
    assert answer.converged
    assert answer.record.phase2.rounds <= 25 * np.sqrt(1e3)  # plain descent needs about 10³·ln 10⁹ = 20 000


@pytest.mark.parametrize(
    ("m", "family", "chosen"),
    [
        (899, "logistic", "Newton"),
        (900, "logistic", "LBFGS"),
        (301, "ridge", "Direct"),
        (1501, "ridge", "LBFGS"),
        (1501, "lasso", "FISTA"),
    ],
)
def test_auto_draws_its_lines_where_it_says(m, family, chosen):
    from tacit.solving import choose

    rng = np.random.default_rng(0)
    costs = []
    for _ in range(3):
        A = rng.standard_normal((2, m))
        cost = (
            tacit.Logistic(A, [0, 1], l2=0.1) if family == "logistic" else tacit.LeastSquares(A, [0.0, 1.0], l2=0.1)
        )
        costs.append(cost + tacit.L1(0.1) if family == "lasso" else cost)
    choice = choose(tacit.Problem(nx.complete_graph(3), costs), privacy=SumMasks())
    assert type(choice.algorithm).__name__ == chosen


@pytest.mark.parametrize(
    "cost",
    [
        lambda: tacit.Affine([-5.0, 0.0]) + tacit.L1(1.0),
        lambda: tacit.Quadratic([[-1.0]], [0.5]) + tacit.L1(1.0),
        lambda: tacit.Affine([1.0]) + tacit.L1(0.0),
        lambda: tacit.Affine([1.0]) + tacit.Box(-np.inf, 5.0),
        lambda: tacit.Quadratic([[-1.0]], [0.05]) + tacit.Box(-1.0, 1.0),
    ],
    ids=["sloping beyond its penalty", "bent down", "no penalty", "open box", "bent down in a box"],
)
def test_sums_of_rough_costs_without_a_minimum_are_refused(cost):
    problem = tacit.Problem(nx.complete_graph(4), [cost() for _ in range(4)])
    with pytest.raises(tacit.TacitError, match="unbounded|not convex"):
        tacit.solve(problem, privacy=SumMasks())


def test_flat_and_steep_unknowns_side_by_side():
    """x₁² + x₂⁴ − x₂/2: one unknown has no curvature at the start."""
    basis = tacit.Monomials(dim=2, degree=4)
    theta = np.zeros(len(basis.functions))
    theta[basis.exponents.index((2, 0))], theta[basis.exponents.index((0, 4))] = 1.0, 1.0
    theta[basis.exponents.index((0, 1))], theta[basis.exponents.index((1, 0))] = -0.5, -2.0
    problem = tacit.Problem(nx.complete_graph(3), [tacit.Expansion(basis, theta)] * 3)
    for privacy in (SumMasks(), tacit.BasisMasks(10.0, functions=basis), None):
        answer = tacit.solve(problem, privacy=privacy)
        assert answer.converged, answer.sentence
        np.testing.assert_allclose(answer.x, [1.0, 0.5], atol=1e-6)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(
    ("masks", "tree"),
    [(SumMasks(), True), (QuadraticMasks(1e3), True), (QuadraticMasks(1e3), False)],
    ids=["sums", "quadratic", "quadratic, no tree"],
)
def test_ridge_on_diabetes_equals_the_closed_form(masks, tree, scaled):
    X, y = diabetes(scaled=scaled)
    costs = [tacit.LeastSquares(a, b, l2=1.0 / AGENTS, intercept=True) for a, b in split(X, y)]
    answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=masks, tree=tree)
    rows = np.column_stack([X, np.ones(len(X))])
    penalty = np.diag([1.0] * X.shape[1] + [0.0])
    closed = np.linalg.solve(rows.T @ rows + penalty, rows.T @ y)
    assert answer.converged, answer.sentence
    assert np.abs(answer.x - closed).max() <= 1e-8 * np.abs(closed).max()
    assert answer.record.phase2.rounds == 1 or not tree


@pytest.mark.parametrize("name", ["direct", "newton", "fista"])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_lasso_and_elastic_net_equal_scikit_learn(name, l1_ratio):
    X, y = diabetes()
    y, alpha = y - y.mean(), 2.0
    whole = {"fit_intercept": False, "tol": 1e-13, "max_iter": 200_000}
    if l1_ratio == 1.0:
        pooled, rough = Lasso(alpha=alpha, **whole), tacit.L1(alpha * len(X) / AGENTS)
    else:
        pooled = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, **whole)
        rough = tacit.ElasticNet(alpha * l1_ratio * len(X) / AGENTS, alpha * (1 - l1_ratio) * len(X) / AGENTS)
    costs = [tacit.LeastSquares(a, b) + rough for a, b in split(X, y)]
    answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=SumMasks(), algorithm=name)
    coefficients = pooled.fit(X, y).coef_
    assert answer.converged, answer.sentence
    assert np.abs(answer.x - coefficients).max() <= 1e-6
    np.testing.assert_array_equal(answer.x == 0, coefficients == 0)


def test_penalties_may_differ_from_agent_to_agent():
    """Only their sum matters: unequal shares, an agent with none, L1 beside an elastic net."""
    X, y = diabetes()
    y, n = y - y.mean(), len(X)
    parts = split(X, y)
    shares = np.random.default_rng(0).dirichlet(np.ones(AGENTS - 1))
    costs = [tacit.LeastSquares(*parts[0])]
    for k, (a, b) in enumerate(parts[1:]):
        rough = tacit.L1(2.0 * n * shares[k]) if k % 2 else tacit.ElasticNet(2.0 * n * shares[k], 0.0)
        costs.append(tacit.LeastSquares(a, b) + rough)
    pooled = Lasso(alpha=2.0, fit_intercept=False, tol=1e-13, max_iter=200_000).fit(X, y)
    for runtime in ("stacked", "agents"):
        answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=SumMasks(), runtime=runtime)
        assert np.abs(answer.x - pooled.coef_).max() <= 1e-6


def poisson_data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 4))
    return X, rng.poisson(np.exp(X @ [0.4, -0.3, 0.2, 0.0] + 0.5)).astype(float)


@pytest.mark.parametrize("name", ["newton", "lbfgs"])
def test_poisson_regression_equals_statsmodels(name):
    X, y = poisson_data()
    pooled = sm.GLM(y, np.column_stack([X, np.ones(len(X))]), family=sm.families.Poisson()).fit(tol=1e-14)
    costs = [tacit.Poisson(a, b, intercept=True) for a, b in split(X, y)]
    answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=SumMasks(), algorithm=name)
    assert answer.converged, answer.sentence
    assert np.abs(answer.x - pooled.params).max() <= 1e-6


def test_poisson_with_an_l1_penalty_needs_sums_and_gets_them():
    """No gossip method here takes both; the proximal Newton method does. Checked by its optimality conditions."""
    X, y = poisson_data()
    weight = 30.0
    costs = [tacit.Poisson(a, b) + tacit.L1(weight / AGENTS) for a, b in split(X, y)]
    problem = tacit.Problem(GRAPH, costs)
    answer = tacit.solve(problem, privacy=SumMasks())
    slope = X.T @ (np.exp(X @ answer.x) - y)
    zero = answer.x == 0
    assert answer.converged
    assert zero.any()
    assert not zero.all()
    assert (np.abs(slope[zero]) <= weight + 1e-6).all()
    np.testing.assert_allclose(slope[~zero], -weight * np.sign(answer.x[~zero]), atol=1e-5)
    with pytest.raises(tacit.TacitError, match="Lipschitz"):
        tacit.solve(problem, privacy=AffineMasks(10.0))


def test_a_poisson_start_far_off_is_damped_not_broken():
    """Trial points at which exp overflows the public bound are drawn back, at all agents alike."""
    X, y = poisson_data()
    costs = [tacit.Poisson(a, b, intercept=True) for a, b in split(X, y)]
    problem = tacit.Problem(GRAPH, costs, x0=[0.0, 0.0, 0.0, 0.0, -8.0])
    for runtime in ("stacked", "agents"):
        answer = tacit.solve(problem, privacy=SumMasks(), algorithm="newton", runtime=runtime)
        assert answer.converged, answer.sentence
        assert answer.record.phase2.rounds < 40
        np.testing.assert_allclose(answer.x, tacit.solve(tacit.Problem(GRAPH, costs), protect="whole").x, atol=1e-7)


def test_many_unknowns_take_l_bfgs():
    rng = np.random.default_rng(0)
    m = 500
    truth = rng.standard_normal(m) / np.sqrt(m)
    costs = []
    for _ in range(AGENTS):
        A = rng.standard_normal((60, m))
        costs.append(tacit.Logistic(A, rng.random(60) < 1 / (1 + np.exp(-A @ truth)), l2=0.5))
    problem = tacit.Problem(GRAPH, costs)
    answer = tacit.solve(problem, protect="whole")
    assert answer.record.phase2.algorithm == "LBFGS"
    assert answer.converged, answer.sentence
    slope = problem.stack.grad(answer.x).sum(axis=0)
    assert np.abs(slope).max() / (AGENTS * 0.5) <= 1e-8


def test_a_common_box_is_kept_by_sums():
    """min Σ (x − c_i)² on a box: the clipped mean."""
    rng = np.random.default_rng(1)
    centres = rng.normal(np.array([3.0, 0.0, -3.0]), 2.0, (AGENTS, 3))
    costs = [tacit.Quadratic.distance(c) + tacit.Box(-1.0, 1.0) for c in centres]
    best = np.clip(centres.mean(axis=0), -1.0, 1.0)
    for name in ("direct", "newton", "fista"):
        answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=SumMasks(), algorithm=name)
        assert answer.converged, answer.sentence
        np.testing.assert_allclose(answer.x, best, atol=1e-9)


def test_huber_by_newton_equals_gossip():
    rng = np.random.default_rng(3)
    costs = []
    for _ in range(AGENTS):
        A = rng.standard_normal((12, 3))
        costs.append(tacit.Huber(A, A @ [1.0, -1.0, 0.5] + rng.standard_t(1.5, 12), delta=1.35, l2=0.01))
    problem = tacit.Problem(GRAPH, costs)
    np.testing.assert_allclose(
        tacit.solve(problem, protect="whole").x, tacit.solve(problem, algorithm="nids").x, atol=1e-7
    )


def test_a_sum_without_a_minimum_is_not_called_converged():
    """Separable logistic regression: gradients vanish below the resolution of the sums, far from any optimum."""
    costs = [tacit.Logistic(9.0 * np.eye(3)[:2], [0, 1])] * 6
    answer = tacit.solve(tacit.Problem(nx.complete_graph(6), costs), privacy=SumMasks())
    assert answer.record.phase2.algorithm == "Newton"
    assert not answer.converged
    assert "no minimum" in answer.sentence


def test_newton_finds_its_way_over_flat_ground():
    """Huber far from the data has no curvature at the start; Newton's step alone would be zero."""
    rng = np.random.default_rng(0)
    costs = []
    for _ in range(5):
        A = rng.standard_normal((40, 3))
        costs.append(tacit.Huber(A, A @ [1.0, 2.0, 3.0] + 200 + rng.standard_normal(40), intercept=True))
    problem = tacit.Problem(nx.cycle_graph(5), costs)
    for privacy in (SumMasks(), None):
        answer = tacit.solve(problem, privacy=privacy, algorithm="newton")
        assert answer.converged, answer.sentence
        assert np.abs(problem.stack.grad(answer.x).sum(axis=0)).max() < 1e-6
        assert answer.record.phase2.rounds < 40


def test_a_saturated_start_is_left_behind():
    rng = np.random.default_rng(1)
    costs = [tacit.Logistic(rng.standard_normal((20, 2)), rng.random(20) < 0.5, l2=1e-3) for _ in range(5)]
    near = tacit.solve(tacit.Problem(nx.cycle_graph(5), costs), protect="whole")
    far = tacit.solve(tacit.Problem(nx.cycle_graph(5), costs, x0=[1e4, 1e4]), protect="whole")
    assert near.converged
    assert far.converged, far.sentence
    np.testing.assert_allclose(far.x, near.x, atol=1e-6)


def test_settings_given_by_hand_are_refused_the_same_costs():
    """`Direct()` on costs that are not quadratic would stop after one Newton step and call it exact."""
    logistic = tacit.Problem(nx.cycle_graph(3), [tacit.Logistic([[1.0]], [k % 2], l2=1.0) for k in range(3)])
    with pytest.raises(tacit.TacitError, match="quadratic"):
        tacit.solve(logistic, privacy=SumMasks(), algorithm=tacit.algorithms.Direct())
    poisson = tacit.Problem(nx.cycle_graph(3), [tacit.Poisson([[1.0]], [k]) for k in range(3)])
    with pytest.raises(tacit.TacitError, match="Lipschitz"):
        tacit.solve(poisson, privacy=SumMasks(), algorithm=tacit.algorithms.FISTA())


@pytest.mark.parametrize("masks", [SumMasks(), QuadraticMasks(1e3)], ids=["sums", "quadratic"])
def test_an_answer_that_rounding_spoiled_is_warned_of(masks):
    """Data so small that the step of the masks is no longer small beside their curvature."""
    rng = np.random.default_rng(0)
    costs = []
    for _ in range(5):
        A = 1e-5 * rng.standard_normal((20, 2))
        costs.append(tacit.LeastSquares(A, A @ [5.0, 7.0]))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        answer = tacit.solve(tacit.Problem(nx.cycle_graph(5), costs), privacy=masks)
    assert any("rounded" in caution for caution in answer.record.warnings)


def test_direct_does_not_care_where_it_starts():
    """P·x₀ would be rounded at the size of the masks."""
    rng = np.random.default_rng(0)
    costs = [tacit.LeastSquares(rng.standard_normal((8, 3)), rng.standard_normal(8)) for _ in range(AGENTS)]
    answers = [
        tacit.solve(tacit.Problem(GRAPH, costs, x0=x0), privacy=QuadraticMasks(1e6, seed=1)).x
        for x0 in ([0.0] * 3, [1e6] * 3)
    ]
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("bound", [2.0**20, 1e9])
def test_collinear_columns_get_a_short_solution_whatever_the_resolution(bound):
    """Rounding makes zero eigenvalues slightly positive; dividing by them would send x anywhere."""
    rng = np.random.default_rng(0)
    costs, logistic = [], []
    for _ in range(6):
        A = rng.standard_normal((15, 3))
        A = np.column_stack([A, A[:, 0] + A[:, 1]])
        costs.append(tacit.LeastSquares(A, A @ [1.0, 2.0, 0.5, -1.0] + 0.1 * rng.standard_normal(15)))
        logistic.append(tacit.Logistic(A, rng.random(15) < 0.5))
    for each in (costs, logistic):
        problem = tacit.Problem(nx.random_regular_graph(4, 6, seed=1), each)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = tacit.solve(problem, privacy=SumMasks(bound=bound))
        assert answer.converged, answer.sentence
        assert np.abs(answer.x).max() < 10
        assert np.abs(problem.stack.grad(answer.x).sum(axis=0)).max() < 1e-4


def test_a_bound_too_small_on_the_way_is_named():
    """Trial points are shortened at first; where that does not help, the bound is the answer."""
    rng = np.random.default_rng(0)
    costs = [tacit.Poisson(np.ones((10, 1)), rng.poisson(20_000.0, 10)) for _ in range(4)]
    problem = tacit.Problem(nx.complete_graph(4), costs)
    for name in ("newton", "lbfgs"):
        with pytest.raises(tacit.TacitError, match="public bound"):
            tacit.solve(problem, privacy=SumMasks(bound=2.0**18), algorithm=name)
        answer = tacit.solve(problem, privacy=SumMasks(bound=2.0**40, words=2), algorithm=name)
        assert answer.converged, answer.sentence
        assert abs(answer.x[0] - np.log(20_000.0)) < 0.01


@pytest.mark.parametrize("name", ["newton", "lbfgs"])
@pytest.mark.parametrize("bound", [2.0**20, 1e9, 1e12])
def test_coarse_sums_end_where_they_can_and_say_so(name, bound):
    rng = np.random.default_rng(5)
    for _ in range(5):
        costs = [tacit.Logistic(rng.standard_normal((12, 4)), rng.random(12) < 0.5, l2=0.1) for _ in range(6)]
        problem = tacit.Problem(nx.random_regular_graph(4, 6, seed=1), costs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = tacit.solve(problem, privacy=SumMasks(bound=bound), algorithm=name)
            best = tacit.solve(problem, algorithm="newton").x
        assert answer.converged, answer.sentence
        assert np.abs(answer.x - best).max() <= 1e-7 + 100 * answer.record.phase1.sum_error


def test_the_optimum_is_recognised_where_a_run_starts_at_it():
    costs = [tacit.Quadratic(np.eye(2), [-v, -v]) for v in (1.0, 2.0, 3.0, 2.0)]
    zero = [tacit.Quadratic([[1.0]], [q]) for q in (0.1, 0.2, -0.3, 0.0)]
    for name in ("direct", "newton", "lbfgs"):
        for privacy in (SumMasks(), None):
            at = tacit.Problem(nx.cycle_graph(4), costs, x0=[2.0, 2.0])
            assert tacit.solve(at, privacy=privacy, algorithm=name).converged
            answer = tacit.solve(tacit.Problem(nx.cycle_graph(4), zero), privacy=privacy, algorithm=name)
            assert answer.converged, (name, privacy, answer.sentence)
            assert abs(answer.x[0]) < 1e-11


def test_l_bfgs_is_patient_with_ill_conditioned_costs():
    rng = np.random.default_rng(0)
    curvature = np.geomspace(1e-2, 1e2, 30)
    costs = [tacit.Quadratic(np.diag(curvature), curvature * rng.standard_normal(30)) for _ in range(5)]
    problem = tacit.Problem(nx.cycle_graph(5), costs)
    best = -problem.stack.affine.mean(axis=0) / curvature
    answer = tacit.solve(problem, privacy=SumMasks(), algorithm="lbfgs")
    assert answer.converged, answer.sentence
    assert np.abs(answer.x - best).max() <= 1e-6


def test_flat_directions_get_the_shortest_step():
    """A sum that does not depend on one unknown has many minima; direct takes the one nearest to the start."""
    costs = [tacit.LeastSquares([[1.0, 1.0]], [float(k)]) for k in range(4)]
    with pytest.warns(CollinearWarning, match="unknown\\(s\\) 1 and 2 are not told apart"):
        answer = tacit.solve(tacit.Problem(nx.complete_graph(4), costs), protect="whole")
    np.testing.assert_allclose(answer.x, [0.75, 0.75], atol=1e-9)
    assert answer.record.doubt.unknowns == (0, 1)


@pytest.mark.parametrize("seed", range(20))
def test_the_penalised_model_is_minimised_to_rounding(seed):
    """Against the optimality conditions, for random models with kinks, limits and flat directions."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 12))
    root = rng.standard_normal((m, int(rng.integers(1, m + 3))))
    H, x, g = root @ root.T + (seed % 3 == 0) * np.eye(m), rng.standard_normal(m), 3 * rng.standard_normal(m)
    boxed = seed % 2 == 0 or np.linalg.matrix_rank(H) < m
    limit = np.full(m, 2.0 if boxed else np.inf)
    penalty = Penalty(
        l1=rng.uniform(0, 2, m) * (rng.random(m) < 0.7), l2=rng.uniform(0, 1, m), lower=-limit, upper=limit
    )
    u = minimise(x, g, H, penalty)
    slope = g + H @ (u - x) + penalty.l2 * u
    step = 1e-3
    again = penalty._replace(l2=np.zeros(m)).prox(u - step * slope, step)
    np.testing.assert_allclose(again, u, atol=1e-9)


# multi-consensus ------------------------------------------------------------------------------------------------------


def bent(sigma):
    rng = np.random.default_rng(0)
    costs = [
        tacit.LeastSquares(rng.standard_normal((8, 10)), rng.standard_normal(8), l2=0.1) for _ in range(AGENTS)
    ]
    problem = tacit.Problem(GRAPH, costs)
    best = np.linalg.solve(problem.stack.total_curvature().below, -problem.stack.affine.sum(axis=0))
    return problem, best, QuadraticMasks(sigma, seed=1)


def test_rounds_of_multi_consensus_grow_with_the_logarithm_of_sigma():
    exchanges = {}
    for sigma in (1.0, 1e2, 1e4):
        problem, best, masks = bent(sigma)
        answer = tacit.solve(problem, privacy=masks, tree=False)
        assert answer.converged, answer.sentence
        assert answer.record.phase2.algorithm == "MultiConsensus"
        assert np.abs(answer.x - best).max() <= 1e-8
        exchanges[sigma] = answer.record.phase2.exchanges
    assert exchanges[1e4] <= 5 * exchanges[1.0]
    steps = exchanges[1e2] - exchanges[1.0], exchanges[1e4] - exchanges[1e2]
    assert steps[1] <= 2 * steps[0]  # the same for every factor of a hundred


def test_single_gossip_slows_down_in_proportion_to_sigma():
    """Gradient tracking at the largest step that its costs can take, about 1/L."""
    rounds = {}
    for sigma in (10.0, 100.0):
        problem, best, masks = bent(sigma)
        L = float(problem.stack.smoothness.max()) + masks.bends(problem.network, problem.dim)
        fastest = []
        for factor in (0.5, 1.0, 2.0):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = tacit.solve(
                    problem,
                    privacy=masks,
                    algorithm=tacit.algorithms.GradientTracking(step_size=factor / L),
                    max_rounds=60_000,
                    tolerance=1e-7,
                )
            if answer.converged and np.abs(answer.x - best).max() <= 1e-4:
                fastest.append(answer.record.phase2.rounds)
        rounds[sigma] = min(fastest)
    assert rounds[100.0] >= 5 * rounds[10.0]


def test_multi_consensus_takes_costs_that_are_not_convex_one_by_one():
    problem = tacit.Problem(
        nx.cycle_graph(6), [tacit.Quadratic([[4.0 if k % 2 else -2.0]], [float(k)]) for k in range(6)]
    )
    answer = tacit.solve(problem, algorithm="multi-consensus")
    assert answer.converged
    np.testing.assert_allclose(answer.x, [-15.0 / 6.0], atol=1e-8)
    with pytest.raises(tacit.TacitError, match="between two positive numbers"):
        tacit.solve(
            tacit.Problem(nx.cycle_graph(3), [tacit.Logistic([[1.0]], [1])] * 3), algorithm="multi-consensus"
        )


# certificates and records -----------------------------------------------------------------------------------------------


def test_the_record_of_secret_sums_reports_their_error():
    problem, _ = cancer()
    record = tacit.solve(problem, protect="whole").record
    assert record.private
    assert record.phase1.mechanism == "SumMasks"
    assert record.phase1.sigma is None
    assert record.phase1.sum_error == AGENTS * record.phase1.step / 2
    assert record.phase2.sums == ["values", "gradients", "Hessians"]
    assert tacit.RunRecord.from_json(record.to_json()) == record


def test_certificates_of_secret_sums_know_only_cuts():
    problem, _ = cancer()
    answer = tacit.solve(problem, protect="whole")
    certificate = answer.certificate({3, 7})
    assert certificate.is_perfect
    assert certificate.epsilon == 0.0
    assert certificate.guess(1e6) == 0.5
    assert "nothing else, however long it computes" in certificate.statement()
    assert answer.certificate(any=3).is_private
    around = answer.certificate(GRAPH.neighbors(5))
    assert around.exposed_agents == (5,)
    assert "contribution of 5" in around.statement()
    assert not answer.certificate(any=4).is_private
    whole = tacit.solve(problem_of_quadratics(), privacy=QuadraticMasks(100.0)).certificate({0})
    assert whole.epsilon > 0
    assert "quadratic costs" in whole.statement()


def test_certificates_of_sums_stay_numbers():
    import json
    import math

    path = nx.path_graph(4)
    exposed = tacit.certify(path, {2}, sigma=math.inf, known=[0])
    assert exposed.uncertainty == {1: 0.0, 3: 0.0}
    json.dumps(exposed.to_dict(), allow_nan=False)
    nobody = tacit.certify(path, any=0, sigma=math.inf)
    assert "sees all masked words" in nobody.statement()
    json.dumps(tacit.certify(path, (), sigma=[math.inf, math.inf]).to_dict(), allow_nan=False)
    with pytest.raises(tacit.TacitError, match="infinite for all"):
        tacit.certify(path, (), sigma=[1.0, math.inf])
    with pytest.raises(tacit.TacitError, match="nothing but sums"):
        tacit.leakage(path, (), sigma=math.inf)


def test_the_ledger_never_takes_masks_of_a_sum_twice(tmp_path):
    import math

    from tacit.certificates import Release

    graph = nx.random_regular_graph(4, 8, seed=1)
    with pytest.raises(tacit.TacitError, match="never used again"):
        Release.of("second", graph, sigma=math.inf, basis="sums", masks="first")
    for sigma in ([], [1.0, math.inf], -1.0, float("nan")):
        with pytest.raises(tacit.TacitError, match="sigma must be"):
            Release.of("strange", graph, sigma=sigma)
    with tacit.Ledger(tmp_path / "book", owner="0", budget=1e-3, any=2) as book:
        for run in ("monday", "tuesday"):
            assert book.add(Release.of(run, graph, sigma=math.inf, basis="sums")).epsilon == 0.0
    with tacit.Ledger(tmp_path / "book") as book:
        assert [entry.release.sigmas for entry in book.entries()] == [(), ()]
        smaller = graph.subgraph(range(7)).copy()
        review = book.check(Release.of("wednesday", smaller, sigma=math.inf, basis="sums"))
        assert not review.accepted
        assert review.exposed[0].agent == "7"


def problem_of_quadratics():
    return tacit.Problem(GRAPH, [tacit.Quadratic.distance([float(k)]) for k in range(AGENTS)])


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
@pytest.mark.parametrize(("n", "m"), [(5, 1), (8, 3)])
def test_weighted_medians_by_secret_sums(n, m, runtime):
    """|x − c| with a centre of everybody's own: whole costs of any kind, and nobody's centre shown."""
    rng = np.random.default_rng(n)
    centres, weights = 100.0 * rng.standard_normal((n, m)), rng.uniform(0.5, 2.0, n)
    costs = [tacit.AbsoluteValue(c, weight=w) for c, w in zip(centres, weights, strict=True)]
    answer = tacit.solve(tacit.Problem(nx.cycle_graph(n), costs), protect="whole", runtime=runtime)
    assert answer.converged, answer.sentence
    assert answer.record.phase2.algorithm == "Bracket"

    def total(x):
        return float((weights[:, None] * np.abs(x - centres)).sum())

    best = sum(min((weights * np.abs(c - centres[:, k])).sum() for c in centres[:, k]) for k in range(m))
    assert total(answer.x) == pytest.approx(best, rel=1e-9)


def test_kinks_beside_a_curved_part_are_bracketed_too():
    """½(x − a)² + |x − c|, in one unknown: the optimum is where slopes change sign."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(6, 2))
    costs = [tacit.Quadratic([[1.0]], [-a]) + tacit.L1(0.7, [c]) for a, c in points]
    answer = tacit.solve(tacit.Problem(nx.cycle_graph(6), costs), privacy=SumMasks(), algorithm="bracket")
    grid = np.linspace(-3, 3, 600_001)
    values = sum(0.5 * (grid - a) ** 2 + 0.7 * np.abs(grid - c) for a, c in points)
    assert answer.x[0] == pytest.approx(grid[values.argmin()], abs=2e-5)


def test_a_box_has_no_slope_to_bracket():
    boxed = [tacit.Quadratic([[1.0]], [1.0]) + tacit.Box(-1.0, 1.0)] * 3
    with pytest.raises(tacit.TacitError, match="a rough term such as a box has none at its limits"):
        tacit.solve(tacit.Problem(nx.complete_graph(3), boxed), privacy=SumMasks(), algorithm="bracket")


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_lbfgs_on_classes_told_apart_without_error_neither_breaks_nor_says_converged(scale):
    """There gradients fall below 1e-154, and their squares to nothing."""
    X = scale * np.array([[1.0], [2.0], [-1.0], [-2.0], [3.0], [-3.0]])
    costs = [tacit.Logistic(X[k::3], (X[k::3, 0] > 0).astype(float)) for k in range(3)]
    answer = tacit.solve(tacit.Problem(nx.complete_graph(3), costs), algorithm="lbfgs", max_rounds=3000)
    assert not answer.converged
    assert "may have no minimum" in answer.sentence
