"""Every baseline does what its paper says, and no more."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.baselines import (
    Decor,
    FunctionSharing,
    Listeners,
    MessageNoise,
    MultiParty,
    ObjectiveNoise,
    PrivateAnswer,
    SecureAggregation,
    StepHiding,
    reference,
    secure_aggregation,
)
from tacit.baselines.correlated_noise import (
    CorrelatedNoise,
    calibrated,
    directions,
    pairing,
    published_mu,
    sensitivity,
)
from tacit.baselines.domain import Domain, clipped
from tacit.baselines.hidden_steps import HiddenSteps
from tacit.baselines.noisy_messages import NoisyMessages
from tacit.baselines.noisy_objective import diameter, perturbed
from tacit.baselines.secure_aggregation import FLOWER_PYTHON, flower_python
from tacit.baselines.summing import closed_to, missing_package, summed_job
from tacit.certificates import TradeOff
from tacit.comparing.recovery import recover
from tacit.errors import InputError, TacitError
from tacit.runtimes import Stacked

POINTS = np.random.default_rng(3).normal(size=(6, 2))


@pytest.fixture(scope="module")
def problem():
    costs = [tacit.Quadratic.distance(point) for point in POINTS]
    return tacit.Problem(nx.circulant_graph(6, [1, 2]), costs)


def after(algorithm, problem, rounds):
    peers, x = Stacked(problem.network), np.tile(problem.x0, (len(problem.network), 1))
    state = algorithm.init(x, problem.stack)
    for _ in range(rounds):
        state = algorithm.step(state, peers, problem.stack)
    return state.x


NOISY = NoisyMessages(
    step_size=0.1, q=0.8, p=0.9, epsilon=0.7, steepest=5.0, radius=3.0, centre=(0.0, 0.0), seed=1
)  # fmt: skip


def test_noise_in_messages_costs_its_budget_over_all_rounds():
    """Σ 2C√m c qᵗ / M_{t+1} = ε: Huang, Mitra & Vaidya, Theorem 4."""
    spent = sum(
        2 * NOISY.steepest * np.sqrt(2) * NOISY.step_size * NOISY.q**t / NOISY.noise(t + 1, 2) for t in range(500)
    )
    assert spent == pytest.approx(NOISY.epsilon)


def test_noise_in_messages_stays_in_its_ball(problem):
    assert np.linalg.norm(after(NOISY, problem, 30), axis=1).max() <= NOISY.radius + 1e-12


def test_without_noise_it_is_gradient_descent_at_the_mixed_point(problem):
    quiet = replace(NOISY, seed=None)
    np.testing.assert_allclose(after(quiet, problem, 1), -0.1 * problem.stack.grad(np.zeros((6, 2))))


def test_noise_is_a_function_of_seed_and_round(problem):
    np.testing.assert_array_equal(after(NOISY, problem, 5), after(NOISY, problem, 5))
    assert not np.array_equal(after(NOISY, problem, 5), after(replace(NOISY, seed=2), problem, 5))


def test_hidden_steps_end_at_the_optimum(problem):
    algorithm = HiddenSteps(step_size=1.0, radius=9.0, centre=(0.0, 0.0), seed=4)
    near, far = after(algorithm, problem, 6000), after(algorithm, problem, 60)
    optimum = POINTS.mean(axis=0)
    assert np.abs(near - optimum).max() < 0.03 < np.abs(far - optimum).max()


def correlated(problem, **settings):
    reverse, _ = directions(problem.network)
    return CorrelatedNoise(step_size=0.05, clip=100.0, reverse=reverse, seed=3, **settings)


def test_noise_of_pairs_cancels_in_the_mean(problem):
    noisy = correlated(problem, pairwise=50.0, own=0.0)
    x, plain = after(noisy, problem, 1), after(replace(noisy, seed=None), problem, 1)
    np.testing.assert_allclose(x.mean(axis=0), plain.mean(axis=0), atol=1e-12)
    assert np.abs(x - plain).max() > 1.0


def test_the_accountant_lies_between_local_noise_and_a_curators(problem):
    """Allouah et al. 2024: [(σ_cdp² I + σ_cor² L)⁻¹]_ii."""
    network = problem.network
    assert sensitivity(network, pairwise=0.0, own=2.0) == pytest.approx(1 / 4)
    assert sensitivity(network, pairwise=1e4, own=2.0) == pytest.approx(1 / (6 * 4), rel=1e-6)
    assert sensitivity(network, pairwise=1e4, own=2.0, coalition=(0, 1)) == pytest.approx(1 / (4 * 4), rel=1e-6)


def test_calibration_spends_the_whole_budget(problem):
    own = calibrated(problem.network, epsilon=2.0, delta=1e-5, rounds=100, clip=0.1, ratio=10.0)
    worth = sensitivity(problem.network, pairwise=10 * own, own=own)
    assert TradeOff(0.2 * np.sqrt(100 * worth)).delta(2.0) == pytest.approx(1e-5, rel=1e-6)


@pytest.mark.parametrize("graph", [nx.cycle_graph(16), nx.complete_graph(16)], ids=["ring", "complete"])
def test_little_own_noise_and_enough_of_pairs_hide_as_much_as_local_noise(graph):
    network = tacit.Problem(graph, [tacit.Quadratic.distance([0.0])] * 16).network
    own = 1.06 * 2.0 / np.sqrt(16)
    pairwise = pairing(network, own=own, local=2.0)
    assert sensitivity(network, pairwise=pairwise, own=own) == pytest.approx(1 / 4)
    with pytest.raises(InputError, match="no correlated noise"):
        pairing(network, own=0.9 * 2.0 / np.sqrt(16), local=2.0)


def test_the_papers_conversion_asks_for_more_noise_than_the_exact_one():
    """ε = μ²/2 + μ√(2 ln 1/δ): Rényi of all orders, and the best of them."""
    mu = published_mu(10.0, 1e-5)
    assert mu**2 / 2 + mu * np.sqrt(2 * np.log(1e5)) == pytest.approx(10.0)
    assert mu < TradeOff.of_epsilon_delta(10.0, 1e-5).mu


def test_noise_in_the_objective_keeps_costs_between_the_public_bounds(problem):
    noisy = perturbed(problem, epsilon=1.0, distance=diameter(problem), seed=5)
    assert noisy.stack.strong_convexity.min() >= 2.0 - 1e-9
    assert noisy.stack.smoothness.max() <= 2.0 + 1e-9
    assert np.abs(noisy.stack.affine - problem.stack.affine).max() > 0.1


def test_a_large_budget_leaves_the_objective_as_it_is(problem):
    noisy = perturbed(problem, epsilon=1e9, distance=diameter(problem), seed=5)
    np.testing.assert_allclose(reference(noisy), reference(problem), atol=1e-6)


def test_noise_for_no_budget_is_refused(problem):
    with pytest.raises(InputError, match="epsilon = 0"):
        perturbed(problem, epsilon=0.0, distance=1.0, seed=1)


def test_clipping_shortens_and_never_lengthens():
    np.testing.assert_allclose(clipped(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0), [[0.6, 0.8], [0.3, 0.4]])


@pytest.mark.parametrize(
    "approach", [MessageNoise(), ObjectiveNoise(), StepHiding(), Decor()], ids=lambda a: a.name
)
def test_costs_that_do_not_fit_are_refused_in_a_sentence(approach):
    rough = tacit.Problem(nx.cycle_graph(4), [tacit.AbsoluteValue([float(i)]) for i in range(4)])
    assert "needs costs with a gradient" in approach.misses(rough)


@pytest.mark.parametrize("package", ["phe", "tenseal"])
def test_encrypted_sums_are_sums(package):
    """Negative numbers, more of them than one ciphertext holds, and small ones."""
    pytest.importorskip(package)
    from tacit.baselines.homomorphic import CkksAdder, PaillierAdder

    vectors = np.random.default_rng(2).normal(scale=100.0, size=(4, 23))
    adder = PaillierAdder() if package == "phe" else CkksAdder()
    np.testing.assert_allclose(adder.add_up(vectors), vectors.sum(axis=0), atol=1e-4)
    assert adder.traffic.messages == 6


def test_whoever_holds_the_key_opens_what_reaches_it(problem):
    job = summed_job(problem)
    tree = problem.network.tree
    pair = sorted({tree.root, (tree.root + 1) % 6})
    closed, opened = closed_to(problem, job, pair), closed_to(problem, job, pair, key_holder=pair[0])
    assert len(recover([closed], [str(i) for i in range(6)]).besides) == 0
    assert recover([closed], [str(i) for i in range(6)]).recovered == 0
    assert recover([opened], [str(i) for i in range(6)]).recovered > 0


def test_a_library_that_is_missing_leaves_a_row_that_says_how_to_have_it():
    assert missing_package("surely_no_such_package", "compare") == "not installed: pip install 'tacit[compare]'."


@pytest.mark.network
def test_multi_party_sums_find_the_optimum(problem):
    pytest.importorskip("mpyc")
    shown = MultiParty().demonstrate(problem, Listeners([[0], [0, 1]]))
    np.testing.assert_allclose(shown.x, np.tile(POINTS.mean(axis=0), (6, 1)), atol=1e-8)
    assert shown.traffic.bytes > 0


def test_shares_of_half_of_the_parties_open_everything():
    small = tacit.Problem(nx.complete_graph(4), [tacit.Quadratic.distance([float(i)]) for i in range(4)])
    assert MultiParty().misses(small) is None or "install" in MultiParty().misses(small)
    large = tacit.Problem(nx.cycle_graph(30), [tacit.Quadratic.distance([float(i)]) for i in range(30)])
    assert "too many" in MultiParty().misses(large)


def test_without_flower_a_row_says_how_to_have_it(problem, monkeypatch):
    monkeypatch.setattr(secure_aggregation, "flower_python", lambda: None)
    assert "tacit[flower]" in SecureAggregation().misses(problem)


def test_a_python_without_flower_leaves_a_sentence(problem, monkeypatch, tmp_path):
    """One that cannot import it ends at once, and one that is not there does not start."""
    monkeypatch.setenv(FLOWER_PYTHON, "/usr/bin/false")
    with pytest.raises(TacitError, match="has /usr/bin/false flwr"):
        SecureAggregation().demonstrate(problem, Listeners([[0]], seed=1))
    monkeypatch.setenv(FLOWER_PYTHON, str(tmp_path / "python"))
    with pytest.raises(TacitError, match="does not start"):
        SecureAggregation().demonstrate(problem, Listeners([[0]], seed=1))


@pytest.mark.network
def test_flowers_server_adds_up_sees_noise_and_reads_whom_it_deceives(problem):
    if flower_python() is None:
        pytest.skip("needs Flower")
    shown = SecureAggregation().demonstrate(problem, Listeners([[0], [0, 1]], repeats=2))
    np.testing.assert_allclose(shown.x, np.tile(POINTS.mean(axis=0), (6, 1)), atol=1e-5)
    assert shown.traffic.messages == 8 * 6
    assert shown.traffic.bytes > 6 * 2350
    alone, pair = (recover(runs, [str(i) for i in range(6)]) for runs in shown.overheard)
    assert alone.recovered == 0
    assert pair.recovered == 0
    assert "read 5 of 5" in shown.promises[1].sentence


def test_the_answer_of_noise_in_the_objective_stays_in_the_public_ball(problem):
    shown = ObjectiveNoise(1e-6).demonstrate(problem, Listeners([], seed=1))
    radius = Domain.around(problem, reference(problem)).radius
    assert np.linalg.norm(shown.x, axis=1).max() <= radius * (1 + 1e-12)


def test_correlated_noise_is_calibrated_against_whoever_listens_best():
    """The one who cuts a path apart is worse than two at its end."""
    path = tacit.Problem(nx.path_graph(7), [tacit.Quadratic.distance([float(i)]) for i in range(7)]).network
    budget = {"epsilon": 1.0, "delta": 1e-5, "rounds": 10, "clip": 1.0, "ratio": 10.0}
    alone, both = ([1],), ([1], [5, 6])
    assert calibrated(path, coalitions=both, **budget) >= calibrated(path, coalitions=alone, **budget)
    assert calibrated(path, coalitions=both, **budget) > calibrated(path, coalitions=([5, 6],), **budget)


def test_function_sharing_promises_nothing_to_whoever_is_cut_off():
    path = tacit.Problem(nx.path_graph(5), [tacit.Quadratic.distance([float(i)]) for i in range(5)])
    cut, end = FunctionSharing(10.0).demonstrate(path, Listeners([[2], [0]], seed=1)).promises
    assert cut.short == "none"
    assert end.short == "possibility"


def test_a_private_answer_is_promised_against_as_many_as_there_can_be():
    rows = np.random.default_rng(2).normal(size=(3, 8, 2))
    costs = [tacit.LeastSquares(A, A[:, 0], l2=0.1) for A in rows]
    small = tacit.Problem(nx.complete_graph(3), costs)
    answer = PrivateAnswer("tacit whole, private answer", tacit.SumMasks())
    assert answer.misses(small) is None
    (pledge,) = answer.demonstrate(small, Listeners([[0]], seed=1)).promises
    assert "against 1 who" in pledge.sentence
