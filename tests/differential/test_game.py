"""The distinguishing game against a coalition, 20 000 times, and broken mechanisms that it must catch."""

import math
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from scipy.stats import norm

import tacit
from tacit.costs import stack
from tacit.differential import TradeOff, share_out
from tacit.errors import RangeError
from tacit.masks import Keystreams, agent_keys, limits_of
from tacit.masks.shares import ShareKeys
from tacit.runtimes.stacked import Stacked

GAMES, AGENTS, COALITION = 20_000, 6, [4, 5]
PROMISE = tacit.DifferentialPrivacy(epsilon=2.0, delta=0.02, clip=1.0, labels=0.5, any=2)  # μ of about 0.9
NETWORK = tacit.Network(nx.complete_graph(AGENTS))
TRUE_DRAW = ShareKeys.draw


class Listening(Stacked):
    """A whole network that keeps what crossed its links."""

    def swap(self, r, **settings):
        came = super().swap(r, **settings)
        self.went, self.came = np.array(r), np.array(came)
        return came


def auc(scores, worlds):
    """Return the area under the ROC curve, and its deviation (Hanley & McNeil, 1982)."""
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    ones, zeros = int(worlds.sum()), int((~worlds).sum())
    area = (ranks[worlds].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (ones - 1) * (q1 - area**2) + (zeros - 1) * (q2 - area**2)
    return area, math.sqrt(variance / (ones * zeros))


def verdict(scores, worlds):
    """Tell whether the attacker is as good as the certificate says, better, or worse, at 99.9 %."""
    area, deviation = auc(scores, worlds)
    distance = (area - TradeOff(PROMISE.mu).auc) / deviation
    return "as certified" if abs(distance) < norm.ppf(0.9995) else "better" if distance > 0 else "worse"


def clipped(costs):
    return stack([cost.clipped(limits_of(PROMISE)) for cost in costs])


def hidden(masks, costs):
    peers = Listening(NETWORK)
    source = Keystreams(agent_keys(AGENTS), NETWORK.degrees)
    return masks.hide(costs, peers, source, network=NETWORK), peers


def games_of_sums(draw=TRUE_DRAW):
    """Return the worlds of 20 000 games, and what the coalition makes of a sum: its own shares taken off."""
    worlds = np.random.default_rng(8).random(GAMES) < 0.5
    numbers, shares = np.zeros((AGENTS, GAMES)), []
    numbers[0] = worlds  # one record, or none

    def kept(self, purpose, words, deviations):
        drawn = draw(self, purpose, words, deviations)
        shares.append(drawn)
        return drawn

    masks = tacit.SumMasks(answer=PROMISE)
    made, _ = hidden(masks, clipped([tacit.LeastSquares([[1.0]], [0.0])] * AGENTS))
    with patch.object(ShareKeys, "draw", kept):
        total = made.peers.sum(numbers)
    step = made.peers._fixed_point.step
    return total - step * shares[0][COALITION].sum(axis=0), worlds, made.peers


def test_a_coalition_tells_worlds_apart_in_noisy_sums_as_often_as_certified():
    scores, worlds, _ = games_of_sums()
    assert verdict(scores, worlds) == "as certified"
    deviation = math.sqrt(AGENTS - 2) * share_out(NETWORK, PROMISE).share
    assert (scores - worlds).std() == pytest.approx(deviation, rel=0.02)


@pytest.mark.parametrize("sigma", [0.05, 1.0, 1e3])
def test_a_coalition_tells_labels_apart_under_affine_masks_as_often_as_certified(sigma):
    """From what the links carried and what every agent published, by the likelihood ratio of the exact law."""
    worlds = np.random.default_rng(9).random(GAMES) < 0.5
    moved = tacit.LeastSquares([[1.0]], [0.0]).sensitivity(limits_of(PROMISE)).label  # from −½ to ½, for |a| = 1
    costs = clipped([tacit.LeastSquares(np.eye(1, GAMES), [0.0])] * AGENTS)
    theta = np.zeros((AGENTS, GAMES))
    theta[0] = moved * worlds
    costs.affine = theta
    masks = tacit.AffineMasks(sigma=sigma, answer=PROMISE)
    made, peers = hidden(masks, costs)
    honest = [i for i in range(AGENTS) if i not in COALITION]
    owner = np.repeat(np.arange(AGENTS), NETWORK.degrees)
    neighbour = np.concatenate([np.sort(NETWORK.neighbours(i)) for i in range(AGENTS)])
    known = np.zeros((AGENTS, GAMES))
    for row in np.flatnonzero(np.isin(neighbour, COALITION)):
        known[owner[row]] += peers.came[row] - peers.went[row]
    z = (made.cost.affine - known)[honest]
    share = moved * share_out(NETWORK, PROMISE, sigma=sigma / moved).share
    L = nx.laplacian_matrix(nx.complete_graph(len(honest))).toarray()
    M = 2.0 * sigma**2 * L + share**2 * np.eye(len(honest))
    assert verdict(np.linalg.solve(M, z)[0], worlds) == "as certified"


def test_a_share_that_is_left_out_is_caught():
    def without_one(self, purpose, words, deviations):
        drawn = TRUE_DRAW(self, purpose, words, deviations)
        drawn[1] = 0
        return drawn

    scores, worlds, _ = games_of_sums(without_one)
    assert verdict(scores, worlds) == "better"


def test_a_share_that_is_used_twice_is_caught():
    """Objective perturbation by sums does just that: one noise, and gradients at many points."""
    first = {}

    def again(self, purpose, words, deviations):
        return first.setdefault(words.shape, TRUE_DRAW(self, purpose, words, deviations))

    games = 200
    worlds = np.random.default_rng(10).random(games) < 0.5
    right = {}
    for name, draw in [("fresh", TRUE_DRAW), ("used twice", again)]:
        made, _ = hidden(tacit.SumMasks(answer=PROMISE), clipped([tacit.LeastSquares([[1.0]], [0.0])] * AGENTS))
        with patch.object(ShareKeys, "draw", draw):
            at = [np.zeros((AGENTS, games)), np.zeros((AGENTS, games))]
            at[1][0] = 1e-3 * worlds  # what a record's gradient changes by, between two points
            difference = made.peers.sum(at[1]) - made.peers.sum(at[0])
        right[name] = int(((difference > 0.5e-3) == worlds).sum())
    assert right["used twice"] == games
    assert right["fresh"] < 0.7 * games


def test_objective_perturbation_by_exact_sums_is_broken_every_time():
    """At a nominal ε of 0.1: one noise for the whole run leaves differences of gradient sums without any."""
    nominal = tacit.DifferentialPrivacy(epsilon=0.1, delta=1e-6, clip=1.0, any=2)
    rng, right, games = np.random.default_rng(12), 0, 200
    for _ in range(games):
        A, y, there = rng.normal(size=(30, 3)), rng.random(30) < 0.5, rng.random() < 0.5
        known = tacit.Logistic(
            A[1:], y[1:]
        )  # the attacker knows all records but one, and not whether that is there
        world = tacit.Logistic(A, y) if there else known
        noise = rng.normal(size=3) / nominal.mu
        points = np.zeros(3), rng.normal(size=3)
        sums = [world.grad(x) + noise for x in points]  # what exact sums tell of Σ h + bᵀx
        without = [known.grad(x) for x in points]
        right += (np.abs((sums[1] - sums[0]) - (without[1] - without[0])).max() > 1e-9) == there
    assert right == games


def test_a_share_beside_the_lattice_of_the_numbers_is_caught():
    """Noise in coarser steps than numbers leaves their low bits as they are."""

    def coarse(self, purpose, words, deviations):
        return TRUE_DRAW(self, purpose, words, deviations) >> 20 << 20

    for draw, told in [(TRUE_DRAW, False), (coarse, True)]:
        _, worlds, peers = games_of_sums()
        numbers = np.zeros((AGENTS, GAMES))
        numbers[0] = worlds * (1.0 + 3.0 * peers._fixed_point.step)
        with patch.object(ShareKeys, "draw", draw):
            total = np.rint(peers.sum(numbers) / peers._fixed_point.step).astype(np.int64)
        odd = (total & 1).astype(bool)
        assert ((odd == worlds).all()) == told
        assert abs(float((odd == worlds).mean()) - 0.5) < 0.02 or told


def test_a_complaint_that_is_kept_is_caught():
    """Exact sums say how many agents hold a number beyond the bound: a bit without noise. Noisy sums say nothing."""
    made, _ = hidden(tacit.SumMasks(bound=50.0), clipped([tacit.LeastSquares([[1.0]], [0.0])] * AGENTS))
    numbers = np.zeros((AGENTS, 1))
    made.peers.sum(numbers)
    numbers[0] = 51.0
    with pytest.raises(RangeError):
        made.peers.sum(numbers)
    noisy, _ = hidden(
        tacit.SumMasks(bound=50.0, answer=PROMISE), clipped([tacit.LeastSquares([[1.0]], [0.0])] * AGENTS)
    )
    for unusual in (51.0, 1e300, np.inf, np.nan):
        numbers[0] = unusual
        assert abs(noisy.peers.sum(numbers)[0]) < 80.0


def test_averaging_rounds_of_gossip_does_not_take_noise_away():
    """Shares are drawn once, and messages follow from them: neither averages over rounds nor what one learns helps.

    All games are unknowns of one run: h_i = ½|x|² + α_iᵀx with gradient tracking, where everybody hears everybody.
    """
    worlds = np.random.default_rng(13).random(GAMES) < 0.5
    moved, sigma = tacit.LeastSquares([[1.0]], [0.0]).sensitivity(limits_of(PROMISE)).label, 1.0
    costs = clipped([tacit.LeastSquares(np.eye(1, GAMES), [0.0])] * AGENTS)
    theta = np.zeros((AGENTS, GAMES))
    theta[0] = moved * worlds
    costs.affine = theta
    made, peers = hidden(tacit.AffineMasks(sigma=sigma, answer=PROMISE), costs)
    W = np.full((AGENTS, AGENTS), 1.0 / (2 * AGENTS)) + 0.5 * np.eye(AGENTS)
    x, g = np.zeros((AGENTS, GAMES)), made.cost.affine.copy()
    y, heard = g.copy(), []
    for _ in range(60):
        x = W @ x - 0.2 * y
        after = x + made.cost.affine
        y, g = W @ y + after - g, after
        heard.append(x)
    for scores in (-np.mean(heard, axis=(0, 1)), -np.mean(heard, axis=0)[0], -heard[-1].mean(axis=0)):
        assert verdict(scores, worlds) in ("as certified", "worse")
    owner = np.repeat(np.arange(AGENTS), NETWORK.degrees)
    neighbour = np.concatenate([np.sort(NETWORK.neighbours(i)) for i in range(AGENTS)])
    known = [
        (peers.came[row] - peers.went[row])[None] for row in np.flatnonzero(np.isin(neighbour, COALITION))
        if owner[row] not in COALITION
    ]  # fmt: skip
    features = np.concatenate([*heard[:4], np.mean(heard, axis=0), *known, np.ones((1, GAMES))])
    half = GAMES // 2
    weights = np.linalg.lstsq(features[:, :half].T, worlds[:half].astype(float))[0]
    assert verdict((weights @ features)[half:], worlds[half:]) == "as certified"
