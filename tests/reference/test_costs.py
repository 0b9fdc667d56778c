"""Every cost family against closed forms, finite differences and a second method."""

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import minimize

import tacit
from tacit.costs import CostStack, Family, stack
from tacit.errors import CostError
from tacit.testing import check_cost, check_rough

RNG = np.random.default_rng(12)
A = RNG.standard_normal((7, 3))
B = RNG.standard_normal(7)
Y = np.array([0, 1, 1, 0, 1, 0, 1.0])
ROOT = RNG.standard_normal((3, 3))

COSTS = {
    "quadratic": tacit.Quadratic(ROOT @ ROOT.T, B[:3]),
    "indefinite quadratic": tacit.Quadratic(np.diag([1.0, -0.5, 2.0]), B[:3]),
    "least squares": tacit.LeastSquares(A, B),
    "least squares, few rows": tacit.LeastSquares(A[:2], B[:2], l2=0.3),
    "ridge with intercept": tacit.LeastSquares(A, B, l2=0.5, intercept=True),
    "logistic": tacit.Logistic(A, Y),
    "logistic with intercept": tacit.Logistic(A, 2 * Y - 1, l2=[0.1, 0.2, 0.3], intercept=True),
    "poisson": tacit.Poisson(A, Y, l2=0.2),
    "huber": tacit.Huber(A, 3 * B, delta=0.7, l2=0.1),
    "affine": tacit.Affine([1.0, -2.0]),
    "lasso": tacit.LeastSquares(A, B, l2=0.1) + tacit.L1(0.4),
    "elastic net": tacit.LeastSquares(A, B) + tacit.ElasticNet(0.2, 0.5),
    "boxed logistic": tacit.Logistic(A, Y, l2=0.1) + tacit.Box(-0.2, [0.1, 0.2, 0.3]),
    "absolute value": tacit.AbsoluteValue([0.5, -1.0], weight=2.0),
}


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS.keys())
def test_every_family_conforms(cost):
    check_cost(cost, second_order=not isinstance(cost, tacit.Huber))


def test_a_callable_conforms():
    rows = A.copy()
    check_cost(
        tacit.CallableCost(
            3,
            value=lambda x: float(np.logaddexp(0, rows @ x).sum()),
            grad=lambda x: rows.T @ (1 / (1 + np.exp(-rows @ x))),
            hess=lambda x: (rows.T * (np.exp(-rows @ x) / (1 + np.exp(-rows @ x)) ** 2)) @ rows,
            smoothness=float(0.25 * np.linalg.norm(rows, 2) ** 2),
            x0=[0.1, 0.2, 0.3],
        )
    )


def test_a_callables_value_tells_nothing_about_the_mask():
    """At the public point x₀ the effective value is α̃ᵀx₀, which is conceded, and not aᵀx₀, which is not."""
    x0 = np.array([1.0, -2.0])
    cost = tacit.CallableCost(2, value=lambda x: float(x @ x), grad=lambda x: 2 * x, x0=x0, smoothness=2.0)
    masked = np.array([0.3, 0.7])
    assert float(cost.with_affine(masked).value(x0)) == pytest.approx(masked @ x0)
    check_cost(cost, second_order=False)


def test_a_callable_needs_no_hessian():
    P = np.diag([1.0, 3.0])
    cost = tacit.CallableCost(2, grad=lambda x: P @ x - 1, smoothness=3.0, strong_convexity=1.0)
    exact = tacit.Quadratic(P, [-1.0, -1.0])
    v = np.array([2.0, -1.0])
    np.testing.assert_allclose(cost.prox(v, 0.7), exact.prox(v, 0.7), atol=1e-12)
    with pytest.raises(CostError, match="without its value"):
        cost.value(v)


@pytest.mark.parametrize(
    "rough",
    [tacit.L1(0.3), tacit.L1([0.1, 0.0, 2.0], [1.0, 2.0, 3.0]), tacit.ElasticNet(0.4, 0.6), tacit.Box(-1, 0.5)],
)
def test_every_rough_term_conforms(rough):
    check_rough(rough, 3)


@pytest.mark.parametrize(
    "name", ["least squares", "ridge with intercept", "logistic with intercept", "poisson", "huber"]
)
def test_values_are_the_textbook_ones_up_to_a_constant(name):
    """Differences of values equal those of the loss written out."""
    ones = np.column_stack([A, np.ones(len(A))])

    def textbook(x):
        X = ones if "intercept" in name else A
        z = X @ x
        w = x[:3]
        if name == "least squares":
            return 0.5 * ((z - B) ** 2).sum()
        if name == "ridge with intercept":
            return 0.5 * ((z - B) ** 2).sum() + 0.25 * (w**2).sum()
        if name == "logistic with intercept":
            return (np.logaddexp(0, z) - Y * z).sum() + 0.5 * (np.array([0.1, 0.2, 0.3]) * w**2).sum()
        if name == "poisson":
            return (np.exp(z) - Y * z).sum() + 0.1 * (w**2).sum()
        u = np.abs(z - 3 * B)
        return np.where(u <= 0.7, 0.5 * u**2, 0.7 * u - 0.245).sum() + 0.05 * (w**2).sum()

    cost = COSTS[name]
    x, y = RNG.standard_normal((2, cost.dim))
    assert cost.value(x) - cost.value(y) == pytest.approx(textbook(x) - textbook(y), rel=1e-10)
    assert cost.value(np.zeros(cost.dim)) == pytest.approx(0.0, abs=1e-12)


def test_prox_equals_a_general_solver():
    cost, v, t = COSTS["logistic with intercept"], RNG.standard_normal(4), 0.8
    found = minimize(lambda u: float(cost.value(u)) + ((u - v) ** 2).sum() / (2 * t), v, method="BFGS", tol=1e-10)
    np.testing.assert_allclose(cost.prox(v, t), found.x, atol=1e-6)


def test_poisson_prox_survives_an_overflowing_start():
    cost = tacit.Poisson([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0])
    u = cost.prox(np.array([2000.0, -3.0]), 0.5)
    assert np.isfinite(u).all()
    np.testing.assert_allclose(cost.grad(u) + (u - [2000.0, -3.0]) / 0.5, 0.0, atol=1e-6)


@pytest.mark.parametrize("family", [tacit.Logistic, tacit.LeastSquares, tacit.Poisson, tacit.Huber])
def test_agents_with_different_numbers_of_rows_are_batched(family):
    """Twenty agents with 1 to 40 rows: few batches, the same gradients."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 40, 20)
    costs = [family(rng.standard_normal((k, 3)), rng.integers(0, 2, k), l2=0.1) for k in sizes]
    together = stack(costs)
    x = rng.standard_normal((20, 3))
    for verb in (
        lambda c, x: c.grad(x),
        lambda c, x: c.value(x),
        lambda c, x: c.prox(x, 0.4),
        lambda c, x: c.hess(x),
    ):
        apart = np.stack([verb(cost, row) for cost, row in zip(costs, x, strict=True)])
        np.testing.assert_allclose(verb(together, x), apart, rtol=1e-9, atol=1e-9)
    if isinstance(together, CostStack):
        assert len(together.groups) <= 6
    scale = rng.uniform(0.1, 1.0, (20, 1))
    apart = np.stack([cost.prox(row, t) for cost, row, t in zip(costs, x, scale, strict=True)])
    np.testing.assert_allclose(together.prox(x, scale), apart, atol=1e-9)


def test_a_stack_of_one_family_is_that_family():
    assert type(stack([COSTS["logistic"]] * 3)) is tacit.Logistic
    assert type(stack([COSTS["lasso"]] * 3)).__name__ == "Composite"


def test_a_mixed_stack_computes_what_each_agent_computes():
    costs = [COSTS[name] for name in ("quadratic", "logistic", "lasso", "huber", "poisson", "logistic")]
    together, x = stack(costs), RNG.standard_normal((6, 3))
    assert isinstance(together, CostStack)
    assert together.is_rough
    for verb in (
        lambda c, x: c.grad(x),
        lambda c, x: c.value(x),
        lambda c, x: c.hess(x),
        lambda c, x: c.prox(x, 0.4),
        lambda c, x: c.rough_prox(x, 0.4),
    ):
        apart = np.stack([verb(cost, row) for cost, row in zip(costs, x, strict=True)])
        np.testing.assert_allclose(verb(together, x), apart, rtol=1e-9, atol=1e-9)
    masked = together.with_affine(np.ones((6, 3)))
    np.testing.assert_allclose(masked.grad(x), together.grad(x) - together.affine + 1.0, atol=1e-12)


def test_total_curvature_sandwiches_the_hessian():
    costs = [COSTS[name] for name in ("quadratic", "logistic", "huber", "lasso")]
    below, above = stack(costs).total_curvature()
    for x in RNG.standard_normal((10, 3)):
        hessian = sum(cost.hess(x) for cost in costs)
        assert np.linalg.eigvalsh(hessian - below).min() >= -1e-9
        assert np.linalg.eigvalsh(above - hessian).min() >= -1e-9


def test_long_data_are_compressed_without_changing_the_cost():
    """1000 rows become 3, with the same gradient."""
    rng = np.random.default_rng(4)
    rows, labels = rng.standard_normal((1000, 3)), rng.standard_normal(1000)
    cost = tacit.LeastSquares(rows, labels)
    assert cost.A.shape == (3, 3)
    x = rng.standard_normal(3)
    np.testing.assert_allclose(cost.grad(x), rows.T @ (rows @ x - labels), rtol=1e-12)


def test_every_family_says_what_is_hidden():
    parts = {name: cost.affine_part for name, cost in COSTS.items()}
    assert "labels" in parts["logistic"].parts
    assert "the rough term" in parts["lasso"].open
    assert parts["absolute value"].parts == parts["huber"].parts == ()
    assert all(isinstance(cost, Family) for cost in COSTS.values())
    assert not COSTS["huber"].splits_exactly
    assert COSTS["logistic"].splits_exactly


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tacit.Quadratic(np.eye(2), np.ones(3)), r"must be \(3, 3\)"),
        (lambda: tacit.Quadratic([[1, 2], [0, 1]], [1, 1]), "symmetric"),
        (
            lambda: tacit.Quadratic(np.eye(2), [1, np.nan]),
            r"q has 1 missing or infinite value\(s\), the first at \[1\]",
        ),
        (lambda: tacit.LeastSquares(np.ones((2, 2)), np.ones(3)), "2 rows and b has 3"),
        (lambda: tacit.LeastSquares(np.ones(3), np.ones(3)), "a matrix is needed"),
        (lambda: tacit.LeastSquares(np.ones((0, 2)), []), "at least one record"),
        (lambda: tacit.LeastSquares([[1.0]], [1.0], l2=-1.0), "l2"),
        (lambda: tacit.Logistic([[1.0]], [0.5]), "0 and 1"),
        (lambda: tacit.Logistic([[1.0]], [0, 1]), "1 rows and y has 2"),
        (lambda: tacit.Poisson([[1.0]], [-1]), "negative"),
        (lambda: tacit.Poisson([[1.0]], [1, 2]), "agree"),
        (lambda: tacit.Huber([[1.0]], [1.0], delta=0), "delta"),
        (lambda: tacit.Huber([[1.0]], [1.0, 2.0]), "agree"),
        (lambda: tacit.L1(-1), "weight"),
        (lambda: tacit.L1(1, np.inf), "centre"),
        (lambda: tacit.ElasticNet(-1, 1), "weights"),
        (lambda: tacit.Box(1, 0), "empty"),
        (lambda: tacit.LeastSquares(A, B) + tacit.L1([1, 2]), "does not fit"),
        (lambda: COSTS["lasso"] + tacit.L1(1), "one rough term"),
        (lambda: tacit.CallableCost(2), "gradient"),
        (lambda: tacit.CallableCost(2, grad=lambda x: x[:1]), "2 entries"),
        (lambda: tacit.CallableCost(2, grad=lambda x: x, smoothness=1, strong_convexity=2), "bends"),
        (lambda: COSTS["quadratic"].with_affine(np.ones(2)), "shape"),
        (lambda: stack([COSTS["quadratic"], COSTS["affine"]]), "same x"),
    ],
)
def test_unusable_data_get_a_sentence(make, message):
    with pytest.raises(CostError, match=message):
        make()


def test_a_gradient_from_jax():
    jax = pytest.importorskip("jax")
    rows = A.copy()
    cost = tacit.CallableCost(3, value=lambda x: jax.numpy.logaddexp(0.0, rows @ x).sum(), smoothness=10.0)
    exact = tacit.Logistic(A, np.zeros(7))
    x = RNG.standard_normal(3)
    np.testing.assert_allclose(cost.grad(x), exact.grad(x), rtol=1e-12)


def test_without_jax_a_value_alone_is_refused(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    with pytest.raises(CostError, match="JAX"):
        tacit.CallableCost(2, value=lambda x: x @ x)


def test_the_graph_and_the_costs_must_match():
    two = [tacit.Quadratic.distance([1.0])] * 2
    with pytest.raises(CostError, match=r"2 cost\(s\) for 3 agents"):
        tacit.Problem(nx.path_graph(3), two)
    with pytest.raises(CostError, match="no cost for 1"):
        tacit.Problem(nx.path_graph(2), {0: two[0], 5: two[1]})
    with pytest.raises(CostError, match="a int is not a cost"):
        tacit.Problem(nx.path_graph(2), [1, 2])
    with pytest.raises(CostError, match="x0"):
        tacit.Problem(nx.path_graph(2), two, x0=[1.0, 2.0])
