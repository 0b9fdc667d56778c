"""Private answers: what they are near to, what they promise, and what is refused."""

import math

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2

import tacit
from tacit.differential import share_out
from tacit.masks import limits_of

MASKS = {
    "sums": lambda promise: tacit.SumMasks(answer=promise),
    "quadratic": lambda promise: tacit.QuadraticMasks(sigma=1e4, answer=promise),
    "affine": lambda promise: tacit.AffineMasks(sigma=1e4, answer=promise),
}


def least_squares(graph, records):
    return tacit.Problem(graph, [tacit.LeastSquares(A, b) for A, b in records])


def logistic(graph, records):
    return tacit.Problem(graph, [tacit.Logistic(A, b > 0, intercept=True) for A, b in records])


def clipped_statistics(records, promise):
    """Return ΣAᵀA and ΣAᵀb of all records within the promise's limits, by hand."""
    A, b = np.concatenate([A for A, _ in records]), np.concatenate([b for _, b in records])
    A = A * np.minimum(1.0, promise.clip / np.linalg.norm(A, axis=1))[:, None]
    b = np.clip(b, -promise.labels, promise.labels)
    return A.T @ A, A.T @ b


@pytest.mark.parametrize("masks", MASKS)
def test_the_answer_is_near_that_of_the_clipped_records(masks, graph, records, promise):
    answer = tacit.solve(least_squares(graph, records), privacy=MASKS[masks](promise))
    P, q = clipped_statistics(records, promise)
    ideal = np.linalg.solve(P, q)
    assert answer.converged
    assert np.abs(answer.x - ideal).max() < 0.3
    assert np.abs(answer.x - ideal).max() > 1e-6  # there is noise


def test_a_logistic_answer_is_near_that_of_the_clipped_records(graph, records):
    promise = tacit.DifferentialPrivacy(epsilon=8.0, delta=1e-6, clip=2.0, any=2)
    problem = logistic(graph, records)
    answer = tacit.solve(problem, privacy=tacit.SumMasks(answer=promise))
    assert answer.record.phase2.algorithm == "NoisyNewton"
    assert answer.record.phase2.rounds == 2 + promise.sums
    exact = tacit.solve(tacit.Problem(graph, [c.clipped(limits_of(promise)) for c in problem.costs])).x
    alike = answer.x @ exact / np.linalg.norm(answer.x) / np.linalg.norm(exact)
    assert alike > 0.99


@pytest.mark.parametrize("masks", ["sums", "quadratic"])
def test_noise_of_the_answer_is_as_wide_as_it_says(masks, graph, records, promise):
    """Squared errors over their stated variance, summed over 12 runs, lie where χ² of as many degrees does."""
    P, q = clipped_statistics(records, promise)
    ideal, count, runs = np.linalg.solve(P, q), 0.0, 12
    problem = least_squares(graph, records)
    for _ in range(runs):
        answer = tacit.solve(problem, privacy=MASKS[masks](promise))
        count += (((answer.x - ideal) / answer.noise) ** 2).sum()
    assert chi2.ppf(1e-6, 3 * runs) < count < 1.3 * chi2.ppf(1 - 1e-6, 3 * runs)


def test_standard_errors_of_a_logistic_answer_include_the_noise():
    """Of 20 runs over other records: errors against the truth, and against the exact fit, are as wide as they say."""
    rng, weights, runs = np.random.default_rng(6), np.array([1.0, -1.0, 0.3]), 20
    promise = tacit.DifferentialPrivacy(epsilon=2.0, delta=1e-6, clip=2.0, any=2)
    against_truth = against_fit = 0.0
    for _ in range(runs):
        A = np.column_stack([rng.uniform(-1.0, 1.0, size=(4000, 2)), np.ones(4000)])
        y = rng.random(4000) < 1.0 / (1.0 + np.exp(-A @ weights))
        problem = tacit.Problem(nx.complete_graph(6), [tacit.Logistic(A[k::6], y[k::6]) for k in range(6)])
        answer, exact = tacit.solve(problem, privacy=tacit.SumMasks(answer=promise)), tacit.solve(problem).x
        assert (answer.errors > answer.noise).all()
        against_truth += (((answer.x - weights) / answer.errors) ** 2).sum()
        against_fit += (((answer.x - exact) / answer.noise) ** 2).sum()
    low, high = chi2.ppf([1e-5, 1 - 1e-5], 3 * runs)
    assert low < against_truth < high
    assert low < against_fit < high


@pytest.mark.parametrize("masks", MASKS)
def test_agents_apart_and_all_at_once_keep_the_same_promise(masks, graph, records, promise):
    problem = least_squares(graph, records)
    together = tacit.solve(problem, privacy=MASKS[masks](promise))
    apart = tacit.solve(problem, privacy=MASKS[masks](promise), runtime="agents")
    assert together.guarantee == apart.guarantee
    assert np.abs(together.x - apart.x).max() < 0.5


def test_the_same_seed_gives_the_same_bits_together_and_apart(graph, records, promise):
    problem = least_squares(graph, records)
    masks = tacit.SumMasks(seed=5, answer=promise)
    with pytest.warns(UserWarning, match="seed"):
        together, apart = (tacit.solve(problem, privacy=masks, runtime=name) for name in ("stacked", "agents"))
    np.testing.assert_array_equal(together.x, apart.x)
    assert together.guarantee is None  # whoever knows the seed knows the noise


@pytest.mark.parametrize(("masks", "unit"), [("sums", "record"), ("quadratic", "record"), ("affine", "label")])
def test_the_guarantee_says_who_what_against_whom_and_at_which_price(masks, unit, graph, records, promise):
    answer = tacit.solve(least_squares(graph, records), privacy=MASKS[masks](promise))
    guarantee = answer.guarantee
    assert (guarantee.unit, guarantee.epsilon, guarantee.delta, guarantee.any) == (unit, 1.0, 1e-6, 2)
    assert guarantee.beyond_curator == pytest.approx(math.sqrt(10 / 8), rel=0.03)
    for words in (unit, "(1, 1e-06)", "any 2 agents", "54.7 %", "times that of a curator", "Not covered"):
        assert words in guarantee.statement()
    assert ("features are in the open" in guarantee.statement()) == (unit == "label")
    assert tacit.RunRecord.from_json(answer.record.to_json()).phase1.answer == guarantee


def test_noise_is_that_of_a_curator_and_the_root_of_what_colluders_take_off(graph, records, promise):
    sharing = share_out(tacit.Network(graph), promise)
    assert sharing.noise == pytest.approx(math.sqrt(10 / 8) / promise.mu, rel=1e-9)


@pytest.mark.parametrize(
    ("cost", "word"),
    [
        (lambda A, b: tacit.Poisson(A, np.abs(np.rint(b))), "no bounded sensitivity"),
        (lambda A, b: tacit.Huber(A, b), "no bounded sensitivity"),
        (lambda A, b: tacit.LeastSquares(A, b) + tacit.L1(0.1), "no bounded sensitivity"),
        (lambda A, b: tacit.Logistic(A, b > 0, weight=np.ones(len(A))), "no bounded sensitivity"),
        (lambda A, b: tacit.Quadratic(np.eye(3), np.ones(3)), "no bounded sensitivity"),
    ],
)
def test_costs_without_bounded_sensitivity_are_refused(cost, word, graph, records, promise):
    problem = tacit.Problem(graph, [cost(A, b) for A, b in records])
    with pytest.raises(tacit.TacitError, match=word):
        tacit.solve(problem, privacy=tacit.SumMasks(answer=promise))


@pytest.mark.parametrize("masks", MASKS)
def test_a_network_that_one_agent_cuts_costs_noise_and_not_the_promise(masks, records, promise):
    line = nx.path_graph(10)
    answer = tacit.solve(least_squares(line, records), privacy=MASKS[masks](promise), max_rounds=200)
    assert answer.guarantee.beyond_curator == pytest.approx(math.sqrt(10), rel=1e-3)  # the end must do with its own
    assert answer.guarantee.headline() in answer.privacy()


@pytest.mark.parametrize("masks", MASKS)
def test_what_releases_exact_numbers_takes_no_masks_with_a_promise(masks, graph, records, promise):
    """Means, counts and scales of an estimator are exact today: under a promise they are refused, not half kept."""
    from tacit.learning import PrivateRidge
    from tacit.solving.total import total

    network = tacit.Network(graph)
    with pytest.raises(tacit.TacitError):
        total(network, [np.ones(2)] * 10, privacy=MASKS[masks](promise), runtime="stacked")
    X, y = np.concatenate([A for A, _ in records]), np.concatenate([b for _, b in records])
    groups = np.repeat(np.arange(10), 300)
    with pytest.raises(tacit.TacitError, match="does not go with estimators"):
        PrivateRidge(privacy=MASKS[masks](promise), network=graph).fit(X, y, groups=groups)


def test_what_no_theorem_covers_is_refused_with_the_reason(graph, records, promise):
    squares, odds = least_squares(graph, records), logistic(graph, records)
    for problem, masks, settings, word in [
        (squares, tacit.SumMasks(answer=promise), {"algorithm": "newton"}, "'direct'"),
        (squares, tacit.SumMasks(answer=promise), {"algorithm": "fista"}, "'direct'"),
        (odds, tacit.SumMasks(answer=promise), {"algorithm": "direct"}, "'newton'"),
        (odds, tacit.SumMasks(answer=promise), {"algorithm": "lbfgs"}, "'newton'"),
        (odds, tacit.QuadraticMasks(1e3, answer=promise), {}, "least squares"),
        (squares, tacit.QuadraticMasks(1e3, answer=promise), {"algorithm": "multi-consensus"}, "run away"),
        (squares, tacit.AffineMasks(1e3, answer=promise), {"algorithm": "direct"}, "curvature in the open"),
        (squares, tacit.SumMasks(answer=promise), {"tree": False}, "tree"),
    ]:
        with pytest.raises(tacit.TacitError, match=word):
            tacit.solve(problem, privacy=masks, **settings)
    with pytest.raises(tacit.TacitError, match="words = 2"):
        tacit.SumMasks(words=2, answer=promise)
    with pytest.raises(tacit.TacitError, match="no sensitivity"):
        tacit.BasisMasks(1e3, functions=tacit.Monomials(2, 2), answer=promise)
    few = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, labels=1.0, any=9)
    with pytest.raises(tacit.TacitError, match="at least two honest agents"):
        tacit.solve(squares, privacy=tacit.SumMasks(answer=few))
    unlabelled = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0)
    with pytest.raises(tacit.TacitError, match="labels is missing"):
        tacit.solve(squares, privacy=tacit.SumMasks(answer=unlabelled))
    with pytest.raises(tacit.TacitError, match="too small beside noise"):
        tacit.solve(squares, privacy=tacit.SumMasks(bound=1.0, answer=promise))


def test_a_noisy_answer_is_not_called_the_minimiser():
    """However few the sums: one step from zero is no optimum, and the run may not say that it is."""
    rng = np.random.default_rng(4)
    costs = [tacit.Logistic(rng.normal(size=(20, 3)), rng.random(20) < 0.5, l2=0.1) for _ in range(10)]
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=2, sums=1)
    problem = tacit.Problem(nx.random_regular_graph(4, 10, seed=1), costs)
    answer = tacit.solve(problem, privacy=tacit.SumMasks(answer=promise))
    assert "not the exact minimiser" in answer.sentence


@pytest.mark.parametrize(
    ("pairing", "holds"), [("both", ""), ("one-sided", ""), ("seeds", "unless they break X25519")]
)
def test_a_promise_that_ciphers_keep_says_so(pairing, holds):
    rng = np.random.default_rng(4)
    costs = [tacit.LeastSquares(rng.normal(size=(20, 3)), rng.normal(size=20), l2=0.1) for _ in range(10)]
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=2, labels=1.0)
    problem = tacit.Problem(nx.random_regular_graph(4, 10, seed=1), costs)
    guarantee = tacit.solve(problem, privacy=tacit.SumMasks(answer=promise, pairing=pairing)).guarantee
    for words in (guarantee.headline(), guarantee.statement()):
        assert holds in words
        assert ("X25519" in words) == bool(holds)
