"""What a dispatch promises beyond its cost: refusals, fairness, runtimes, and words about privacy."""

import itertools
import json
import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import ADMM, Bracket
from tacit.costs import stack
from tacit.dispatch import Generator, Grid, Supply, agents_of, dispatch, polynomial, protecting_links, read_grid
from tacit.dispatch.curves import summed
from tacit.dispatch.market import slowness
from tacit.errors import AlgorithmError, InfeasibleError, ProtectionError, UnboundedError
from tacit.masks import AffineMasks, Keystreams, SecretSums, agent_keys
from tacit.network import Network
from tacit.runtimes import Stacked


def grid_of(units, demands, links=None):
    """Return a ring of buses with these demands, and (bus, coefficients, low, high) for every generator."""
    generators = tuple(
        Generator(str(k + 1), bus, *polynomial(f, low, high, name=f"generator {k + 1}"))
        for k, (bus, f, low, high) in enumerate(units)
    )
    n = len(demands)
    ring = tuple((i, (i + 1) % n) for i in range(n)) if links is None else links
    return Grid(
        name="made up",
        buses=tuple(range(n)),
        demand=np.array(demands, dtype=float)[:, None],
        generators=generators,
        branches=ring,
    )


EQUAL = [
    (0, [20.0, 0.0], 0.0, 100.0),
    (1, [20.0, 0.0], 0.0, 50.0),
    (2, [20.0, 0.0], 10.0, 30.0),
    (3, [30.0, 0.0], 0.0, 99.0),
]


@pytest.mark.parametrize("sigma", [None, 100.0])
def test_units_of_the_same_price_run_at_the_same_share_of_their_room(sigma):
    """Nobody is favoured where the optimum does not say who should run: 85 of 170 MW above must-run."""
    found = dispatch(grid_of(EQUAL, [20.0, 30.0, 40.0, 5.0]), sigma=sigma)
    np.testing.assert_allclose(found.output[:, 0], [50.0, 25.0, 20.0, 0.0], atol=1e-6)
    assert found.share[0] == pytest.approx(0.5, abs=1e-6)
    assert found.price[0] == pytest.approx(20.0, rel=1e-6)
    assert found.total_cost == pytest.approx(20.0 * 95.0, rel=1e-9)


def test_must_run_output_is_respected_at_any_price():
    """A dear unit in service runs at its Pmin, and not above."""
    found = dispatch(grid_of([(0, [10.0, 0.0], 0.0, 100.0), (1, [90.0, 0.0], 15.0, 60.0)], [40.0, 20.0, 10.0]))
    np.testing.assert_allclose(found.output[:, 0], [55.0, 15.0], atol=1e-6)


def test_a_demand_between_two_steps_balances_where_the_price_is_not_unique():
    """100 MW is all of the cheap unit and nothing of the dear one: any price between them will do."""
    found = dispatch(grid_of([(0, [10.0, 0.0], 0.0, 100.0), (1, [90.0, 0.0], 0.0, 60.0)], [40.0, 50.0, 10.0]))
    np.testing.assert_allclose(found.output[:, 0], [100.0, 0.0], atol=1e-6)
    assert 10.0 - 1e-6 <= found.price[0] <= 90.0 + 1e-6


@pytest.mark.parametrize("sigma", [None, 100.0])
def test_a_shortfall_is_named_in_megawatts(sigma):
    units = [(0, [10.0, 0.0], 5.0, 60.0), (2, [0.1, 8.0, 0.0], 5.0, 30.0)]
    with pytest.raises(InfeasibleError, match=r"the demand is 12.5 MW more than all generators can give; commit"):
        dispatch(grid_of(units, [50.0, 42.5, 10.0]), sigma=sigma)
    with pytest.raises(InfeasibleError, match=r"the demand is 4 MW less than all generators must run at"):
        dispatch(grid_of(units, [1.0, 2.0, 3.0]), sigma=sigma)
    with pytest.raises(InfeasibleError, match=r"in period 3 of 3 is 9 MW more"):
        dispatch(grid_of(units, [50.0, 10.0, 6.0]).over([1.0, 0.5, 1.5]), sigma=sigma)


def test_negative_prices_free_units_and_flexible_loads():
    """A load that pays up to 50 for 20 MW, wind at −5, and a unit at 60: the load takes what is cheap enough."""
    units = [(0, [-5.0, 0.0], 0.0, 30.0), (1, [60.0, 0.0], 0.0, 99.0), (2, [50.0, 0.0], -20.0, 0.0)]
    found = dispatch(grid_of(units, [5.0, 5.0, 5.0]))
    np.testing.assert_allclose(found.output[:, 0], [30.0, 0.0, -15.0], atol=1e-6)
    assert found.price[0] == pytest.approx(50.0, rel=1e-6)
    calm = dispatch(grid_of(units[:2], [5.0, 5.0, 5.0]))
    assert calm.price[0] == pytest.approx(-5.0, rel=1e-6)


@pytest.mark.parametrize("runtime", ["agents", "peers"])
@pytest.mark.parametrize("sigma", [None, 100.0])
def test_apart_is_together(runtime, sigma):
    """Threads with links, and processes with TLS, find what all agents as arrays find."""
    grid = grid_of(EQUAL, [20.0, 30.0, 40.0, 5.0])
    apart, together = dispatch(grid, sigma=sigma, runtime=runtime), dispatch(grid, sigma=sigma)
    np.testing.assert_allclose(apart.output, together.output, atol=1e-5)
    assert apart.price == pytest.approx(together.price, rel=1e-6)


def test_no_number_of_anybody_is_in_what_is_recorded():
    """Planted demands and costs do not surface in records, statements or representations."""
    grid = grid_of(
        [(0, [13.57913, 0.0], 0.0, 97.53197), (1, [0.024681, 8.0, 0.0], 0.0, 90.0)], [35.79135, 46.80246, 5.0]
    )
    for sigma in (None, 100.0):
        found = dispatch(grid, sigma=sigma)
        said = " ".join([repr(grid), *found.says, *(record.to_json() for record in found.records)])
        said = re.sub(r'"seconds": ?[\d.e+-]+', "", said)  # other digits every time, a secret's once in a million
        for secret in ("13.57913", "97.53197", "0.024681", "35.79135", "46.80246"):
            assert secret not in said


def test_buses_on_one_line_are_named_with_links_that_help():
    """case14 has one bus at the end of a line: bus 8, behind bus 7."""
    found = dispatch("case14")
    said = " ".join(found.says)
    assert "cost curves and demands of agent(s) 1, 2, 3, 6, 8 follow from the sums" in said
    assert "Demands and cost curves of the 9 buses that no line above names are hidden" in said
    assert said.startswith("NOT PRIVATE: agent 8 has one neighbour, who knows all its masks")
    links = protecting_links(nx.Graph(read_grid("case14").branches))
    assert f"{links[0][0]} – {links[0][1]}" in said
    assert found.exposed == (8,)
    assert list(found.helpful) == links
    helped = nx.Graph([*read_grid("case14").branches, *links])
    assert nx.is_biconnected(helped)


def test_links_for_a_large_grid_leave_no_bus_with_one_neighbour():
    graph = nx.Graph(read_grid("case118").branches)
    assert min(degree for _, degree in graph.degree) == 1
    graph.add_edges_from(protecting_links(graph))
    assert min(degree for _, degree in graph.degree) == 2


def test_the_statement_says_what_masks_leave_open():
    hidden = " ".join(dispatch("case9", sigma=100.0, links=4).says)
    open_ = dispatch("case9", masked=False).says
    assert "Cost curves are not hidden: a neighbour reads them" in hidden
    assert "before a guess is right more than 51 %" in hidden, "the certificate against any one bus"
    assert open_ == ("NOT PRIVATE: nothing was hidden, and neighbours can read the costs from what they receive.",)
    assert [stamp.reason for stamp in dispatch("case118", links=4).records[1].stamps] == ["answer tells"]


def test_one_bus_of_case9_reads_the_slopes_of_the_other_units_and_the_run_says_so():
    """What all others offer at the prices tried is a polyline: its slope between two limits is a unit's 1/(2c₂)."""
    grid = read_grid("case9")
    told, step = [], Bracket.step

    def listening(self, state, peers, cost):
        if not isinstance(peers, SecretSums):  # a run on invented costs
            return step(self, state, peers, cost)
        points = []

        class Ears:
            resolution = peers.resolution

            def sum(self, v):
                told.append((np.concatenate(points), peers.sum(v)))
                return told[-1][1]

        class Asked:
            def slope_right(self, x):
                points.append(x)
                return cost.slope_right(x)

            def __getattr__(self, name):
                return getattr(cost, name)

        return step(self, state, Ears(), Asked())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bracket, "step", listening)
        found = dispatch(grid, links=4)
    at, offers = (np.concatenate([part[k] for part in told if len(part[0]) == len(part[1])]) for k in (0, 1))
    own = grid.generators[0].curve
    prices, first = np.unique(at, return_index=True)
    rest = offers[first] - np.interp(prices, own.price, own.power)
    apart = np.diff(prices) > 1e-2
    slopes = (np.diff(rest) / np.where(apart, np.diff(prices), 1.0))[apart]
    for unit in grid.generators[1:]:
        exact = np.ptp(unit.curve.power) / np.ptp(unit.curve.price)
        others = [
            0.0,
            *(np.ptp(u.curve.power) / np.ptp(u.curve.price) for u in grid.generators[1:] if u is not unit),
        ]
        assert min(np.abs(slopes - exact - other).min() for other in others) < 1e-6
    record = found.records[1]
    assert not record.private
    stamp = next(stamp for stamp in record.stamps if stamp.reason == "answer tells")
    assert stamp.agents == ("1", "2", "3")
    assert (record.tells.hidden, record.tells.determined) == (14, 6)


def test_an_area_tells_the_curve_of_its_units_together():
    """Of areas, only curves that are already sums can be read; the record counts what is told of them."""
    assert dispatch("case30", agents="area", links=2).records[1].tells.noun == "unit"


def test_masks_and_no_masks_do_not_go_together():
    with pytest.raises(ProtectionError, match="give one of the two"):
        dispatch("case9", sigma=100.0, masked=False)


def test_a_neighbour_reads_a_demand_off_the_first_round_without_masks_and_not_with_them():
    """A load without generators answers the first round of gossip with a price of t·d: whoever hears it knows d."""
    grid = read_grid("case9")
    network = Network(nx.Graph(grid.branches))
    at = {bus: [unit.curve for unit in grid.generators if unit.bus == bus] for bus in grid.buses}
    need = dict(zip(grid.buses, grid.demand, strict=True))
    cost = stack([Supply(summed(at[bus]), need[bus]) for bus in network.agents])
    peers, gossip, load = Stacked(network), ADMM(penalty=1.0), network.index[5]
    t = 1.0 / (2.0 * 1.0 * network.degrees[load])

    def guess(effective):
        first = gossip.step(gossip.init(np.zeros((9, 1)), effective), peers, effective)
        return float(first.x[load, 0]) / t

    assert guess(cost) == pytest.approx(90.0, abs=1e-9), "the demand of bus 5, as it is in the file"
    masks = AffineMasks(100.0)
    guesses = []
    for _ in range(300):
        source = Keystreams(agent_keys(len(network)), network.degrees)
        guesses.append(guess(masks.hide(cost, peers, source, network=network).cost))
    assert np.std(guesses) == pytest.approx(100.0 * np.sqrt(2.0 * network.degrees[load]), rel=0.2)


def test_bracketing_refuses_costs_that_tie_unknowns_and_sums_without_a_minimum():
    ties = tacit.Problem(nx.complete_graph(3), [tacit.Quadratic([[2.0, 1.0], [1.0, 2.0]], [1.0, 1.0])] * 3)
    with pytest.raises(AlgorithmError, match="these costs tie several together"):
        tacit.solve(ties, algorithm="bracket")
    slopes = tacit.Problem(nx.complete_graph(3), [Supply(polynomial([1.0, 0.0], 0.0, 5.0, name="g")[0], [9.0])] * 3)
    with pytest.raises(UnboundedError, match="no minimum"):
        tacit.solve(slopes, algorithm="bracket")
    with pytest.raises(AlgorithmError, match="at least 1"):
        Bracket(points=0)


def test_bracketing_finds_medians_and_roots_alike():
    """A kink, a straight piece, and points far from the start."""
    for centre, points in itertools.product((-3e5, 0.0, 1.25, 7e4), (1, 7, 31)):
        costs = [tacit.Quadratic.distance([centre + k]) for k in (-1.0, 0.0, 1.0)]
        problem = tacit.Problem(nx.complete_graph(3), costs)
        answer = tacit.solve(problem, privacy=tacit.SumMasks(bound=1e9, words=2), algorithm=Bracket(points=points))
        assert answer.converged
        assert answer.x[0] == pytest.approx(centre, abs=1e-6 * max(abs(centre), 1e-3))


def test_json_and_csv_carry_the_schedule():
    found = dispatch(replace(read_grid("case9"), name="mine"))
    told = json.loads(found.to_json())
    assert told["grid"] == "mine"
    assert told["total_cost"] == pytest.approx(5216.0266, rel=1e-6)
    assert sum(row["mw"][0] for row in told["output"]) == pytest.approx(315.0)
    lines = found.to_csv().splitlines()
    assert lines[0] == "generator,bus,mw"
    assert len(lines) == 4


def test_gossip_along_a_thousand_branches_says_beforehand_that_it_takes_minutes():
    grid = read_grid("case1354pegase")
    for links, sigma, slow in ((None, 100.0, True), (6, 100.0, False), (None, None, False)):
        sentence = slowness(agents_of(grid, "bus", links=links), links=links, sigma=sigma)
        assert (sentence is not None) == slow
        assert sentence is None or "1354 agents takes ten thousand rounds and more" in sentence
