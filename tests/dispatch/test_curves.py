"""Cost curves and their duals: against the definition, and through the public kit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.costs import stack
from tacit.dispatch import Curve, Generator, Supply, piecewise, polynomial
from tacit.dispatch.chains import best_path, steep
from tacit.dispatch.curves import along, summed
from tacit.errors import CostError
from tacit.testing import check_cost

numbers = st.floats(0.0, 60.0).map(lambda v: round(v, 3))
linear = st.builds(lambda c, low, room: polynomial([c, 0.0], low, low + room, name="g"), numbers, numbers, numbers)
quadratic = st.builds(
    lambda a, c, low, room: polynomial([0.01 + a / 100, c, 5.0], low, low + room, name="g"), numbers, numbers, numbers, numbers
)  # fmt: skip
stepped = st.builds(
    lambda slopes, widths: piecewise(
        np.c_[np.r_[0, np.cumsum(np.array(widths) + 1)], np.r_[0, np.cumsum(np.sort(slopes) * (np.array(widths) + 1))]],
        0.0, float(np.sum(np.array(widths) + 1)), name="g",
    ),
    st.lists(numbers, min_size=3, max_size=3), st.lists(numbers, min_size=3, max_size=3),
)  # fmt: skip
curves = st.one_of(linear, quadratic, stepped)


def unit(made):
    return Generator("g", 1, *made)


@settings(max_examples=60)
@given(curves, st.floats(-5.0, 70.0))
def test_what_is_offered_at_a_price_earns_most(made, price):
    """S(λ) maximises λP − f(P): nothing on a fine grid of outputs earns more."""
    generator = unit(made)
    P = np.linspace(generator.low, generator.high, 301)
    best = along(*generator.curve, np.array([price]))
    earned = price * best - generator.cost(best)
    assert (price * P - generator.cost(P)).max() <= earned[0] + 1e-7 * (1 + np.abs(earned[0]))


@settings(max_examples=60)
@given(st.lists(curves, min_size=1, max_size=4), st.floats(-60.0, 60.0), st.floats(0.01, 50.0))
def test_the_proximal_map_of_curves_with_kinks_is_exact(made, v, t):
    """u = prox(v): what is offered just below u, and just above it, has (v − u)/t between them."""
    cost = Supply(summed([curve for curve, _ in made]), [10.0])
    u = cost.prox(np.array([v]), t)
    pull = (v - u) / t
    below, above = cost.grad(u - 1e-7), cost.grad(u + 1e-7)
    assert below[0] - 1e-4 <= pull[0] <= above[0] + 1e-4


@settings(max_examples=40)
@given(st.lists(curves, min_size=1, max_size=5), st.lists(st.floats(-5.0, 70.0), min_size=1, max_size=5))
def test_a_sum_of_curves_offers_what_its_parts_offer(made, prices):
    x = np.array(prices)
    parts = [curve for curve, _ in made]
    np.testing.assert_allclose(along(*summed(parts), x), sum(along(*part, x) for part in parts), atol=1e-9)


def test_the_dual_is_a_cost_like_any_other():
    """Derivatives, constants, the affine split and stacking, through the public kit."""
    made = [
        polynomial([0.11, 5.0, 150.0], 10.0, 250.0, name="a"),
        polynomial([0.085, 1.2, 600.0], 10.0, 300.0, name="b"),
    ]
    check_cost(Supply(summed([curve for curve, _ in made]), [90.0, 120.0, 60.0]), scale=30.0)


def test_agents_with_and_without_generators_stack():
    """Padding the knots of shorter curves changes nothing."""
    rng = np.random.default_rng(0)
    costs = [Supply(summed([]), rng.uniform(0, 9, 2))]
    for k in range(1, 5):
        made = [polynomial([rng.uniform(0.1, 1), 2.0, 0.0], 0.0, rng.uniform(5, 50), name="g")[0] for _ in range(k)]
        costs.append(Supply(summed(made), rng.uniform(0, 90, 2)))
    together, x = stack(costs), rng.uniform(0, 40, (5, 2))
    for verb in ("grad", "hess", "value"):
        apart = np.stack([getattr(cost, verb)(row) for cost, row in zip(costs, x, strict=True)])
        np.testing.assert_allclose(getattr(together, verb)(x), apart, atol=1e-9)
    t = rng.uniform(0.1, 2, (5, 1))
    apart = np.stack([cost.prox(row, float(s[0])) for cost, row, s in zip(costs, x, t, strict=True)])
    np.testing.assert_allclose(together.prox(x, t), apart, atol=1e-9)


def test_a_piecewise_linear_cost_passes_through_its_points():
    points = [(0.0, 100.0), (10.0, 150.0), (30.0, 350.0), (40.0, 500.0)]
    generator = unit(piecewise(points, 0.0, 40.0, name="g"))
    np.testing.assert_allclose(generator.cost([p for p, _ in points]), [f for _, f in points])
    inside = unit(piecewise(points, 5.0, 50.0, name="g"))
    np.testing.assert_allclose(inside.cost([5.0, 10.0, 50.0]), [125.0, 150.0, 650.0])


def test_a_cubic_is_many_short_pieces():
    generator = unit(polynomial([1e-4, 0.01, 3.0, 20.0], 0.0, 100.0, name="g"))
    P = np.linspace(0.0, 100.0, 33)
    np.testing.assert_allclose(generator.cost(P), np.polyval([1e-4, 0.01, 3.0, 20.0], P), rtol=1e-7)


@pytest.mark.parametrize(
    "make",
    [
        lambda: polynomial([-0.1, 5.0, 0.0], 0.0, 50.0, name="unit 7"),
        lambda: piecewise([(0, 0), (10, 100), (20, 120)], 0.0, 20.0, name="unit 7"),
    ],
)
def test_costs_that_are_not_convex_are_refused(make):
    with pytest.raises(CostError, match=r"^unit 7: its cost is not convex"):
        make()


def test_costs_that_are_convex_but_for_their_digits_are_taken():
    curve, _ = piecewise(
        [(396, 3208.986), (397.33333, 3219.79067), (398.66667, 3230.59533), (400, 3241.4)], 396, 400, name="g"
    )
    assert (np.diff(curve.price) >= 0).all()


def test_limits_in_the_wrong_order_are_refused():
    with pytest.raises(CostError, match="the lower limit of its output exceeds the upper one"):
        polynomial([1.0, 0.0], 20.0, 10.0, name="g")


def test_a_path_under_ramp_limits_is_the_best_there_is():
    """Against a general optimiser, for marginal costs with and without jumps."""
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(0)
    for trial in range(6):
        ends, steps, tilt = np.sort(rng.uniform(0, 100, 4)), np.sort(rng.uniform(5, 50, 3)), 0.1 * (trial % 2)
        power, price = np.r_[ends[0], np.repeat(ends[1:3], 2), ends[3]], np.repeat(steps, 2)
        x, ramp, centre, rho = rng.uniform(0, 60, 12), rng.uniform(1, 20), rng.uniform(ends[0], ends[3], 12), 0.2
        knots, marginal = steep(power, price + tilt * power)
        path = best_path(
            x[None], knots[None], marginal[None], rho=np.array([rho]), centre=centre[None], ramp=np.array([ramp])
        )[0]
        P, above = cp.Variable(12), cp.Variable(12)
        start = np.r_[0.0, np.cumsum(steps * np.diff(ends))]
        limits = [ends[0] <= P, ends[3] >= P, cp.abs(P[1:] - P[:-1]) <= ramp]
        limits += [start[k] + steps[k] * (P - ends[k]) <= above for k in range(3)]
        bent = tilt / 2 * cp.sum_squares(P) + rho / 2 * cp.sum_squares(P - centre)
        cp.Problem(cp.Maximize(x @ P - cp.sum(above) - bent), limits).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(path, P.value, atol=1e-3)


def test_a_curve_is_never_shown():
    generator = Generator("3", 4, Curve(np.array([13.57913, 13.57913]), np.array([0.0, 24.68024])), ramp=9.87654)
    assert repr(generator) == "Generator(name='3', bus=4)"
    assert "24.68" not in repr(Supply(generator.curve, [35.79135]))
