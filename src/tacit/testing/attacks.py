"""What every attack must satisfy: it takes what is open, and no more than the certificate allows elsewhere."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import numpy as np

from tacit.auditing import Attack, Estimate, Public, View, public_knowledge, watch
from tacit.auditing.judging.verdict import judge_gaussian
from tacit.costs import Quadratic
from tacit.masks import AffineMasks, Mechanism
from tacit.solving import Problem, prepare
from tacit.typing import Algorithm, Array

_SIGMA = 50.0
_MEMBERS = (1, 2)


def check_attack(attack: Attack, *, algorithm: str | Algorithm = "nids", open_without_masks: bool = True) -> None:
    """Check an attack that believes in gradients at the start, against plain and masked runs of *algorithm*.

    *open_without_masks* = False is for attacks on published effective costs, which a plain run has none of.
    """
    problem = _problem()
    truth = problem.stack.grad(np.tile(problem.x0, (len(problem.costs), 1)))
    if open_without_masks:
        view, public = _recorded(problem, algorithm, None)
        estimate = _asked(attack, view, public)
        sure = estimate.deviations <= 1e-6
        assert sure.any(), f"{attack.name} is sure of nobody, where nothing is hidden"
        worst = float(np.abs(estimate.values - truth[estimate.agents])[sure].max())
        assert worst <= 1e-6, f"{attack.name} is sure, and off by {worst:.1e}, where nothing is hidden"
    view, public = _recorded(problem, algorithm, AffineMasks(_SIGMA, seed=1))
    estimate = _asked(attack, view, public)
    _check_within(attack, estimate, view, public, truth)
    members = set(estimate.agents.tolist()) & set(_MEMBERS)
    assert not members, f"{attack.name} attacks members of its own coalition"


def _check_within(attack: Attack, estimate: Estimate, view: View, public: Public, truth: Array) -> None:
    assert len(estimate.agents), f"{attack.name} believes nothing about anybody behind masks"
    rows = np.searchsorted(public.honest(view.coalition), estimate.agents)
    covariance = 2.0 * _SIGMA**2 * public.honest_laplacian(view.coalition)[np.ix_(rows, rows)]
    errors = estimate.values - truth[estimate.agents]
    verdict = judge_gaussian(attack.name, errors, covariance, floor=1e-6)
    assert not verdict.is_red, f"{attack.name}: {verdict.status}, {verdict.says}"
    claimed = np.sqrt(np.diag(covariance))
    assert np.allclose(estimate.deviations, claimed, rtol=0.05), (
        f"{attack.name} is surer than the certificate allows"
    )


def _asked(attack: Attack, view: View, public: Public) -> Estimate:
    """Return what the attack says, having checked that it is a pure function of what is written down."""
    why = attack.misses(view, public)
    assert why is None, f"{attack.name} says that there is nothing to attack: {why}"
    before = view.to_bytes()
    estimate = attack(view, public)
    again = attack(View.from_bytes(before), public)
    assert np.array_equal(estimate.values, again.values), f"{attack.name} sees more than is in the file of a view"
    assert view.to_bytes() == before, f"{attack.name} changes the view"
    return estimate


def _problem() -> Problem:
    rng = np.random.default_rng(7)
    costs = [Quadratic(np.diag(rng.uniform(1.0, 3.0, 40)), rng.normal(size=40)) for _ in range(10)]
    graph: nx.Graph[Any] = nx.circulant_graph(10, [1, 2])
    return Problem(graph, costs)


def _recorded(problem: Problem, algorithm: str | Algorithm, privacy: Mechanism | None) -> tuple[View, Public]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        job = prepare(problem, privacy=privacy, algorithm=algorithm, max_rounds=60).job  # type: ignore[arg-type]
        return watch(job, _MEMBERS, worst_case=True), public_knowledge(problem, job)
