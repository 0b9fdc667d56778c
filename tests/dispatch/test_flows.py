"""What a plan puts on the lines, against pandapower's DC power flow and against hand calculation."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.dispatch import dispatch, read_grid
from tacit.dispatch.flows import Lines, flows, overloads
from tacit.errors import InputError


def injected(grid, plan):
    """Return what every bus gives, less what it takes."""
    power = {bus: -need for bus, need in zip(grid.buses, grid.demand, strict=True)}
    for unit, path in zip(grid.generators, plan.output, strict=True):
        power[unit.bus] = power[unit.bus] + path
    return power


def lines(ends, reactance, *, limit=np.inf, shift=0.0):
    buses = sorted({bus for pair in ends for bus in pair})
    L = len(ends)
    return Lines(
        names=tuple(f"{a}–{b}" for a, b in ends),
        start=np.array([a for a, _ in ends]),
        end=np.array([b for _, b in ends]),
        reactance=np.broadcast_to(np.asarray(reactance, dtype=float), L),
        shift=np.broadcast_to(np.asarray(shift, dtype=float), L),
        limit=np.broadcast_to(np.asarray(limit, dtype=float), L),
        base=100.0,
        node={bus: bus for bus in buses},
    )


def test_power_divides_by_reactance():
    """Two ways from 0 to 2: one line of x = 0.3, and two of 0.3 in a row: twice as much takes the short one."""
    grid = lines([(0, 1), (1, 2), (0, 2)], 0.3)
    flow = flows(grid, {0: np.array([90.0, 30.0]), 1: np.zeros(2), 2: np.array([-90.0, -30.0])})
    np.testing.assert_allclose(flow, [[30.0, 10.0], [30.0, 10.0], [60.0, 20.0]], atol=1e-9)


def test_a_phase_shift_drives_power_round_a_ring():
    """φ on one of three equal lines: −bφ/3 runs round, with nobody giving or taking anything."""
    grid = lines([(0, 1), (1, 2), (2, 0)], 0.1, shift=[0.03, 0.0, 0.0])
    flow = flows(grid, {bus: np.zeros(1) for bus in range(3)})
    np.testing.assert_allclose(flow[:, 0], -100.0 / 0.1 * 0.03 / 3, atol=1e-9)


def test_pieces_that_do_not_balance_by_themselves_have_no_flows():
    grid = lines([(0, 1), (2, 3)], 0.1)
    flow = flows(grid, {0: np.ones(1), 1: np.zeros(1), 2: np.zeros(1), 3: -np.ones(1)})
    assert np.isnan(flow).all()


def test_a_line_without_reactance_is_a_stiff_one():
    grid = lines([(0, 1), (1, 2), (0, 2)], [0.0, 0.1, 0.1])
    flow = flows(grid, {0: np.array([100.0]), 1: np.zeros(1), 2: np.array([-100.0])})
    np.testing.assert_allclose(flow[:, 0], 50.0, rtol=1e-3)


def test_the_worst_period_of_every_line_is_reported_and_a_line_at_its_limit_is_not():
    grid = lines([(0, 1), (1, 2), (2, 3)], 0.1, limit=[10.0, 20.0, 5.0])
    found = overloads(grid, np.array([[10.0, -10.0], [-25.0, 30.0], [6.0, np.nan]]))
    assert [(o.line, o.period, o.mw, round(o.loading)) for o in found] == [
        ("1–2", 2, 30.0, 150),
        ("2–3", 1, 6.0, 120),
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        *("case5", "case9", "case118"),
        *(
            pytest.param(name, marks=pytest.mark.large)
            for name in ("case14", "case30", "case39", "case57", "case300")
        ),
    ],
)
def test_flows_equal_pandapower(name, pandapower_case):
    """The same plan in its `rundcpp`: transformers, taps and phase shifts included."""
    pandapower = pytest.importorskip("pandapower")
    net = pandapower_case(name)
    grid = read_grid(net)
    plan = dispatch(grid)
    made = dict(zip(plan.units, plan.output[:, 0], strict=True))
    for index in net.gen.index:
        net.gen.loc[index, "p_mw"] = made.get(f"gen {index}", 0.0)
    for index in net.sgen.index:
        net.sgen.loc[index, "p_mw"] = made.get(f"sgen {index}", net.sgen.p_mw[index])
    net.shunt["in_service"] = False  # no part of a dispatch
    pandapower.rundcpp(net)
    flow = flows(grid.lines, injected(grid, plan))[:, 0]
    ours = dict(zip(grid.lines.names, flow, strict=True))
    theirs = {f"line {k}": p for k, p in net.res_line.p_from_mw.items() if net.line.in_service[k]}
    theirs |= {f"trafo {k}": p for k, p in net.res_trafo.p_hv_mw.items() if net.trafo.in_service[k]}
    assert ours == pytest.approx(theirs, abs=1e-6 * max(abs(p) for p in theirs.values()))


@pytest.mark.filterwarnings("ignore")
def test_case5_is_overloaded_with_either_reader_and_its_optimum_with_limits_is_not(pandapower_case):
    """14 810 $ without limits; 17 479.90 $ with them, by pandapower's optimiser, and then no line is above."""
    pandapower = pytest.importorskip("pandapower")
    net = pandapower_case("case5")
    plan, other = dispatch("case5"), dispatch(net)
    assert plan.total_cost == pytest.approx(14810.0)
    assert plan.lines_checked == 2
    for each in (plan, other):
        assert [(round(o.limit), round(o.loading)) for o in each.overloads] == [(240, 118)]
    pandapower.rundcopp(net)
    assert net.res_cost == pytest.approx(17479.90, abs=0.01)
    grid = read_grid(net)
    output = np.concatenate([net.res_gen.p_mw, net.res_ext_grid.p_mw, net.res_sgen.p_mw])
    names = [f"{t} {k}" for t in ("gen", "ext_grid", "sgen") for k in getattr(net, t).index]
    made = dict(zip(names, output, strict=True))
    best = replace(other, output=np.array([[made[name]] for name in other.units]))
    flow = flows(grid.lines, injected(grid, best))
    assert not overloads(grid.lines, flow)
    assert (np.abs(flow[:, 0]) / grid.lines.limit).max() == pytest.approx(1.0, rel=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_a_network_without_costs_is_refused_and_named(pandapower_case):
    """Its price was 0, without a word."""
    pandapower = pytest.importorskip("pandapower")
    net = pandapower_case("case9")
    net.poly_cost = net.poly_cost[net.poly_cost.et == "none"]
    with pytest.raises(InputError, match=r"3 of 3 unit\(s\) have no cost.*gen 0, gen 1, ext_grid 0"):
        dispatch(net)
    pandapower.create_poly_cost(net, 0, "gen", cp1_eur_per_mw=3.0)
    with pytest.raises(
        InputError, match=r"2 of 3 unit\(s\) have no cost.*gen 1, ext_grid 0; give each a poly_cost"
    ):
        dispatch(net)


def test_islands_are_refused_by_name_and_dispatched_one_at_a_time():
    grid = read_grid("case70da")
    assert len(grid.islands()) == 2
    with pytest.raises(InputError, match=r"falls into 2 islands that no branch joins.*that of bus"):
        dispatch(grid)
    parts = [grid.island(piece[0]) for piece in grid.islands()]
    assert sum(part.demand.sum() for part in parts) == pytest.approx(grid.demand.sum())
    assert sum(len(part.generators) for part in parts) == len(grid.generators)
    for part in parts:
        assert dispatch(part).balance_error <= 1e-9


def test_a_bus_with_nothing_to_balance_is_no_island():
    grid = read_grid("case9")
    lonely = replace(grid, buses=(*grid.buses, 99), demand=np.vstack([grid.demand, [[0.0]]]))
    assert len(lonely.islands()) == 1
    assert dispatch(lonely).total_cost == pytest.approx(5216.0266, rel=1e-6)
