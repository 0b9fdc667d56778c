"""Grids from files: what is in service, in which units, and who the agents are."""

import networkx as nx
import numpy as np
import pytest

from tacit.dispatch import agents_of, read_grid
from tacit.errors import FileError, InputError

CASE = """function mpc = tiny
mpc.version = '2';
mpc.baseMVA = 100;
mpc.bus = [
 1 3 50 0 0 0 1 1 0 110 1 1.1 0.9;
 2 1 30 0 0 0 1 1 0 110 1 1.1 0.9;
 3 1 20 0 0 0 2 1 0 110 1 1.1 0.9;
 4 4 99 0 0 0 2 1 0 110 1 1.1 0.9;
];
mpc.gen = [
 1 0 0 9 -9 1 100 1 80 10;
 2 0 0 9 -9 1 100 0 80 10;
 3 0 0 9 -9 1 100 1 60 0;
 4 0 0 9 -9 1 100 1 60 0;
];
mpc.branch = [
 1 2 0 0.1 0 9 9 9 0 0 1 -360 360;
 2 1 0 0.1 0 9 9 9 0 0 1 -360 360;
 2 3 0 0.1 0 9 9 9 0 0 1 -360 360;
 1 3 0 0.1 0 9 9 9 0 0 0 -360 360;
 3 4 0 0.1 0 9 9 9 0 0 1 -360 360;
];
mpc.gencost = [
 2 0 0 3 0.1 5 100 0;
 2 0 0 3 0.1 5 100 0;
 1 0 0 2 0 0 60 600;
 2 0 0 2 5 0 0 0;
];
"""


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.m"
    path.write_text(CASE)
    return path


def test_only_what_is_in_service_counts(tiny):
    """GEN_STATUS, BR_STATUS, isolated buses, and parallel branches."""
    grid = read_grid(tiny)
    assert grid.buses == (1, 2, 3)
    assert grid.demand.tolist() == [[50.0], [30.0], [20.0]]
    assert [(unit.name, unit.bus, unit.low, unit.high) for unit in grid.generators] == [
        ("1", 1, 10, 80),
        ("3", 3, 0, 60),
    ]
    assert grid.branches == ((1, 2), (2, 3))
    assert grid.generators[0].cost(20.0) == pytest.approx(0.1 * 400 + 5 * 20 + 100)
    assert grid.generators[1].cost(20.0) == pytest.approx(200.0)


def test_loads_in_kilowatts_are_megawatts(tiny):
    """Some files of distribution grids end in a statement that says so."""
    tiny.write_text(CASE + "mpc.bus(:, [PD, QD]) = mpc.bus(:, [PD, QD]) / 1e3;\n")
    assert read_grid(tiny).demand.sum() == pytest.approx(0.1)


def with_ramps(*each):
    """Return a case of four units at bus 1, with these RAMP_AGC, RAMP_10 and RAMP_30."""
    units = "".join(f" 1 0 0 9 -9 1 100 1 80 0 0 0 0 0 0 0 {ramps} 0 0;\n" for ramps in each)
    before, after = CASE.split("mpc.gen = [")[0], CASE.split("mpc.branch")[1]
    return f"{before}mpc.gen = [\n{units}];\nmpc.branch{after}".replace("1 0 0 2 0 0 60 600;", "2 0 0 2 5 0 0 0;")


def test_the_same_number_in_every_ramp_column_is_megawatts_a_minute(tiny):
    """case_RTS_GMLC: no unit does as much in half an hour as in a minute; its source says 3 MW a minute."""
    tiny.write_text(with_ramps("3 3 3", "3 3 3", "3 20 50", "0 3 3"))
    assert [unit.ramp for unit in read_grid(tiny).generators] == [180.0, 180.0, 100.0, 6.0]
    assert read_grid("case_RTS_GMLC").generators[0].ramp == 180.0


def test_ramps_are_read_in_megawatts_an_hour(tiny):
    """RAMP_AGC is MW a minute, RAMP_10 and RAMP_30 are MW in ten and in thirty minutes; 0 means that none is given."""
    tiny.write_text(with_ramps("0 0 20", "0 5 0", "2 0 0", "2 15 40"))
    day = read_grid(tiny, profile=np.ones(24))
    assert [unit.ramp for unit in day.generators] == [40.0, 30.0, 120.0, 80.0]
    assert day.has_ramps
    assert not day.without_ramps().has_ramps
    assert not read_grid(tiny).has_ramps, "one period has no ramps"
    assert read_grid("case118", profile=np.ones(24)).generators[0].ramp == np.inf


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello", "is not a MATPOWER case"),
        (CASE.split("mpc.gencost")[0], "has no gencost table"),
        (CASE.replace("2 0 0 2 5 0 0 0;", ""), "4 generators, but 3 rows of gencost"),
        (CASE.replace(" 1 0 0 2 0 0 60 600;", " 3 0 0 2 0 0 60 600;"), "cost model 3"),
        (CASE.replace("1 80 10", "0 80 10").replace("1 60 0", "0 60 0"), "no generator is in service"),
    ],
)
def test_files_that_do_not_say_enough_are_refused(tiny, text, says):
    tiny.write_text(text)
    with pytest.raises(InputError, match=says):
        read_grid(tiny)


def test_names_that_nobody_knows_are_refused(tmp_path):
    with pytest.raises(FileError, match="MATPOWER has no case of that name"):
        read_grid("case_of_champagne")
    with pytest.raises(FileError, match="no such file"):
        read_grid(tmp_path / "nowhere.m")
    with pytest.raises(InputError, match="is not a pandapower network"):
        read_grid(object())


def test_profiles_must_fit():
    grid = read_grid("case9")
    assert grid.over(np.ones((9, 4))).periods == 4
    with pytest.raises(InputError, match=r"\(4, 4\) fits neither all demands"):
        grid.over(np.ones((4, 4)))


@pytest.mark.parametrize("kind", ["bus", "area", "generator"])
def test_agents_hold_every_generator_once_and_all_of_the_demand(kind):
    grid = read_grid("case_RTS_GMLC")
    agents = agents_of(grid, kind)
    assert sorted(k for held in agents.holds for k in held) == list(range(len(grid.generators)))
    assert agents.demand.sum() == pytest.approx(grid.demand.sum())
    assert nx.is_connected(agents.graph)
    assert len(agents.graph) == {"bus": 73, "area": 3, "generator": 96}[kind]


def test_a_designed_graph_gives_everybody_as_many_links():
    agents = agents_of(read_grid("case39"), "bus", links=4)
    assert {degree for _, degree in agents.graph.degree} == {4}
    with pytest.raises(InputError, match="between 2 and 38"):
        agents_of(read_grid("case39"), "bus", links=39)


def test_pieces_that_no_branch_joins_are_linked(tiny):
    tiny.write_text(CASE.replace(" 2 3 0 0.1 0 9 9 9 0 0 1", " 2 3 0 0.1 0 9 9 9 0 0 0"))
    agents = agents_of(read_grid(tiny))
    assert agents.joined == ((1, 3),)
    assert nx.is_connected(agents.graph)


def test_unknown_kinds_and_single_agents_are_refused():
    with pytest.raises(InputError, match="one of bus, area, generator"):
        agents_of(read_grid("case9"), "city")
    with pytest.raises(InputError, match=r"has 1 agent\(s\) of the kind 'area'"):
        agents_of(read_grid("case9"), "area")
