"""The public grids: the cost, the balance and the price of the centralised optimum, with everything hidden."""

import time

import numpy as np
import pytest

from tacit.dispatch import dispatch, read_grid
from tacit.dispatch.recovery import offering

SMALL = ["case5", "case6ww", "case9", "case14", "case24_ieee_rts", "case30", "case30pwl", "case39", "case60nordic",
         "case89pegase", "case118", "case300", "case_RTS_GMLC"]  # fmt: skip
MORE = ["case57", "case145", "case_ACTIVSg200", "case_ACTIVSg500"]  # relatives
LARGE = ["case1354pegase", "case_ACTIVSg2000"]
HUGE = ["case1888rte", "case2383wp", "case2869pegase", "case3375wp", "case6515rte", "case9241pegase",
        "case8387pegase", "case13659pegase", "case_ACTIVSg10k", "case_ACTIVSg25k", "case_ACTIVSg70k", "case_SyntheticUSA"]  # fmt: skip
SIGMA = 100.0


def unique_price(grid, price):
    """Tell whether only one price balances: less is offered below it, and more above it."""
    offers = offering(grid.generators)
    demand = grid.demand.sum(axis=0)
    below, above = offers(price * (1 - 1e-5)).sum(axis=0), offers(price * (1 + 1e-5)).sum(axis=0)
    return bool(((below < demand - 1e-6) & (demand + 1e-6 < above)).all())


def check(found, best, grid):
    """What must hold of every dispatch."""
    assert found.total_cost == pytest.approx(best.cost, rel=1e-6)
    assert found.balance_error <= 1e-6 * best.demand.max()
    low, high = (np.array([[getattr(unit, end)] for unit in grid.generators]) for end in ("low", "high"))
    assert (found.output >= low - 1e-9).all()
    assert (found.output <= high + 1e-9).all()
    if unique_price(grid, found.price):
        np.testing.assert_allclose(found.price, best.price, rtol=1e-6)


@pytest.mark.parametrize(
    "name", [*SMALL, *LARGE, *(pytest.param(name, marks=pytest.mark.large) for name in (*MORE, *HUGE))]
)
def test_secret_sums_reach_the_centralised_optimum(name, centralised):
    """Demands and cost curves hidden: on the branches of the grid, in a few sums."""
    grid, best = read_grid(name), centralised(name)
    start = time.process_time()
    found = dispatch(grid)
    assert time.process_time() - start <= 60.0 or name in HUGE
    check(found, best, grid)
    assert found.algorithm == "Bracket"
    assert found.rounds <= 20


GOSSIP = ["case5", "case9", "case14", "case30", "case30pwl", "case39", "case57", "case118"]


@pytest.mark.parametrize("name", GOSSIP)
def test_masks_of_100_megawatts_on_the_demands_reach_it_by_gossip(name, centralised):
    """Affine masks, as in the paper: agents gossip about the price along the branches."""
    grid = read_grid(name)
    found = dispatch(grid, sigma=SIGMA)
    check(found, centralised(name), grid)
    assert found.algorithm == "ADMM"
    assert found.records[1].phase1.sigma == SIGMA


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("case300", 6),
        *(
            pytest.param(name, 6, marks=pytest.mark.large)
            for name in ("case1354pegase", "case_ACTIVSg2000", "case_ACTIVSg200")
        ),
        *(pytest.param(name, None, marks=pytest.mark.large) for name in (*LARGE, "case_ACTIVSg200")),
    ],
)
@pytest.mark.filterwarnings("ignore::tacit.dispatch.market.SlowWarning")
def test_large_grids_by_gossip(name, links, centralised):
    """On a designed graph in seconds; on the branches of the grid it takes ten times as many rounds."""
    grid = read_grid(name)
    start = time.process_time()
    found = dispatch(grid, sigma=SIGMA, links=links)
    assert time.process_time() - start <= 60.0 or name != "case_ACTIVSg2000"
    check(found, centralised(name), grid)


@pytest.mark.parametrize("name", ["case39", "case_ACTIVSg200", "case_RTS_GMLC"])
def test_a_whole_day_at_once(name, centralised):
    """Twenty-four prices, one run."""
    hours = 0.95 - 0.08 * np.cos(np.arange(24) * np.pi / 12)
    grid = read_grid(name, profile=hours).without_ramps()
    found, best = dispatch(grid), centralised(name, profile=hours)
    check(found, best, grid)
    assert found.price.shape == (24,)
    np.testing.assert_allclose(found.output.sum(axis=0), best.demand, rtol=1e-9)


@pytest.mark.parametrize("kind", ["bus", "area", "generator"])
def test_whoever_the_agents_are_the_answer_is_the_same(kind, centralised):
    grid, best = read_grid("case24_ieee_rts"), centralised("case24_ieee_rts")
    check(dispatch(grid, agents=kind), best, grid)
