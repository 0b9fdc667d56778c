"""Ramp limits: generators that cannot jump from hour to hour."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.dispatch import RampedSupply, dispatch, read_grid
from tacit.errors import InfeasibleError, ProtectionError
from tacit.testing import check_cost

HOURS = 0.9 - 0.25 * np.cos(np.arange(8) * np.pi / 4)


def ramped(name, share, hours=HOURS):
    """Return a grid whose generators can go through that share of their range in a period."""
    grid = read_grid(name, profile=hours)
    units = tuple(replace(unit, ramp=share * (unit.high - unit.low)) for unit in grid.generators)
    return replace(grid, generators=units), {int(unit.name) - 1: unit.ramp for unit in units}


@pytest.mark.parametrize(
    ("name", "share"), [("case9", 0.075), ("case30pwl", 0.13), ("case5", 0.14), ("case14", 0.08)]
)
def test_ramps_reach_the_centralised_optimum(name, share, centralised):
    """Quadratic, linear and piecewise linear costs: cost, balance, limits and ramps all hold."""
    grid, ramps = ramped(name, share)
    found = dispatch(grid)
    best = centralised(name, profile=HOURS, ramp=[ramps.get(k, np.inf) for k in range(len(grid.generators))])
    free = dispatch(grid.without_ramps())
    assert free.total_cost < found.total_cost * (1 - 1e-5), "the ramps of this test must matter"
    assert found.total_cost == pytest.approx(best.cost, rel=1e-6)
    assert found.balance_error <= 1e-6 * best.demand.max()
    limit = np.array([[unit.ramp] for unit in grid.generators])
    assert (np.abs(np.diff(found.output, axis=1)) <= limit + 1e-6).all()


@pytest.mark.large
def test_a_day_of_the_reliability_test_system(centralised):
    """96 piecewise linear units, 73 buses, 24 hours, and ramps a thirtieth of what the file gives, which tie nothing."""
    hours = 0.9 * (0.85 + 0.15 * np.sin(np.arange(24) * np.pi / 12 - 2))
    grid = read_grid("case_RTS_GMLC", profile=hours)
    assert not grid.has_ramps
    grid = replace(grid, generators=tuple(replace(unit, ramp=unit.ramp / 30) for unit in grid.generators))
    assert grid.has_ramps
    ramps = {int(unit.name) - 1: unit.ramp for unit in grid.generators}
    best = centralised("case_RTS_GMLC", profile=hours, ramp=[min(ramps.get(k, 0.0), 1e4) for k in range(158)])
    found = dispatch(grid)
    assert found.total_cost == pytest.approx(best.cost, rel=1e-6)
    assert found.balance_error <= 1e-6 * best.demand.max()


def test_the_dual_with_ramps_is_a_cost_like_any_other():
    """Derivatives, constants, the affine split and stacking, through the public kit."""
    grid, _ = ramped("case9", 0.05)
    rng = np.random.default_rng(1)
    cost = RampedSupply(
        grid.generators[:2], rng.uniform(0, 50, 8), rho=[0.1, 0.2], centre=rng.uniform(50, 100, (2, 8)), tau=0.5,
        start=np.full(8, 20.0),
    )  # fmt: skip
    check_cost(cost, scale=25.0)


def test_a_demand_that_rises_faster_than_generators_is_refused():
    grid, _ = ramped("case9", 0.01, hours=np.array([0.2, 1.5, 0.2, 1.5]))
    with pytest.raises(InfeasibleError, match=r"ramp limits: at any price [\d.]+ MW are out of balance in period"):
        dispatch(grid)


def test_ramps_are_dispatched_by_secret_sums_only():
    grid, _ = ramped("case9", 0.05)
    with pytest.raises(ProtectionError, match=r"leave sigma out, or the ramp limits"):
        dispatch(grid, sigma=100.0)
