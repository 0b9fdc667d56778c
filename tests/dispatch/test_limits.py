"""Demand exactly at what all units must run at, or can give at most: the answer exists, and its price is one of many."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import Bracket
from tacit.dispatch import Supply, dispatch, polynomial, read_grid
from tacit.errors import UnboundedError

GRIDS = ["case5", "case9", "case14", "case24_ieee_rts", "case30pwl", "case39", "case118", "case300"]
QUICK = ("case5", "case9", "case14", "case118")


def at_limit(name, end):
    """Return a grid whose demand is what all units give at that end, and that end of every unit."""
    grid = read_grid(name)
    ends = np.array([[getattr(unit, end)] for unit in grid.generators])
    return grid.over(np.full((len(grid.buses), 1), ends.sum() / len(grid.buses))), ends


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.large] * (name not in QUICK)) for name in GRIDS]
)
def test_every_unit_runs_at_its_limit_and_the_price_is_the_marginal_one(name, end, masked):
    """Demands as floats write them: the sum is off by rounding, to either side."""
    grid, ends = at_limit(name, end)
    plan = dispatch(grid, masked=masked)
    np.testing.assert_allclose(plan.output, ends, atol=1e-6)
    prices = [unit.curve.price[0 if end == "low" else -1] for unit in grid.generators if unit.high > unit.low]
    marginal = min(prices) if end == "low" else max(prices)
    assert plan.price[0] == pytest.approx(marginal, rel=1e-8, abs=1e-9)
    assert plan.at_limits == ({"low": "lower", "high": "upper"}[end],)
    assert plan.balance_error <= 1e-8 * max(abs(ends).sum(), 1.0)


@pytest.mark.parametrize("off", [-3e-10, 3e-10])
@pytest.mark.parametrize("end", ["low", "high"])
def test_a_demand_that_few_digits_put_beside_the_limit_is_at_it(end, off):
    grid, ends = at_limit("case9", end)
    plan = dispatch(grid.over(grid.demand * (1.0 + off)))
    np.testing.assert_allclose(plan.output, ends, atol=1e-6)


@pytest.mark.parametrize("end", ["low", "high"])
def test_gossip_balances_there_too(end):
    grid, ends = at_limit("case9", end)
    plan = dispatch(grid, sigma=100.0)
    np.testing.assert_allclose(plan.output, ends, atol=1e-6)
    assert plan.at_limits[0] is not None


def test_one_period_of_several_may_be_at_a_limit():
    grid = read_grid("case9")
    low, high = (sum(getattr(unit, end) for unit in grid.generators) for end in ("low", "high"))
    need = grid.demand.sum()
    plan = dispatch(grid.over([low / need, 1.0, high / need]))
    assert plan.at_limits == ("lower", None, "upper")
    np.testing.assert_allclose(plan.price, [2.9, 24.044190, 67.15], rtol=1e-6)


def test_units_without_any_room_are_dispatched_at_any_price():
    """Lower and upper limits are the same: the sum is flat everywhere, and the start is as good as any price."""
    curve = polynomial([20.0, 0.0], 5.0, 5.0, name="g")[0]
    problem = tacit.Problem(nx.complete_graph(3), [Supply(curve, [5.0])] * 3)
    for privacy in (None, tacit.SumMasks()):
        answer = tacit.solve(problem, privacy=privacy, algorithm="bracket")
        assert answer.converged
        assert answer.x[0] == 0.0


def test_slack_is_how_much_slope_counts_as_none():
    curve = polynomial([20.0, 0.0], 0.0, 5.0, name="g")[0]
    problem = tacit.Problem(nx.complete_graph(3), [Supply(curve, [5.0 + 1e-6])] * 3)
    with pytest.raises(UnboundedError, match="no minimum"):
        tacit.solve(problem, algorithm="bracket")
    answer = tacit.solve(problem, algorithm=Bracket(slack=4e-6))
    assert answer.x[0] == pytest.approx(20.0)
