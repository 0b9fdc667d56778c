"""What the answer tells, whatever the masks: counted before a run, stamped on it, and right about attacks."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest
from scipy.special import expit

import tacit
from tacit.algorithms import Newton
from tacit.solving.record import RunRecord
from tacit.solving.solve import NotPrivateWarning, prepare
from tacit.solving.telling.label_rank import labels_told
from tacit.solving.telling.surrogates import judged, replayed

SIGMA = 1e3


def solved(costs, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        return tacit.solve(tacit.Problem(nx.complete_graph(len(costs)), costs), **settings)


def logistic(rng, *shape, **settings):
    return tacit.Logistic(rng.normal(size=shape), rng.integers(0, 2, shape[0]), l2=0.05, **settings)


def squares(rng, *shape, **settings):
    return tacit.LeastSquares(rng.normal(size=shape), rng.normal(size=shape[0]), l2=0.05, **settings)


def reasons(answer, *, voids=True):
    return [stamp.reason for stamp in answer.record.stamps if stamp.voids == voids]


# labels beside open features ------------------------------------------------------------------


@pytest.mark.parametrize("family", ["least squares", "logistic"])
def test_labels_that_one_agent_computes_from_the_answer_make_a_run_not_private(family):
    """6 agents × 6 records, 40 unknowns: agent 0 solves Aᵀy = s for all 30 other labels."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(6, 6, 40)), rng.normal(size=(6, 6))
    if family == "logistic":
        y = (b > 0).astype(float)
        costs = [tacit.Logistic(a, t, l2=1.0) for a, t in zip(A, y, strict=True)]
    else:
        y, costs = b, [tacit.LeastSquares(a, t, l2=1.0) for a, t in zip(A, b, strict=True)]
    with pytest.warns(NotPrivateWarning, match="follow from the answer"):
        answer = tacit.solve(tacit.Problem(nx.complete_graph(6), costs), privacy=tacit.AffineMasks(SIGMA))

    slopes = expit(A @ answer.x) if family == "logistic" else A @ answer.x
    total = np.einsum("nrm,nr->m", A, slopes) + 6 * answer.x - A[0].T @ y[0]
    read = np.linalg.lstsq(A[1:].reshape(30, 40).T, total, rcond=None)[0]
    np.testing.assert_allclose(read, y[1:].ravel(), atol=1e-6)  # the stamp is no exaggeration

    assert not answer.record.private
    assert reasons(answer) == ["answer tells"]
    assert answer.record.stamps[0].agents == tuple("012345")
    assert (answer.record.tells.hidden, answer.record.tells.rank) == (30, 30)


def test_with_one_unknown_less_no_label_follows_and_the_caution_says_how_near_it_was():
    rng = np.random.default_rng(1)
    answer = solved([squares(rng, 6, 29) for _ in range(6)], privacy=tacit.AffineMasks(SIGMA))
    assert answer.record.private
    assert reasons(answer, voids=False) == ["answer tells"]
    assert answer.record.tells.sentence() == "Of 30 hidden numbers 29 combinations are told."


def test_only_the_agents_whose_rows_are_independent_of_the_rest_are_named():
    """Agent 2's two records lie in directions of their own; the others share three unknowns."""
    rng = np.random.default_rng(2)
    rows = [np.pad(rng.normal(size=(9, 3)), ((0, 0), (0, 2))) for _ in range(4)]
    rows[2] = np.pad(rng.normal(size=(2, 2)), ((0, 0), (3, 0)))
    costs = [tacit.LeastSquares(A, rng.normal(size=len(A)), l2=1.0) for A in rows]
    answer = solved(costs, privacy=tacit.AffineMasks(SIGMA))
    told = next(stamp for stamp in answer.record.stamps if stamp.reason == "answer tells")
    assert told.voids
    assert told.agents == ("2",)


def test_an_agent_that_subtracts_its_own_labels_is_the_onlooker_that_counts():
    """12 rows for 8 unknowns: no outsider reads a label, but whoever holds six of them reads the other six."""
    rng = np.random.default_rng(3)
    costs = [logistic(rng, r, 8) for r in (6, 3, 3)]
    labels = [cost.labels for cost in costs]
    assert labels_told(labels, precision=1e-9).determined == (0, 3, 3)
    answer = solved(costs, privacy=tacit.AffineMasks(SIGMA))
    assert answer.record.stamps[0].agents == ("1", "2")
    assert answer.record.tells.onlooker == "0"


def test_the_screen_for_many_records_agrees_with_the_linear_algebra():
    rng = np.random.default_rng(4)
    for m in range(2, 12):
        labels = [logistic(rng, r, m).labels for r in (4, 5, 3, 4)]
        hidden, told = 12, labels_told(labels, precision=1e-9)
        A = np.concatenate([part.rows for part in labels if part.rows is not labels[1].rows])
        assert told.rank == min(m, hidden)
        assert any(told.determined) == (np.linalg.matrix_rank(A) == len(A))


def test_classes_of_few_records_get_a_caution_and_those_of_many_do_not():
    """5 combinations of 30 bits are more than 100 labels of one bit; of 250 labels many fit."""
    rng = np.random.default_rng(5)
    few = solved([logistic(rng, 20, 5) for _ in range(6)], privacy=tacit.AffineMasks(SIGMA))
    assert few.record.private
    assert reasons(few, voids=False) == ["answer tells"]
    many = solved([logistic(rng, 50, 5) for _ in range(6)], privacy=tacit.AffineMasks(SIGMA))
    assert many.record.stamps == []
    numbers = solved([squares(rng, 20, 5) for _ in range(6)], privacy=tacit.AffineMasks(SIGMA))
    assert numbers.record.stamps == []  # a real label has no end of bits


@pytest.mark.parametrize("sites", [1, 2])
def test_a_column_of_one_or_two_sites_makes_its_sums_their_own(sites):
    """Of two, each knows its own part, and so the other's."""
    rng = np.random.default_rng(6)
    rows = [np.column_stack([rng.normal(size=(40, 2)), np.full(40, float(i < sites))]) for i in range(5)]
    costs = [tacit.Logistic(A, rng.integers(0, 2, 40), l2=0.1) for A in rows]
    answer = solved(costs, privacy=tacit.AffineMasks(SIGMA))
    assert reasons(answer) == ["own column"]
    assert answer.record.stamps[-1].agents == tuple("01"[:sites])
    assert "column(s) 2" in answer.record.stamps[-1].sentence
    common = [tacit.Logistic(np.abs(A) + 1.0, rng.integers(0, 2, 40), l2=0.1) for A in rows]
    assert "own column" not in reasons(solved(common, privacy=tacit.AffineMasks(SIGMA)))


# records behind sums --------------------------------------------------------------------------


def test_newtons_sums_tell_four_records_and_the_run_says_so():
    rng = np.random.default_rng(1)
    costs = [logistic(rng, r, 2, intercept=True) for r in (30, 2, 1, 1)]
    with pytest.warns(NotPrivateWarning, match="all 8 numbers in the records"):
        answer = tacit.solve(tacit.Problem(nx.complete_graph(4), costs), protect="whole")
    assert not answer.record.private
    assert answer.record.tells.hidden == answer.record.tells.rank == answer.record.tells.determined == 8


def test_fifty_records_per_agent_stay_hidden_from_newtons_sums():
    rng = np.random.default_rng(2)
    answer = solved([logistic(rng, 50, 2, intercept=True) for _ in range(4)], protect="whole")
    assert answer.record.private
    assert answer.record.stamps == []
    assert answer.record.tells.combinations < answer.record.tells.hidden / 2 == 150


@pytest.mark.parametrize(
    ("m", "records", "rounds", "rank"),
    [(3, 6, 1, 9), (3, 6, 2, 18), (3, 60, 1, 9), (3, 60, 2, 19), (5, 6, 1, 20), (5, 9, 3, 45), (5, 60, 2, 41)],
)
def test_the_table_of_what_newtons_sums_tell(m, records, rounds, rank):
    """The value at the start is zero whatever the records, so the first point tells one number less than it could.

    The second and third entries of a row are full ranks, and 19 and 41 are 2·10 − 1 and 2·21 − 1.
    """
    rng = np.random.default_rng(0)
    problem = tacit.Problem(nx.complete_graph(3), [logistic(rng, r, m) for r in (20, records, 2)])
    job = prepare(problem, privacy=tacit.SumMasks(), algorithm="newton", max_rounds=rounds).job
    verdict = judged([problem.costs[1].secrets], [problem.costs[0].secrets], replayed(job), precision=1e-7)
    assert verdict.rank == rank


def test_the_jacobian_is_the_analytic_one():
    """Of the sum of gradients of a least-squares cost at a known point: a second method."""
    from tacit.solving.telling.surrogates import _jacobian

    cost = tacit.LeastSquares(np.eye(2), np.ones(2))
    rows = np.array([[0.3, -1.2, 0.7]])
    x = np.array([0.5, 2.0])
    J = _jacobian(cost.secrets, rows, lambda costs: costs.grad(x))
    a, b = rows[0, :2], rows[0, 2]
    exact = np.column_stack([np.outer(a, x) + (a @ x - b) * np.eye(2), -a])
    np.testing.assert_allclose(J, exact, atol=1e-11)


@pytest.mark.parametrize("privacy", [tacit.SumMasks(), tacit.QuadraticMasks(SIGMA)], ids=["sums", "quadratic"])
def test_two_points_of_a_line_follow_from_their_moments_whatever_hides_them(privacy):
    """Σx, Σx², Σy, Σxy of two records are four numbers about four."""
    rng = np.random.default_rng(3)
    answer = solved([squares(rng, r, 1, intercept=True) for r in (3, 1, 1)], privacy=privacy)
    assert answer.record.tells.determined == 4
    assert answer.record.stamps[0].agents == ("1", "2")  # the first agent's three are hidden from the others
    three = solved([squares(rng, r, 1, intercept=True) for r in (4, 2, 2)], privacy=privacy)
    assert three.record.private  # Σx of four numbers leaves them free


def test_quadratic_costs_tell_their_sum_however_many_rounds_are_run():
    rng = np.random.default_rng(4)
    costs = [tacit.Quadratic.distance(rng.normal(size=3)) for _ in range(8)]
    for algorithm in ("direct", "newton", "lbfgs"):
        answer = solved(costs, privacy=tacit.SumMasks(), algorithm=algorithm)
        assert answer.record.tells.numbers == 9
        assert answer.record.tells.hidden == 7 * 9
        assert answer.record.stamps == []


def test_where_no_rank_is_computed_the_count_decides():
    rng = np.random.default_rng(5)
    answer = solved([logistic(rng, 6, 40) for _ in range(6)], privacy=tacit.SumMasks())
    assert answer.record.tells.rank is None
    assert answer.record.tells.numbers > answer.record.tells.hidden
    assert "nothing rules out" in answer.record.stamps[0].sentence
    assert not answer.record.private


def test_the_record_counts_the_rounds_that_were_run():
    rng = np.random.default_rng(6)
    answer = solved([logistic(rng, 200, 3) for _ in range(5)], privacy=tacit.SumMasks())
    rounds, tells = answer.record.phase2.rounds, answer.record.tells
    assert tells.a_round == 1 + 3 + 6
    assert tells.numbers == 10 * rounds
    assert RunRecord.from_json(answer.record.to_json()).tells == tells


def test_no_private_number_takes_part():
    """Other records of the same shape give the same count, to the last bit."""
    counts = []
    for seed in (7, 8):
        rng = np.random.default_rng(seed)
        costs = [logistic(rng, r, 3, intercept=True) for r in (9, 4, 4, 3)]
        problem = tacit.Problem(nx.complete_graph(4), costs)
        counts.append(prepare(problem, privacy=tacit.SumMasks()).tells)
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "make",
    [
        lambda A, y: tacit.Logistic(A, y > 0, l2=0.1),
        lambda A, y: tacit.Poisson(A / 4, np.rint(np.exp(y / 2)), l2=0.1),
        lambda A, y: tacit.LeastSquares(A, y, l2=0.1),
        lambda A, y: tacit.Huber(A, y, l2=0.1),
        lambda A, y: tacit.costs.Multinomial(A, np.arange(len(y)) % 3, classes=3, l2=0.1),
        lambda A, y: tacit.costs.ConcomitantHuber(A, y, l2=0.1),
        lambda A, y: tacit.LeastSquares(A, y, l2=0.1) + tacit.L1(0.1),
        lambda A, y: tacit.Quadratic(A.T @ A + np.eye(2), A.T @ y),
    ],
    ids=["logistic", "poisson", "squares", "huber", "multinomial", "concomitant", "lasso", "quadratic"],
)
def test_invented_costs_of_every_family_are_costs_of_that_family(make):
    """A cost of invented records is what the constructor makes of the same records."""
    rng = np.random.default_rng(9)
    cost = make(rng.normal(size=(5, 2)), rng.normal(size=5))
    secrets = cost.secrets
    rows = secrets.invent(rng, 3, 1.0)
    costs = secrets.costs(rows)
    x = rng.normal(size=cost.dim) / 4
    assert costs.value(x).shape == (3,)
    assert costs.grad(x).shape == (3, cost.dim)
    assert costs.hess(x).shape[-2:] == (cost.dim, cost.dim)
    step = 1e-6 * rng.normal(size=cost.dim)
    np.testing.assert_allclose(
        costs.value(x + step) - costs.value(x - step), 2 * costs.grad(x) @ step, rtol=1e-5, atol=1e-12
    )


def test_an_algorithm_of_ones_own_is_counted_like_any_other():
    class Mine(Newton):
        sums = ("everything",)

    rng = np.random.default_rng(1)
    costs = [logistic(rng, r, 2, intercept=True) for r in (30, 2, 1, 1)]
    answer = solved(costs, privacy=tacit.SumMasks(), algorithm=Mine())
    assert answer.record.tells.determined == 8


def test_nothing_is_counted_where_nothing_is_hidden_or_known():
    rng = np.random.default_rng(1)
    assert solved([logistic(rng, 5, 2) for _ in range(3)]).record.tells is None
    two = solved([logistic(rng, 5, 2) for _ in range(2)], privacy=tacit.SumMasks())
    assert two.record.tells is None
    assert reasons(two) == ["two agents"]
