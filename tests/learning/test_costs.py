"""The two families of costs that only learning needs, and the sum of plain numbers."""

import networkx as nx
import numpy as np
import pytest

from tacit import Problem, solve
from tacit.algorithms import Total
from tacit.costs import Affine, ConcomitantHuber, Logistic, Multinomial, contrasts, stack
from tacit.errors import CostError
from tacit.masks import SumMasks
from tacit.network import Network
from tacit.runtimes import RUNTIMES, Job, StoppingRule
from tacit.testing import check_cost


@pytest.fixture
def rng():
    return np.random.default_rng(6)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("intercept", [True, False])
def test_multinomial_conforms(classes, intercept, rng):
    A, y = rng.standard_normal((12, 3)), rng.integers(0, classes, 12)
    check_cost(Multinomial(A, y, classes=classes, l2=0.1, intercept=intercept))


@pytest.mark.parametrize("intercept", [True, False])
def test_concomitant_huber_conforms(intercept, rng):
    A, b = rng.standard_normal((12, 3)), 2.0 * rng.standard_normal(12)
    check_cost(ConcomitantHuber(A, b, l2=0.1, intercept=intercept), scale=0.2)


def test_two_classes_are_logistic_regression(rng):
    """W = ±v/√2: the same probabilities, and the same penalty up to a factor of two."""
    A, y = rng.standard_normal((12, 3)), rng.integers(0, 2, 12)
    soft, plain = Multinomial(A, y, classes=2, l2=1.0), Logistic(A, y, l2=0.5)
    x = rng.standard_normal(3)
    W = np.outer(contrasts(2)[:, 0], x)
    z = W[1] - W[0]
    apart = soft.value(x) - plain.value(z)
    assert apart == pytest.approx(soft.value(np.zeros(3)) - plain.value(np.zeros(3)), abs=1e-12)


@pytest.mark.parametrize("kind", ["multinomial", "huber"])
def test_agents_of_different_sizes_stack(kind, rng):
    sizes = (1, 5, 6, 30)
    A = [rng.standard_normal((size, 3)) for size in sizes]
    y = [rng.integers(0, 3, size).astype(float) for size in sizes]
    make = (lambda a, b: Multinomial(a, b, classes=3, l2=0.1)) if kind == "multinomial" else ConcomitantHuber
    costs = [make(a, b) for a, b in zip(A, y, strict=True)]
    x = 0.1 * rng.standard_normal(costs[0].dim)
    for name in ("value", "grad", "hess"):
        together = getattr(stack(costs), name)(x)
        apart = np.stack([getattr(cost, name)(x) for cost in costs])
        np.testing.assert_allclose(together, apart, atol=1e-12)


@pytest.mark.parametrize("privacy", [SumMasks(), None])
def test_the_sum_of_costs_is_minimised(privacy, rng):
    """Through the ordinary problem and the ordinary solver."""
    A, y = rng.standard_normal((40, 3)), rng.integers(0, 3, 40)
    parts = np.array_split(np.arange(40), 4)
    costs = [Multinomial(A[rows], y[rows], classes=3, l2=0.25) for rows in parts]
    answer = solve(Problem(nx.complete_graph(4), costs), privacy=privacy, algorithm="newton")
    whole = Multinomial(A, y, classes=3, l2=1.0)
    assert np.abs(whole.grad(answer.x)).max() < 1e-8


def test_bad_costs_are_refused(rng):
    A = rng.standard_normal((4, 2))
    for make in (
        lambda: Multinomial(A, [0, 1, 2, 3], classes=3),
        lambda: Multinomial(A, [0, 1], classes=3),
        lambda: Multinomial(A, [0, 0, 0, 0], classes=1),
        lambda: ConcomitantHuber(A, [1.0, 2.0]),
        lambda: ConcomitantHuber(A, np.ones(4), epsilon=0.9),
    ):
        with pytest.raises(CostError):
            make()


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
@pytest.mark.parametrize("masks", [SumMasks(), SumMasks(bound=2.0**60, words=2), None])
def test_plain_numbers_are_added_up_in_one_round(runtime, masks, rng):
    told = rng.integers(-1000, 1000, (5, 7)).astype(float)
    costs = [Affine(numbers) for numbers in told]
    job = Job(
        network=Network(nx.cycle_graph(5)), costs=costs, stack=stack(costs), x0=np.zeros(7), algorithm=Total(),
        exact=True, weights="metropolis", privacy=masks, rule=StoppingRule(),
    )  # fmt: skip
    run = RUNTIMES[runtime](job, None)
    assert run.rounds == 1
    assert (run.x == told.sum(axis=0)).all()
