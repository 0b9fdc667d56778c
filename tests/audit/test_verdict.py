"""Verdicts tell bugs from luck: limits hold where the prediction does, and break where it does not."""

import networkx as nx
import numpy as np
import pytest
from scipy.special import ndtr

import tacit
from tacit.auditing import Game, Verdict, play
from tacit.auditing.judging.verdict import judge_exact, judge_gaussian, judge_mean, share_limits, skipped
from tacit.auditing.recording.release import Keys
from tacit.auditing.trials.game import area, result, worst_direction

RNG = np.random.default_rng(21)
L = nx.laplacian_matrix(nx.circulant_graph(8, [1, 2])).toarray().astype(float)


def noise(columns, scale=1.0):
    values, vectors = np.linalg.eigh(L)
    return scale * (vectors * np.sqrt(np.maximum(values, 0.0))) @ RNG.standard_normal((8, columns))


@pytest.mark.parametrize("columns", [1, 5, 1000])
def test_errors_of_the_predicted_law_are_within(columns):
    assert judge_gaussian("an attack", noise(columns), L).status == "within"


def test_false_alarms_are_rare():
    red = sum(judge_gaussian("an attack", noise(50), L).is_red for _ in range(500))
    assert red <= 2


@pytest.mark.parametrize(("scale", "status"), [(0.5, "beaten"), (0.9, "beaten"), (1.1, "weak"), (2.0, "weak")])
def test_errors_of_another_size_are_red(scale, status):
    verdict = judge_gaussian("an attack", noise(2000, scale), L)
    assert verdict.status == status
    assert verdict.is_red
    assert "variance" in verdict.says


def test_one_coordinate_in_the_open_is_found_among_thousands():
    errors = noise(2000)
    errors[:, 700] = 0.0
    verdict = judge_gaussian("an attack", errors, L)
    assert (verdict.status, "in a coordinate" in verdict.says) == ("beaten", True)


def test_one_thin_link_is_found_though_the_rest_is_as_thick_as_ever():
    ends = np.zeros((8, 1))
    ends[0], ends[1] = 1.0, -1.0
    thin = L - 0.9 * ends @ ends.T
    values, vectors = np.linalg.eigh(thin)
    errors = (vectors * np.sqrt(np.maximum(values, 0.0))) @ RNG.standard_normal((8, 2000))
    verdict = judge_gaussian("an attack", errors, L, links=np.array([[0, 1], [3, 4]]))
    assert verdict.status == "beaten"


def test_sums_that_are_off_break_the_harness():
    errors = noise(10)
    errors[0] += 0.5
    verdict = judge_gaussian("an attack", errors, L)
    assert (verdict.status, "do not cancel" in verdict.says) == ("weak", True)


def test_no_prediction_of_noise_means_exact():
    assert judge_gaussian("an attack", np.zeros((2, 3)), np.zeros((2, 2))).status == "open"
    assert judge_gaussian("an attack", np.ones((2, 3)), np.zeros((2, 2))).status == "weak"


def test_what_must_be_recovered_and_what_must_not():
    small, large = np.array([1e-9]), np.array([0.1])
    assert judge_exact("an attack", small, 1.0, promised=False).status == "open"
    assert judge_exact("an attack", large, 1.0, promised=False).status == "weak"
    assert judge_exact("an attack", small, 1.0, promised=True).status == "beaten"
    assert judge_exact("an attack", large, 1.0, promised=True).status == "within"


def test_shares_and_means_have_limits_on_both_sides():
    coins = RNG.integers(0, 2, (3, 2000)).astype(float)
    assert judge_mean("an attack", coins[0], coins[1], says="").status == "within"
    assert judge_mean("an attack", np.maximum(coins[0], coins[2]), coins[1], says="").status == "beaten"
    assert judge_mean("an attack", np.minimum(coins[0], coins[2]), coins[1], says="").status == "weak"
    assert not skipped("an attack", "why").is_red


def test_clopper_pearson_limits_at_the_ends():
    """No hit in n tries: the upper limit is 1 − (risk/2)^(1/n), by hand."""
    assert share_limits(0, 100, 0.02) == (0.0, pytest.approx(1.0 - 0.01 ** (1 / 100)))
    assert share_limits(100, 100, 0.02) == (pytest.approx(0.01 ** (1 / 100)), 1.0)


def test_the_area_is_the_share_of_pairs_in_the_right_order():
    first, second = RNG.normal(size=300), RNG.normal(size=200) + 1.0
    by_hand = (second[None] > first[:, None]).mean()
    auc, error = area(first, second)
    assert auc == pytest.approx(by_hand)
    assert auc == pytest.approx(ndtr(1.0 / np.sqrt(2.0)), abs=4 * error)


def game(mu, played):
    return result(RNG.normal(size=5000) - played / 2, RNG.normal(size=5000) + played / 2, mu)


def test_games_that_are_won_too_often_or_too_rarely_are_red():
    assert game(2.0, 2.0).verdict().status == "within"
    assert game(2.0, 2.4).verdict().status == "beaten"
    assert game(2.0, 2.4).bound > 2.0
    assert game(2.0, 1.6).verdict().status == "weak"


@pytest.mark.large
def test_the_certified_bound_is_above_the_truth_in_one_of_a_thousand_at_most():
    above = sum(game(1.0, 1.0).bound > 1.0 for _ in range(300))
    assert above <= 2


def test_there_is_no_game_where_no_two_honest_agents_are_linked():
    assert worst_direction(np.zeros((3, 3))) is None
    outcome = play(tacit.AffineMasks(1.0), tacit.Network(nx.star_graph(4)), [0], games=2000, keys=Keys(1))
    assert isinstance(outcome, Verdict)
    assert outcome.status == "skipped"


def test_secret_sums_leave_a_coin():
    network = tacit.Network(nx.circulant_graph(6, [1, 2]))
    outcome = play(tacit.SumMasks(), network, [0], games=10_000, keys=Keys(1))
    assert isinstance(outcome, Game)
    assert outcome.auc == pytest.approx(0.5, abs=0.02)
    assert outcome.verdict().status == "within"
