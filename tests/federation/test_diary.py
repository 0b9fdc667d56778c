"""What is logged and counted around one agent, from links that are made up, at times that are made up."""

import logging
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

from tacit.runtimes.peers import Diary, serve_metrics


def link(name, **more):
    """Return a link as a diary sees it: never up yet, unless told otherwise."""
    channel = SimpleNamespace(finished=False, unfit=False, outdated=False, used=0, inbox=[])
    facts = {"connected": 0, "open": False, "trouble": "", "turned_away": 0, "last_seen": None}
    counts = {"violations": 0, "bytes_in": 0, "bytes_out": 0}
    return SimpleNamespace(name=name, channel=channel, **(facts | counts | more))


@pytest.fixture
def links():
    return {name: link(name) for name in ("east", "west")}


@pytest.fixture
def agent(links):
    return SimpleNamespace(me="north", connections=SimpleNamespace(neighbours=links))


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="tacit.peers.diary")
    return lambda: [record.getMessage() for record in caplog.records]


def progress(round_):
    return SimpleNamespace(check=SimpleNamespace(round=round_, disagreement=1e-3))


def test_before_the_agent_runs_there_is_nothing_to_say(lines):
    diary = Diary(SimpleNamespace(me="north", connections=None))
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


def test_metrics_are_served_on_the_loopback_while_the_agent_runs(agent, links):
    links["east"].bytes_out = 7
    with serve_metrics(agent, 0) as port:
        page = urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    assert 'tacit_link_sent_bytes_total{neighbour="east"} 7' in page
    assert 'tacit_link_up{neighbour="west"} 0' in page
    with serve_metrics(agent, None) as port:
        assert port is None
