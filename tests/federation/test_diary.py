"""What is logged and counted around one agent, from links that are made up, at times that are made up."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from tacit.protocol.record import Stage
from tacit.runtimes.peers import Diary
from tacit.runtimes.peers.spells import Spell


def link(name, **more):
    """Return a link as a diary sees it: never up yet, unless told otherwise."""
    channel = SimpleNamespace(finished=False, unfit=False, outdated=False, used=0, inbox=[])
    facts = {"connected": 0, "open": False, "trouble": "", "turned_away": 0, "last_seen": 0.0, "dials": True}
    counts = {"violations": 0, "bytes_in": 0, "bytes_out": 0}
    return SimpleNamespace(name=name, channel=channel, **(facts | counts | more))


@pytest.fixture
def links():
    return {name: link(name) for name in ("east", "west")}


@pytest.fixture
def agent(links, tmp_path):
    """Return an agent in the middle of its rounds."""
    return SimpleNamespace(
        me="north",
        file=tmp_path / "north-abc.state",
        seat=SimpleNamespace(session="abc" * 20, protocol=1),
        stage=Stage.ROUNDS,
        connections=SimpleNamespace(neighbours=links, failure=None),
    )


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="tacit.peers.diary")
    return lambda: [record.getMessage() for record in caplog.records]


def progress(round_):
    return SimpleNamespace(check=SimpleNamespace(round=round_, disagreement=1e-3))


def test_before_the_agent_runs_there_is_nothing_to_say(lines):
    diary = Diary(SimpleNamespace(me="north", file=Path("north.state"), connections=None))
    diary.look()
    assert (diary.neighbours, lines()) == ([], [])


def test_links_that_come_and_go_are_said_once_each(agent, links, lines):
    diary = Diary(agent)
    links["east"].connected, links["east"].open = 1, True
    diary.look()
    diary.look()
    links["east"].open, links["east"].trouble = False, "Connection reset by peer"
    diary.look()
    diary.look()
    links["east"].connected, links["east"].open = 2, True
    diary.look()
    assert lines() == ["connected to east", "no link to east: Connection reset by peer", "connected to east"]


def test_links_that_end_with_the_run_are_not_news(agent, links, lines):
    diary = Diary(agent)
    links["east"].connected, links["east"].open = 1, True
    diary.look()
    links["east"].open = False
    diary.look(over=True)
    assert lines() == ["connected to east"]


def test_rounds_are_said_every_ten_seconds(agent, lines):
    now = [0.0]
    diary = Diary(agent, clock=lambda: now[0])
    for seconds in range(0, 31, 3):
        now[0] = float(seconds)
        diary.on_progress(progress(seconds))
    assert lines() == ["round 12, agents disagree by 1e-03", "round 24, agents disagree by 1e-03"]
    assert diary.round == 30


def test_waiting_is_said_at_5_10_and_20_seconds_for_every_neighbour_anew(agent, lines):
    diary = Diary(agent)
    for seconds in range(1, 25):
        diary.on_wait("east", float(seconds))
    diary.on_wait("west", 6.0)
    assert lines() == [*(f"waiting for east for {k} s" for k in (5, 10, 20)), "waiting for west for 6 s"]
    assert diary.waiting_for == "west"
    diary.on_progress(progress(1))
    assert diary.waiting_for == ""


def test_data_that_do_not_match_and_a_link_that_is_refused_are_warnings(agent, links, lines, caplog):
    diary = Diary(agent)
    links["east"].channel.unfit = True
    links["west"].turned_away = 2  # it is being started again
    diary.look()
    assert len(lines()) == 1
    links["west"].turned_away = 5
    diary.look()
    assert "the data of east do not match" in lines()[0]
    assert "west is there and takes no link from this member" in lines()[1]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_a_wait_that_nobody_speaks_of_any_more_is_over(agent):
    now = [100.0]
    diary = Diary(agent, clock=lambda: now[0])
    diary.on_wait("east", 7.0)
    now[0] += 2.5
    assert (diary.waiting_for, diary.bulletin().waited) == ("east", 7.0)
    now[0] += 1.0
    assert (diary.waiting_for, diary.bulletin().awaited, diary.bulletin().waited) == ("", "", 0.0)


def test_phases_are_said_to_whoever_wants_to_know_everything(agent, lines, caplog):
    diary = Diary(agent)
    for stage in (Stage.KEYED, Stage.KEYED, Stage.MASKED):
        agent.stage = stage
        diary.look()
    assert lines() == []
    caplog.set_level(logging.DEBUG, logger="tacit.peers.diary")
    agent.stage = Stage.COMMITTED
    diary.look()
    assert lines() == ["the run is in phase committed"]


def test_a_diary_tells_when_links_were_up(agent, links):
    now = [100.0]
    diary = Diary(agent, clock=lambda: now[0])
    links["east"].spells_until = lambda until: [Spell(101.0, 103.0, "silent"), Spell(104.5, until)]
    links["west"].spells_until = lambda until: []
    now[0] = 110.0
    times = diary.link_times()
    assert times.seconds == 10.0
    assert times.spells == {("north", "east"): (Spell(1.0, 3.0, "silent"), Spell(4.5, 10.0)), ("north", "west"): ()}
    assert times.gaps(("north", "east")) == [Spell(3.0, 4.5, "silent")]
    assert (times.absent, times.lost) == ([("north", "west")], {("north", "east"): 1.5})
    assert str(times) == "1 of 2 links never came up."
