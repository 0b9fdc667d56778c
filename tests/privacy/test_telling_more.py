"""What the answer tells where a first look is not enough: weights of zero, rare columns, strangers, coalitions."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import Newton
from tacit.learning import PrivateRidge
from tacit.solving.solve import NotPrivateWarning, prepare
from tacit.solving.telling import Telling

AFFINE = tacit.AffineMasks(1e3)


def prepared(costs, privacy=AFFINE, **settings):
    return prepare(tacit.Problem(nx.complete_graph(len(costs)), costs), privacy=privacy, **settings)


def solved(costs, privacy=AFFINE, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        return tacit.solve(tacit.Problem(nx.complete_graph(len(costs)), costs), privacy=privacy, **settings)


def squares(rng, A, **settings):
    return tacit.LeastSquares(A, rng.normal(size=len(A)), l2=0.1, **settings)


def logistic(rng, A, **settings):
    return tacit.Logistic(A, rng.integers(0, 2, len(A)), l2=0.1, **settings)


def voids(run):
    return [stamp.reason for stamp in run.stamps if stamp.voids]


def with_rare_columns(rng, agents):
    """Fifty records each, of which one at each of *agents* is not zero in the last two of six columns."""
    A = rng.normal(size=(6, 50, 6))
    A[:, :, 4:] = 0.0
    A[:agents, 0, 4:] = rng.normal(size=(agents, 2))
    return A


@pytest.mark.parametrize("kind", [squares, logistic])
def test_records_of_weight_zero_hide_nobody(kind):
    rng = np.random.default_rng(0)
    weight = np.r_[np.ones(6), np.zeros(54)]
    run = prepared([kind(rng, rng.normal(size=(60, 40)), weight=weight) for _ in range(6)])
    assert voids(run) == ["answer tells"]
    assert (run.tells.hidden, run.tells.determined) == (30, 36)


def test_records_of_weight_zero_hide_nobody_from_sums():
    rng = np.random.default_rng(0)
    weight = np.r_[np.ones(2), np.zeros(28)]
    costs = [logistic(rng, rng.normal(size=(30, 2)), weight=weight, intercept=True) for _ in range(3)]
    run = prepared(costs, tacit.SumMasks())
    assert run.tells.hidden == 2 * 2 * 2
    assert voids(run) == ["answer tells"]


def test_sample_weights_of_zero_hide_nobody_in_a_fit():
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(360, 20)), rng.normal(size=360), np.repeat(np.arange(6), 60)
    weight = np.tile(np.r_[np.ones(3), np.zeros(57)], 6)
    with pytest.warns(NotPrivateWarning):
        fit = PrivateRidge(privacy=AFFINE).fit(X, y, groups=groups, sample_weight=weight)
    assert not fit.answer_.record.private


def test_an_agent_of_no_weight_at_all_takes_part_and_holds_nothing():
    rng = np.random.default_rng(0)
    costs = [squares(rng, rng.normal(size=(40, 3))) for _ in range(4)]
    costs.append(squares(rng, rng.normal(size=(40, 3)), weight=np.zeros(40)))
    assert prepared(costs).tells.hidden == prepared(costs, tacit.SumMasks()).tells.hidden // 4 == 120


def test_a_cost_of_another_kind_does_not_end_the_count():
    """Its owner knows its own affine part, and solves for all thirty labels."""
    rng = np.random.default_rng(0)
    costs = [squares(rng, rng.normal(size=(6, 40))) for _ in range(5)]
    run = prepared([*costs, tacit.Quadratic(np.eye(40), rng.normal(size=40))])
    assert voids(run) == ["answer tells"]
    assert run.tells.onlooker == "5"
    assert run.tells.agents == tuple("01234")
    two = solved([*costs, *(tacit.Quadratic(np.eye(40), rng.normal(size=40)) for _ in range(2))])
    assert two.record.private  # what one of them does not know hides everything
    assert two.certificate(any=1).is_private
    assert not two.certificate(any=2).is_private


@pytest.mark.parametrize("kind", [squares, logistic])
@pytest.mark.parametrize("intercept", [False, True])
def test_rare_columns_of_three_agents_tell_two_of_them_to_the_third(kind, intercept):
    rng = np.random.default_rng(0)
    run = prepared([kind(rng, A, intercept=intercept) for A in with_rare_columns(rng, 3)])
    assert voids(run) == ["answer tells"]
    assert run.tells.agents == ("0", "1", "2")
    moved = [kind(rng, A + 5.0, intercept=True) for A in with_rare_columns(rng, 3)]
    assert prepared(moved).tells.agents == ("0", "1", "2")  # beside an intercept any number is a zero
    four = [kind(rng, A, intercept=intercept) for A in with_rare_columns(rng, 4)]
    assert voids(prepared(four)) == []
    assert prepared(four).tells.coalition == 2


def test_a_coalition_is_asked_what_it_is_told():
    """Any three of six agents compute all labels of the other three, and no two do."""
    rng = np.random.default_rng(0)
    answer = solved([squares(rng, rng.normal(size=(10, 35))) for _ in range(6)])
    assert answer.record.private
    assert answer.certificate(any=2).is_private
    assert not answer.certificate(any=3).is_private
    assert not answer.certificate([0, 1, 2]).is_private
    many = solved([squares(rng, rng.normal(size=(100, 5))) for _ in range(6)])
    assert many.certificate(any=4).is_private


def test_rows_in_the_order_of_a_category_raise_no_alarm():
    """The only record of the last agent is like a hundred others, which stand far down in their tables."""
    rng = np.random.default_rng(0)

    def table(first, second, own):
        A = rng.normal(size=(first + second, 10))
        A[:, 0] = np.r_[np.ones(first), np.zeros(second)]
        A[:, 1] = 1.0 - A[:, 0]
        A[:, 9] *= own
        return A

    tables = [table(100, 100, i == 0) for i in range(5)] + [table(0, 1, False)]
    run = prepared([logistic(rng, A) for A in tables])
    assert voids(run) == ["own column"]
    assert run.tells.determined == 0


@pytest.mark.parametrize(
    ("kind", "privacy"),
    [(squares, tacit.SumMasks()), (logistic, tacit.SumMasks()), (squares, tacit.QuadraticMasks(1e3))],
    ids=["squares, sums", "logistic, sums", "squares, quadratic"],
)
def test_a_column_of_ones_own_is_stamped_whatever_hides_the_costs(kind, privacy):
    """A record alone in a column is read off from the matrix ΣAᵀA."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 200, 6))
    assert voids(prepared([kind(rng, a) for a in A], privacy)) == []
    A[:, :, 5] = 0.0
    A[3, 7, 5] = 1.0
    run = prepared([kind(rng, a) for a in A], privacy)
    assert voids(run) == ["own column"]
    assert run.stamps[-1].agents == ("3",)
    assert "column(s) 5 " in run.stamps[-1].sentence


def unknown(dim):
    return tacit.CallableCost(
        dim, value=lambda x: float(x @ x), grad=lambda x: 2.0 * x, hess=lambda x: 2.0 * np.eye(dim)
    )


def test_one_cost_of_which_nothing_is_known_looks_on_and_two_are_not_counted():
    rng = np.random.default_rng(0)
    few = [logistic(rng, rng.normal(size=(1, 3))) for _ in range(4)]
    run = prepared([*few, unknown(3)], tacit.SumMasks(), algorithm="newton")
    assert voids(run) == ["answer tells"]
    assert (run.tells.hidden, run.tells.onlooker) == (12, "4")
    two = prepared([*few, unknown(3), unknown(3)], tacit.SumMasks(), algorithm="newton")
    assert not two.tells.counted
    assert [(stamp.reason, stamp.voids) for stamp in two.stamps] == [("answer tells", False)]


def test_records_in_large_units_are_counted_as_what_they_tell():
    """With scores of ten and more, every point tells something else of each record."""
    rng = np.random.default_rng(5)
    run = prepared(
        [logistic(rng, 3.0 * rng.normal(size=(4, 3))) for _ in range(5)], tacit.SumMasks(), algorithm="newton"
    )
    assert voids(run) == ["answer tells"]
    assert run.tells.determined == 48


class ByDegree(Newton):
    """Adds up gradients apart from each other for agents with each number of neighbours."""

    def step(self, state, peers, cost):
        g, degree = cost.grad(state.x), np.asarray(peers.degree).reshape(-1, 1)
        peers.sum(np.concatenate([np.where(degree == k, g, 0.0) for k in range(6)], axis=-1))
        return super().step(state, peers, cost)


def test_sums_by_the_number_of_neighbours_tell_the_only_agent_with_as_many():
    """The hub of a wheel has five neighbours, and all others have three."""
    rng = np.random.default_rng(0)
    problem = tacit.Problem(
        nx.wheel_graph(6), [logistic(rng, rng.normal(size=(r, 2))) for r in (1, 30, 30, 30, 30, 30)]
    )
    run = prepare(problem, privacy=tacit.SumMasks(), algorithm=ByDegree())
    assert voids(run) == ["answer tells"]
    assert run.tells.agents == ("0",)


def test_colluding_agents_put_together_what_they_hold_before_sums_are_counted():
    """Ten numbers a round say little of 90 numbers, and may say all of the 36 that four agents do not know."""
    rng = np.random.default_rng(0)
    costs = [logistic(rng, rng.normal(size=(6, 3))) for _ in range(6)]
    answer = solved(costs, tacit.SumMasks(), algorithm="newton")
    tells = answer.record.tells
    assert answer.record.private
    assert [tells.hidden_from(t) for t in (1, 2, 4)] == [90, 72, 36]
    assert 36 <= tells.numbers < 90
    assert answer.certificate(any=1).is_private
    assert not answer.certificate(any=4).is_private
    assert "hides 36 from 4 agents together" in answer.certificate(any=4).statement()
    many = solved(
        [logistic(rng, rng.normal(size=(100, 3))) for _ in range(6)], tacit.SumMasks(), algorithm="newton"
    )
    assert many.certificate(any=4).is_private


def test_of_many_agents_the_others_hold_no_more_than_those_that_are_counted():
    tells = Telling(noun="record", hidden=100, numbers=1, held=(5, 4, 3))
    assert [tells.hidden_from(t) for t in (0, 1, 2, 4, 6, 99)] == [100, 100, 95, 88, 82, 0]
