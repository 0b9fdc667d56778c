"""The audit of private answers: it passes what is shipped, and goes red for every share that is not as promised."""

import math
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from scipy.stats import norm

import tacit
from tacit.auditing.experiments.shares import attack_shares
from tacit.auditing.recording.release import Keys
from tacit.differential import share_out
from tacit.errors import RangeError
from tacit.masks import limits_of
from tacit.masks.shares import ShareKeys
from tacit.masks.sums import NoisySums

PROMISE = tacit.DifferentialPrivacy(epsilon=2.0, delta=0.02, clip=1.0, labels=0.5, any=2)  # μ of about 0.9
NETWORK = tacit.Network(nx.complete_graph(6))
MOVES = tacit.LeastSquares([[1.0]], [0.0]).sensitivity(limits_of(PROMISE))
DRAW, SUM = ShareKeys.draw, NoisySums.sum


def attacked(masks, network=NETWORK, coalition=(4, 5), games=20_000, seed=1):
    done = attack_shares(masks, network, coalition, moves=MOVES, games=games, keys=Keys(seed))
    return done, {verdict.attack: verdict for verdict in done.verdicts}


def red(masks, **settings):
    return {name for name, verdict in attacked(masks, **settings)[1].items() if verdict.is_red}


MASKS = {
    "sums": tacit.SumMasks(answer=PROMISE),
    "affine": tacit.AffineMasks(sigma=3.0, answer=PROMISE),
    "wide affine": tacit.AffineMasks(sigma=1e3, answer=PROMISE),
    "quadratic": tacit.QuadraticMasks(sigma=3.0, answer=PROMISE),
}


@pytest.mark.parametrize(
    "name",
    [
        "sums",
        pytest.param("wide affine", marks=pytest.mark.large),
        pytest.param("affine", marks=pytest.mark.large),
        pytest.param("quadratic", marks=pytest.mark.large),
    ],
)
def test_the_game_is_won_as_often_as_certified_within_the_limits_of_999_per_mille(name):
    done, verdicts = attacked(MASKS[name], games=20_000)
    assert not {name for name, verdict in verdicts.items() if verdict.is_red}
    assert abs(done.game.auc - done.game.auc_theory) < norm.ppf(0.9995) * done.game.auc_error
    assert done.game.mu == pytest.approx(PROMISE.mu, rel=0.03)
    assert done.game.mu <= PROMISE.mu * (1.0 + 1e-9)


@pytest.mark.large
def test_averaging_all_sums_of_a_run_gives_no_more_than_the_promise():
    """Fresh noise in 1 + K + 1 sums: each moves by its part, and together they are worth one μ."""
    verdict = attacked(MASKS["sums"])[1]["shares: averaging all sums of a run"]
    assert verdict.status == "within"
    assert verdict.predicted == pytest.approx(tacit.differential.TradeOff(PROMISE.mu).auc, rel=1e-4)


def test_a_coalition_that_cuts_the_network_finds_what_was_promised():
    network = tacit.Network(nx.path_graph(6))
    promise = tacit.DifferentialPrivacy(epsilon=2.0, delta=0.02, clip=1.0, labels=0.5, any=1)
    done, verdicts = attacked(tacit.SumMasks(answer=promise), network, (1,), games=4000)
    assert not any(verdict.is_red for verdict in verdicts.values())
    assert done.game.mu == pytest.approx(promise.mu, rel=1e-3)  # agent 0 has its own share, and no other
    assert share_out(network, promise).share == pytest.approx(1.0 / promise.mu)


def omitted(self, purpose, words, deviations):
    drawn = DRAW(self, purpose, words, deviations)
    drawn[1] = 0
    return drawn


def narrow(self, purpose, words, deviations):
    return DRAW(self, purpose, words, np.asarray(deviations) // 2)


def coarse(self, purpose, words, deviations):
    return DRAW(self, purpose, words, deviations) >> 24 << 24


def reusing():
    first = {}

    def reused(self, purpose, words, deviations):
        return first.setdefault(words.shape, DRAW(self, purpose, words, deviations))

    return reused


@pytest.mark.parametrize(
    ("name", "draw", "caught"),
    [
        ("sums", omitted, "shares: which world"),
        pytest.param("sums", narrow, "shares: which world", marks=pytest.mark.large),
        ("sums", coarse, "shares: last digits"),
        ("sums", reusing(), "shares: their law"),
        pytest.param("affine", omitted, "shares: their law", marks=pytest.mark.large),
        pytest.param("affine", narrow, "shares: which world", marks=pytest.mark.large),
        ("wide affine", omitted, "shares: which world"),
        pytest.param("wide affine", reusing(), "shares: their law", marks=pytest.mark.large),
    ],
)
def test_shares_that_are_omitted_narrow_coarse_or_used_twice_are_caught(name, draw, caught):
    with patch.object(ShareKeys, "draw", draw):
        assert caught in red(MASKS[name])


def test_a_complaint_that_is_kept_is_caught():
    def complaining(self, v, add=np.add):
        if not (np.abs(v) <= self._fixed_point.bound).all():
            raise RangeError("1 agent(s) hold a number beyond the public bound.")
        return SUM(self, v, add)

    with patch.object(NoisySums, "sum", complaining):
        assert red(MASKS["sums"], games=4000) == {"shares: complaints"}


@pytest.mark.large
def test_sums_that_spend_the_whole_promise_each_are_caught_by_averaging():
    """An algorithm that forgets to divide the promise over its sums: every sum is as promised, and all are not."""
    parts = 2 + PROMISE.sums

    def undivided(self, v, add=np.add):
        return SUM(self, v * math.sqrt(parts) if 0.0 < np.abs(v).max() < 0.4 else v, add)

    with patch.object(NoisySums, "sum", undivided):
        assert red(MASKS["sums"]) == {"shares: averaging all sums of a run"}


def problem(records):
    return tacit.Problem(
        nx.random_regular_graph(4, 10, seed=1), [tacit.LeastSquares(A[:20], b[:20]) for A, b in records]
    )


@pytest.mark.parametrize("name", ["sums", pytest.param("wide affine", marks=pytest.mark.large)])
def test_an_audit_of_a_private_answer_says_what_was_promised_and_attacked(name, records):
    report = tacit.audit(problem(records), any=2, privacy=MASKS[name], games=2000)
    assert report.passed
    assert report.private
    assert "differentially private" in report.privacy[-1]
    assert report.game.games == 2000
    assert any(verdict.attack == "shares: which world" for verdict in report.with_masks)
    assert report.level < 1e-3


def test_an_audit_of_a_broken_share_is_red(records):
    with patch.object(ShareKeys, "draw", omitted):
        report = tacit.audit(problem(records), {8, 9}, privacy=MASKS["sums"], games=8000)
    assert not report.passed
    assert not report.private
    assert "differentially private" not in " ".join(report.privacy)


def test_without_masks_an_audit_shows_what_would_have_leaked(records):
    report = tacit.audit(problem(records), {0}, privacy=MASKS["wide affine"], masks=False)
    assert report.mechanism == "none"
    assert report.passed
