"""The headline is a number that moves with σ: how large a difference is hidden."""

import json

import networkx as nx
import numpy as np
import pytest
from scipy.special import ndtr

import tacit
from tacit import AffineMasks, SumMasks
from tacit.errors import InputError

GRAPH = nx.random_regular_graph(4, 10, seed=1)
PROBLEM = tacit.Problem(GRAPH, [tacit.Quadratic.distance([float(i)]) for i in range(10)])


@pytest.mark.parametrize("guess", [0.51, 0.6, 0.9])
def test_at_the_hidden_difference_the_guess_is_right_as_often_as_said(guess):
    certificate = tacit.certify(GRAPH, any=1, sigma=7.0)
    d = certificate.hidden_difference(guess)
    assert certificate.guess(d) == pytest.approx(guess, abs=1e-12)
    assert ndtr(d * np.sqrt(2 * certificate.epsilon) / 2) == pytest.approx(guess, abs=1e-12)


def test_the_best_test_between_two_worlds_that_far_apart_is_right_that_often():
    """A second method: play the game between the two worst worlds at that distance, with real masks' law."""
    certificate, rng, games = tacit.certify(nx.complete_graph(3), {2}, sigma=1.0), np.random.default_rng(5), 400_000
    d = certificate.hidden_difference(0.75) / np.sqrt(2)  # moved from one of the two honest agents to the other
    world = rng.integers(2, size=games)
    seen = np.where(world, d, 0.0) + np.sqrt(2.0) * rng.normal(size=games)  # z₁; z₂ is the known sum less z₁
    right = ((seen > d / 2) == world).mean()
    assert abs(right - 0.75) < 7 * np.sqrt(0.75 * 0.25 / games)  # 1e-11


def test_it_grows_with_sigma_and_needs_no_choice():
    lines = [tacit.solve(PROBLEM, privacy=AffineMasks(sigma)).privacy() for sigma in (1.0, 10.0, 1e6)]
    assert len({line for (line,) in lines}) == 3
    differences = [
        json.loads(tacit.solve(PROBLEM, privacy=AffineMasks(s)).to_json())["hidden_difference"] for s in (1, 10)
    ]
    assert differences[1] == pytest.approx(10 * differences[0])
    assert f"may differ by up to {differences[0]:.3g} before a guess is right more than 51 %" in lines[0][0]


def test_a_declared_size_is_answered_with_its_guess():
    answer = tacit.solve(PROBLEM, privacy=AffineMasks(1e3), hide=100.0)
    certificate = answer.certificate(any=1)
    assert certificate.hide == 100.0
    said = (
        f"Where they differ by 100, which is to be hidden, a guess is right {100 * certificate.guess(100.0):.1f} %"
    )
    assert said in answer.privacy()[0]
    assert said in certificate.statement()
    assert certificate.to_dict()["guess"] == certificate.guess(100.0)
    assert json.loads(answer.to_json())["phase1"]["hide"] == 100.0


def test_secret_sums_hide_every_difference_and_a_cut_none():
    assert tacit.certify(GRAPH, any=1, sigma=np.inf).hidden_difference() == np.inf
    assert tacit.certify(nx.path_graph(4), {1}, sigma=5.0).hidden_difference() == 0.0
    assert json.loads(tacit.solve(PROBLEM, privacy=SumMasks()).to_json())["hidden_difference"] is None
    assert json.loads(tacit.solve(PROBLEM).to_json())["hidden_difference"] == 0.0


@pytest.mark.parametrize("bad", [0.5, 1.0, 0.3, np.nan])
def test_a_guess_lies_between_a_coin_and_certainty(bad):
    with pytest.raises(InputError, match="between 0.5"):
        tacit.certify(GRAPH, any=1, sigma=1.0).hidden_difference(bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf])
def test_a_declared_size_is_positive(bad):
    with pytest.raises(InputError, match="how large a difference"):
        tacit.solve(PROBLEM, privacy=AffineMasks(1.0), hide=bad)
    with pytest.raises(InputError, match="how large a difference"):
        tacit.certify(GRAPH, any=1, sigma=1.0, hide=bad)
