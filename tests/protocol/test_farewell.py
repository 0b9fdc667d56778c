"""Leaving, on a clock that is an argument: who hears a goodbye, and how long somebody is waited for."""

from tacit.protocol.farewell import Farewell, Line


def line(name="east", *, up=True, connected=1, over=False):
    return Line(name, up, connected, over)


def test_every_connection_hears_one_goodbye():
    leaving = Farewell(0.0)
    assert leaving.look([line("east"), line("west", up=False)], 0.0) == ["east"]
    assert leaving.look([line("east"), line("west")], 1.0) == ["west"]
    assert leaving.look([line("east", connected=2), line("west")], 2.0) == ["east"]
    assert leaving.look([line("east", connected=2), line("west")], 3.0) == []


def test_who_is_away_is_waited_for_from_when_it_was_last_there():
    leaving = Farewell(100.0, linger=10.0, longest=60.0)
    leaving.look([line(up=False)], 105.0)
    assert leaving.ends == 110.0
    leaving.look([line()], 109.0)
    assert leaving.ends == 119.0
    leaving.look([line(up=False)], 118.0)
    assert leaving.ends == 119.0


def test_who_is_there_and_never_ends_is_not_waited_for_for_ever():
    leaving = Farewell(0.0, linger=10.0, longest=60.0)
    for second in range(200):
        leaving.look([line()], float(second))
    assert leaving.ends == 70.0


def test_who_needs_nothing_is_not_waited_for():
    leaving = Farewell(0.0, linger=10.0)
    leaving.look([line(over=True)], 9.0)
    assert leaving.ends == 10.0
