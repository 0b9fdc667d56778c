"""A regression on raw records by secret sums, against the optimum of the pooled records."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
import statsmodels.api as sm

from tacit.algorithms import Newton, Standardised
from tacit.costs import L1, Huber, LeastSquares, Logistic, Poisson, stack
from tacit.errors import CostError
from tacit.masks import SumMasks
from tacit.network import Network
from tacit.runtimes import RUNTIMES, Job, StoppingRule
from tacit.solving.facts import facts_of

RNG = np.random.default_rng(17)
PARTS = [
    np.column_stack([RNG.normal(62, 11, n), RNG.normal(250, 90, n), 2000 + RNG.integers(15, 25, n)])
    for n in (40, 25, 60, 31)
]
X = np.vstack(PARTS)
ETA = 0.03 * (X[:, 0] - 62) - 0.008 * (X[:, 1] - 250) + 0.1 * (X[:, 2] - 2020)
LABELS = {
    "logistic": (RNG.random(len(X)) < 1 / (1 + np.exp(-ETA))).astype(float),
    "poisson": RNG.poisson(np.exp(0.5 + 0.3 * ETA)).astype(float),
    "ridge": 100 + 5 * ETA + RNG.normal(size=len(X)),
}
FAMILIES = {"logistic": Logistic, "poisson": Poisson, "ridge": LeastSquares}
ENDS = np.cumsum([len(part) for part in PARTS])[:-1]


def job(family, *, intercept=True, l2=0.0, l1=0.0, algorithm=None, records=True, parts=PARTS):
    costs = []
    for A, y in zip(parts, np.split(LABELS[family], ENDS), strict=True):
        cost = FAMILIES[family](A, y, intercept=intercept, l2=l2 / 4)
        if records:
            cost.facts = facts_of(family, y)
        costs.append(cost + L1(np.append(np.full(3, l1 / 4), [0.0] * intercept)) if l1 else cost)
    return Job(
        network=Network(nx.complete_graph(4)), costs=costs, stack=stack(costs), x0=np.zeros(3 + intercept),
        algorithm=algorithm or Standardised("newton", intercept), exact=True, weights="metropolis",
        privacy=SumMasks(bound=2.0**60, words=2, seed=3), rule=StoppingRule(),
    )  # fmt: skip


@pytest.mark.parametrize("family", ["logistic", "poisson", "ridge"])
def test_raw_ages_doses_and_years_need_no_care(family):
    run = RUNTIMES["stacked"](job(family), None)
    assert run.verdict.status == "converged"
    kind = {"logistic": sm.families.Binomial(), "poisson": sm.families.Poisson(), "ridge": sm.families.Gaussian()}
    reference = sm.GLM(LABELS[family], np.column_stack([X, np.ones(len(X))]), family=kind[family]).fit(tol=1e-14)
    np.testing.assert_allclose(run.x[0], reference.params, rtol=2e-6)


@pytest.mark.parametrize(
    ("intercept", "l2", "l1"), [(True, 3.0, 0.0), (False, 0.0, 0.0), (True, 0.0, 20.0), (False, 1.0, 5.0)]
)
def test_penalties_keep_their_meaning_in_the_members_own_units(intercept, l2, l1):
    run = RUNTIMES["stacked"](job("ridge", intercept=intercept, l2=l2, l1=l1), None)
    assert run.verdict.status == "converged"
    x, A = run.x[0], np.column_stack([X, np.ones(len(X))])[:, : 3 + intercept]
    slope = A.T @ (A @ x - LABELS["ridge"]) + np.append(np.full(3, l2), [0.0] * intercept) * x
    weights = np.append(np.full(3, l1), [0.0] * intercept)
    free = (x != 0) | (weights == 0)
    unit = np.abs(A).sum(axis=0) * np.abs(LABELS["ridge"]).mean()
    assert (np.abs(slope + weights * np.sign(x))[free] <= 1e-9 * unit[free]).all()
    assert (np.abs(slope)[~free] <= weights[~free] * (1 + 1e-9)).all()


@pytest.mark.parametrize("runtime", ["agents"])
def test_apart_equals_together(runtime):
    apart = RUNTIMES[runtime](job("logistic"), None)
    together = RUNTIMES["stacked"](job("logistic"), None)
    assert apart.rounds == together.rounds
    np.testing.assert_array_equal(apart.x, together.x)


def test_many_unknowns_go_by_gradients():
    run = RUNTIMES["stacked"](job("logistic", algorithm=Standardised("lbfgs", True)), None)
    assert run.verdict.status == "converged"
    np.testing.assert_allclose(run.x[0], RUNTIMES["stacked"](job("logistic"), None).x[0], rtol=1e-5)


def test_a_column_that_is_the_same_everywhere_is_named():
    parts = [np.column_stack([part[:, :2], np.full(len(part), 7.25)]) for part in PARTS]
    with pytest.raises(CostError, match="column 3 of the features is the same number") as caught:
        RUNTIMES["stacked"](job("logistic", parts=parts), None)
    assert "7.25" not in str(caught.value)


@pytest.mark.parametrize("masks", [SumMasks(bound=2.0**60, words=2, seed=3), SumMasks(seed=3), None])
@pytest.mark.parametrize("size", [1e-4, 1e-9, 1e-12])
def test_a_small_column_is_fitted_as_well_as_any(size, masks):
    """In the unit of a large one its squares drown in a secret sum."""
    parts = [np.column_stack([part[:, :2] / 100.0, (part[:, 2] - 2020) * size]) for part in PARTS]
    usual = [np.column_stack([part[:, :2] / 100.0, part[:, 2] - 2020]) for part in PARTS]
    small, large = (
        RUNTIMES["stacked"](dataclasses.replace(job("logistic", parts=each), privacy=masks), None).x[0]
        for each in (parts, usual)
    )
    np.testing.assert_allclose(small * [1.0, 1.0, size, 1.0], large, rtol=1e-6)


@pytest.mark.parametrize("masks", [SumMasks(bound=2.0**60, words=2, seed=3), None])
@pytest.mark.parametrize("far", [1e6, 1e8, 1e10])
def test_a_column_far_from_zero_is_fitted(far, masks):
    parts = [np.column_stack([part[:, :2], part[:, 2] - 2020 + far]) for part in PARTS]
    run = RUNTIMES["stacked"](dataclasses.replace(job("ridge", parts=parts), privacy=masks), None)
    A = np.column_stack([X - X.mean(axis=0), np.ones(len(X))])
    best, x = np.linalg.lstsq(A, LABELS["ridge"])[0], run.x[0]
    gap = ((A[:, :3] @ (x[:3] - best[:3])) ** 2).sum()
    assert gap <= 1e-7 * ((A[:, :3] @ best[:3]) ** 2).sum()


@pytest.mark.parametrize("ulps", [1, 3, 1000])
@pytest.mark.parametrize("far", [1 / 3, 1e8 / 3])
@pytest.mark.parametrize("masks", [SumMasks(bound=2.0**60, words=2, seed=3), None])
def test_a_column_that_varies_by_its_last_digits_is_named_and_not_called_constant(far, ulps, masks):
    """It used to be called constant, or fitted from digits that were gone."""
    digits = np.random.default_rng(ulps).integers(-ulps, ulps + 1, len(X)).astype(float)
    parts = [
        np.column_stack([part[:, :2], far + np.spacing(far) * each])
        for part, each in zip(PARTS, np.split(digits, ENDS), strict=True)
    ]
    with pytest.raises(CostError, match="column 3 of the features varies by less than 1e-11 of its size"):
        RUNTIMES["stacked"](dataclasses.replace(job("ridge", parts=parts), privacy=masks), None)


def test_costs_without_records_or_columns_are_refused():
    with pytest.raises(CostError, match="does not say how many records"):
        RUNTIMES["stacked"](job("logistic", records=False), None)


def test_the_same_cost_in_other_units():
    """h(Tu) = h(x), its gradient and its Hessian, for every family with columns."""
    from tacit.costs.columns import Units

    units = Units(X.mean(axis=0), X.std(axis=0))
    u = RNG.normal(size=4)
    T = units.matrix(4)
    np.testing.assert_allclose(units.into(units.back(u)), u, rtol=1e-12)
    for cost in [
        Logistic(X, LABELS["logistic"], intercept=True, l2=0.3),
        LeastSquares(X, LABELS["ridge"], intercept=True, l2=0.3),
        LeastSquares(X[:3], LABELS["ridge"][:3], intercept=True),
        Huber(X, LABELS["ridge"], intercept=True),
    ]:
        turned = cost.in_units(units)
        np.testing.assert_allclose(turned.value(u), cost.value(T @ u), rtol=1e-8)
        np.testing.assert_allclose(turned.grad(u), T.T @ cost.grad(T @ u), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(turned.hess(u), T.T @ cost.hess(T @ u) @ T, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(units.own_hessian(turned.hess(u)), cost.hess(T @ u), rtol=1e-6, atol=1e-4)


def test_plain_newton_with_the_default_bound_is_what_it_stands_in_for():
    from dataclasses import replace

    from tacit.errors import RangeError

    raw = replace(job("ridge", algorithm=Newton()), privacy=SumMasks(seed=3))
    with pytest.raises(RangeError):
        RUNTIMES["stacked"](raw, None)


@pytest.mark.parametrize(("sites", "words"), [(1, "one agent alone has"), (2, "two agents alone have")])
def test_a_column_of_one_or_two_agents_is_refused_where_columns_are_counted(sites, words):
    """Before any sum of that column is taken: the first sum is that of the agents that have it."""
    dummied = [np.column_stack([A[:, :2], np.full(len(A), float(i < sites))]) for i, A in enumerate(PARTS)]
    counted = Standardised("newton", True, counted=True)
    with pytest.raises(CostError, match=f"{words} column 3"):
        RUNTIMES["stacked"](job("ridge", algorithm=counted, parts=dummied), None)
    assert RUNTIMES["stacked"](job("ridge", parts=dummied), None).verdict.status == "converged"


def test_columns_of_many_change_nothing_but_one_sum():
    plain, counted = (
        RUNTIMES["stacked"](job("logistic", algorithm=Standardised("newton", True, counted=counted)), None)
        for counted in (False, True)
    )
    assert counted.rounds == plain.rounds + 1
    np.testing.assert_array_equal(counted.x, plain.x)
