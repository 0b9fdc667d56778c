"""The attacks on what the answer tells: labels by elimination, and records from the sums of a run."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import public_knowledge, watch
from tacit.auditing.attacked import truth_of
from tacit.auditing.attacks.elimination import Elimination, read
from tacit.auditing.attacks.records import RecordsFromSums
from tacit.auditing.knowledge.view import View
from tacit.auditing.trials.runs import Truth, attack_run
from tacit.solving import prepare


def regressions(seed, counts, m, *, intercept=False):
    rng = np.random.default_rng(seed)
    costs = [
        tacit.Logistic(rng.normal(size=(r, m)), rng.integers(0, 2, r), l2=0.05, intercept=intercept) for r in counts
    ]
    return tacit.Problem(nx.complete_graph(len(counts)), costs)


def recorded(problem, privacy, *, algorithm="auto", worst_case=False):
    job = prepare(problem, privacy=privacy, algorithm=algorithm).job
    return watch(job, [0], worst_case=worst_case), public_knowledge(problem, job)


def far(true, values):
    """How far each true record is from the nearest that was read, up to the sign of all its numbers."""
    away = [np.abs(true[:, None] - sign * values).max(axis=-1) for sign in (1.0, -1.0)]
    return np.minimum(*away).min(axis=1)


@pytest.mark.parametrize(("m", "intercept"), [(3, False), (2, True)])
def test_four_records_are_read_from_newtons_sums(m, intercept):
    problem = regressions(1, (30, 2, 1, 1), m, intercept=intercept)
    view, public = recorded(problem, tacit.SumMasks())
    attack = RecordsFromSums()
    assert attack.misses(view, public) is None
    estimate = attack(View.from_bytes(view.to_bytes()), public)
    true = np.concatenate([cost.A[:, :m] for cost in problem.costs[1:]])
    assert far(true, estimate.values).max() < 1e-6


@pytest.mark.parametrize("algorithm", ["newton", "lbfgs"])
def test_two_counts_are_read_whatever_algorithm_adds_them_up(algorithm):
    rng = np.random.default_rng(4)
    costs = [tacit.Poisson(0.5 * rng.normal(size=(r, 2)), rng.poisson(2.0, r), l2=1.0) for r in (20, 1, 1)]
    view, public = recorded(tacit.Problem(nx.complete_graph(3), costs), tacit.SumMasks(), algorithm=algorithm)
    attack = RecordsFromSums(starts=60)
    assert attack.misses(view, public) is None
    estimate = attack(view, public)
    true = np.concatenate([cost.A for cost in costs[1:]])
    assert len(estimate.agents) == 0 or far(true, estimate.values).max() < 1e-4


def test_fifty_records_per_agent_are_not_read_and_the_attack_says_why():
    problem = regressions(1, (50, 50, 50, 50), 3)
    view, public = recorded(problem, tacit.SumMasks())
    assert "numbers are told, and 450 are hidden" in RecordsFromSums().misses(view, public)


def test_many_numbers_are_not_solved_for():
    problem = regressions(2, (9, 9, 9), 4)
    view, public = recorded(problem, tacit.SumMasks())
    assert RecordsFromSums(numbers=20).misses(view, public) == "72 hidden numbers are too many to solve for"


def test_the_attack_does_not_apply_to_gossip():
    problem = regressions(1, (9, 9, 9), 2)
    view, public = recorded(problem, tacit.AffineMasks(10.0))
    assert RecordsFromSums().misses(view, public) == "nothing is known of what a record is"


def test_what_is_read_without_a_stamp_is_a_breach_and_with_one_is_open():
    """The same records: the verdict depends on whether the run said that its answer tells them."""
    problem = regressions(1, (30, 2, 1, 1), 3)
    view, public = recorded(problem, tacit.SumMasks())
    at = np.zeros((4, 3))
    truth = Truth(
        gradients=problem.stack.grad(at),
        curvatures=None,
        at_zero=problem.stack.grad(at),
        labels=None,
        records=[cost.A for cost in problem.costs],
    )
    statuses = {}
    for told in (frozenset(), frozenset({1, 2, 3}), None):
        found = attack_run(view, public, truth._replace(exposed=told))
        statuses[told] = next(f.verdict.status for f in found if f.verdict.attack == "records from sums")
    assert statuses == {frozenset(): "beaten", frozenset({1, 2, 3}): "open", None: "open"}


def test_elimination_reads_what_is_determined_and_nothing_else():
    rng = np.random.default_rng(3)
    rows = np.zeros((8, 6))
    rows[:3, :3], rows[3:, 3:] = rng.normal(size=(3, 3)), rng.normal(size=(5, 3))
    y = rng.normal(size=8)
    found = read(rows, rows.T @ y)
    np.testing.assert_allclose(found[:3], y[:3], atol=1e-9)
    assert np.isnan(found[3:]).all()


@pytest.mark.parametrize("family", ["least squares", "logistic"])
def test_all_labels_of_six_agents_are_read_behind_masks_of_any_size(family):
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(6, 6, 40)), rng.normal(size=(6, 6))
    if family == "logistic":
        b = (b > 0).astype(float)
    make = {"least squares": tacit.LeastSquares, "logistic": tacit.Logistic}[family]
    problem = tacit.Problem(nx.complete_graph(6), [make(a, t, l2=1.0) for a, t in zip(A, b, strict=True)])
    view, public = recorded(problem, tacit.AffineMasks(1e3), worst_case=True)
    estimate = Elimination()(view, public)
    assert estimate.agents.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(estimate.values, b[1:], atol=1e-6)


def test_an_audit_reports_labels_that_follow_from_the_answer():
    rng = np.random.default_rng(0)
    costs = [tacit.LeastSquares(rng.normal(size=(3, 10)), rng.normal(size=3), l2=1.0) for _ in range(4)]
    problem = tacit.Problem(nx.complete_graph(4), costs)
    prepared = prepare(problem, privacy=tacit.AffineMasks(1e3))
    view, public = watch(prepared.job, [0], worst_case=True), public_knowledge(problem, prepared.job)
    found = attack_run(view, public, truth_of(problem, prepared.job, prepared.stamps))
    verdict = {f.verdict.attack: f.verdict for f in found}["labels by elimination"]
    assert verdict.status == "open"
    assert "9 label(s)" in verdict.says


def test_an_audit_reports_records_that_follow_from_sums():
    records = tacit.audit(regressions(1, (30, 2, 1, 1), 3), [0], privacy=tacit.SumMasks(), games=200, seed=1)
    verdict = {v.attack: v for v in records.with_masks}["records from sums"]
    assert verdict.status == "open"
    assert "4 of 4 records" in verdict.says


def test_the_view_of_a_coalition_holds_what_it_put_into_every_sum():
    problem = regressions(1, (5, 5, 5), 2)
    view, _ = recorded(problem, tacit.SumMasks(), algorithm="newton")
    first = view.own.sums[0]
    np.testing.assert_allclose(first[1:3], problem.costs[0].grad(problem.x0), atol=1e-12)
