"""Answers for the public: what is promised, what is refused, and the last digits that would undo it."""

import math

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.differential import DifferentialPrivacy, PerturbedObjective
from tacit.differential.public import public_guarantee
from tacit.solving.public import published

PROMISE = DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=2.0, labels=1.0, any=2)
GRAPH = nx.random_regular_graph(4, 8, seed=1)


def problem(family=tacit.Logistic, **settings):
    rng, costs = np.random.default_rng(3), []
    for _ in range(8):
        A = rng.normal(size=(60, 3))
        costs.append(family(A, A @ [1.0, -1.0, 0.5] > 0, **settings))
    return tacit.Problem(GRAPH, costs)


def solved(costs, **settings):
    return tacit.solve(costs, privacy=tacit.AffineMasks(sigma=1e3, answer=PROMISE), **settings)


def test_labels_against_agents_and_records_against_the_public():
    answer = solved(problem(l2=0.5))
    public = answer.for_public()
    assert answer.guarantee.unit == "label"
    assert answer.guarantee.epsilon == 1.0 < public.guarantee.epsilon < 1.03
    assert public.guarantee.published_epsilon > 1.2
    assert public.guarantee.kappa == pytest.approx(0.25 * 2.0**2 / (8 * 0.5))
    for words in ("every record", "nothing else", "against agents nothing", "Redberg", "exact gradients"):
        assert words in public.guarantee.statement()
    noise = public.guarantee.smoothing * 1e-7
    assert 0.0 < np.abs(public.x - answer.x).max() < 10.0 * noise  # beyond it once in 10²²
    assert tacit.RunRecord.from_json(answer.record.to_json()).phase1.answer.public == public.guarantee


def test_the_more_ridge_the_nearer_to_the_gaussian_mechanism():
    epsilons = [solved(problem(l2=l2)).guarantee.public.epsilon for l2 in (0.1, 2.0)]
    assert epsilons == sorted(epsilons, reverse=True)


@pytest.mark.parametrize(
    ("costs", "masks", "word"),
    [
        (problem(l2=0.0), tacit.AffineMasks(1e3, answer=PROMISE), "ridge on every unknown"),
        (problem(l2=0.5, intercept=True), tacit.AffineMasks(1e3, answer=PROMISE), "ridge on every unknown"),
        (problem(tacit.LeastSquares, l2=0.5), tacit.AffineMasks(1e3, answer=PROMISE), "slopes of these costs grow"),
        (problem(tacit.LeastSquares, l2=0.5), tacit.QuadraticMasks(1e4, answer=PROMISE), "as it is"),
        (problem(l2=0.5), tacit.SumMasks(answer=PROMISE), "as it is"),
        (problem(l2=0.5), tacit.AffineMasks(1e3), "no noise that anybody promises"),
        (problem(l2=0.5), tacit.SumMasks(), "no noise that anybody promises"),
    ],
)
def test_all_other_runs_are_refused_with_the_reason(costs, masks, word):
    answer = tacit.solve(costs, privacy=masks)
    with pytest.raises(tacit.TacitError, match=word):
        answer.for_public()


@pytest.mark.parametrize("algorithm", ["newton", "lbfgs", "fista", "direct"])
def test_a_perturbed_objective_is_not_minimised_by_exact_sums(algorithm):
    """Differences of sums have no noise: an agent on the way would be right every time (tests of the game)."""
    with pytest.raises(tacit.TacitError, match="in the open"):
        solved(problem(l2=0.5), algorithm=algorithm)


def test_a_run_that_is_not_near_enough_is_not_published():
    with pytest.raises(tacit.TacitError, match="smaller tolerance"):
        solved(problem(l2=0.5), tolerance=1e-3).for_public()
    answer = solved(problem(l2=0.5))
    with pytest.raises(tacit.TacitError, match="smaller tolerance"):
        answer.for_public(within=1e-12)
    with pytest.raises(tacit.TacitError, match="positive number"):
        answer.for_public(within=0.0)
    with pytest.raises(tacit.TacitError, match="did not come to the minimiser"):
        solved(problem(l2=0.5), max_rounds=5).for_public()


def test_the_last_digits_of_a_minimiser_tell_worlds_apart_and_published_ones_do_not():
    """Noise lies on a lattice: −∇F(x*) does, too, in the world where F is right. The attacker knows all but one record."""
    games, step, ridge, sigma = 200, 2.0**-20, 4.0, 20.0
    guarantee = public_guarantee(
        PerturbedObjective(1.0 / sigma, 0.25 / ridge, "logistic"), delta=1e-6, ridge=ridge, any=0
    )
    rng = np.random.default_rng(5)
    right = {"as it is": 0, "published": 0}
    within = 2.0 * math.sqrt(3) * step / ridge
    for _ in range(games):
        A, y, there = rng.normal(size=(30, 3)) / 3.0, rng.random(30) < 0.5, bool(rng.random() < 0.5)
        known = tacit.Logistic(A[1:], y[1:], l2=ridge)
        world = tacit.Logistic(A, y, l2=ridge) if there else known
        noise = step * np.rint(sigma * rng.normal(size=3) / step)
        x = np.zeros(3)
        for _ in range(30):
            x = x - np.linalg.solve(world.hess(x), world.grad(x) + noise)
        public = published(x, guarantee, within=within, error=1e-12, lattice=0.5 * within).x
        for name, seen in (("as it is", x), ("published", public)):
            places = known.grad(seen) / step
            on_lattice = bool(np.abs(places - np.rint(places)).max() < 1e-3)
            right[name] += on_lattice != there
    assert right["as it is"] == games
    assert abs(right["published"] - games / 2) < 50  # seven deviations of a coin
