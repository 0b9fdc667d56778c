"""A share belongs to the numbers that it hides: the same ones get it again, and any others another, independent one."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.masks import Keystreams, agent_keys, clipped_to
from tacit.network import Network
from tacit.runtimes.stacked import Stacked

AGENTS, NUMBERS = 5, 2000
NETWORK = Network(nx.complete_graph(AGENTS))
PROMISE = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, labels=1.0, sums=3)
RNG = np.random.default_rng(21)
TABLES = [(RNG.normal(size=(20, 3)), RNG.normal(size=20)) for _ in range(AGENTS)]


def costs(row=None):
    """Return everybody's cost within the limits; agent 2 has another first row, if one is given."""
    made = []
    for k, (A, b) in enumerate(TABLES):
        A = A.copy()
        if k == 2 and row is not None:
            A[0] = row
        made.append(clipped_to(tacit.LeastSquares(A, b), PROMISE))
    return tacit.Problem(nx.complete_graph(AGENTS), made).stack


def hidden(masks, row=None):
    """Return what phase 2 works with, always under the same keys: those of a run that was stopped and goes on."""
    source = Keystreams(agent_keys(AGENTS, seed=8), NETWORK.degrees)
    return masks.hide(costs(row), Stacked(NETWORK), source, network=NETWORK)


def sums(*vectors):
    """Return the noisy sums of these vectors of all agents, one after the other, under the same keys."""
    peers = hidden(tacit.SumMasks(answer=PROMISE)).peers
    return [peers.sum(v) for v in vectors]


def numbers(seed):
    return np.random.default_rng(seed).normal(size=(AGENTS, NUMBERS))


def test_the_same_numbers_at_the_same_place_get_the_same_shares():
    first, second = numbers(1), numbers(2)
    for one, other in zip(sums(first, second), sums(first, second), strict=True):
        np.testing.assert_array_equal(one, other)


def test_changed_numbers_get_an_independent_share():
    """The same share on changed numbers would leave their difference as it is: here it is as wide as two shares."""
    before, after = numbers(1), numbers(1)
    after[2, 7] += 0.5  # one number of one agent
    (one,), (other,) = sums(before), sums(after)
    left = other - one - (after - before).sum(axis=0)
    share = 1.0 / PROMISE.mu / np.sqrt(AGENTS - 1.0)
    assert np.count_nonzero(left) == NUMBERS, "all of that agent's share is another one, and not one number of it"
    assert left.std() == pytest.approx(np.sqrt(2.0) * share, rel=0.1)
    mine, theirs = one - before.sum(axis=0), other - after.sum(axis=0)
    shared = (AGENTS - 1.0) / AGENTS  # of the noise: the other four have their old shares
    assert np.corrcoef(mine, theirs)[0, 1] == pytest.approx(shared, abs=0.1)


def test_an_older_state_that_is_told_another_total_draws_other_shares():
    """Whoever restores a member's state cannot have the same numbers under the same share at another point."""
    second = numbers(2)
    (_, one), (_, other) = sums(numbers(1), second), sums(numbers(3), second)
    assert np.count_nonzero(one - other) == NUMBERS
    assert abs(np.corrcoef(one - second.sum(axis=0), other - second.sum(axis=0))[0, 1]) < 0.1


@pytest.mark.parametrize("kind", [tacit.QuadraticMasks, tacit.AffineMasks])
def test_coefficients_under_masks_that_are_drawn_once_get_another_share_with_another_record(kind):
    masks = kind(sigma=1e4, answer=PROMISE)
    row = np.array([0.3, -0.2, 0.1])
    same, again, other = hidden(masks), hidden(masks), hidden(masks, row)
    np.testing.assert_array_equal(same.cost.affine, again.cost.affine)
    told = other.cost.affine[2] - same.cost.affine[2]
    exact = costs(row).affine[2] - costs().affine[2]
    assert (np.abs(told - exact) > 1e-3).all(), "the masks are the same: the same share would leave the change"


def test_sums_of_one_run_have_shares_of_their_own():
    v = numbers(1)
    one, other = sums(v, v)
    assert abs(np.corrcoef(one - v.sum(axis=0), other - v.sum(axis=0))[0, 1]) < 0.1
