"""Leaving, on a clock that is an argument: who hears a goodbye, and how long somebody is waited for."""

from tacit.protocol.farewell import NOTED_WITHIN, Farewell, Line


def line(name="east", *, up=True, connected=1, confirmed=0, over=False, goodbyes=0, noted=False):
    return Line(name, up, connected, confirmed, over, goodbyes, noted)


def test_every_connection_hears_one_goodbye():
    leaving = Farewell(0.0, 60.0)
    assert leaving.look([line("east"), line("west", up=False)], 0.0) == ["east"]
    assert leaving.look([line("east"), line("west")], 1.0) == ["west"]
    assert leaving.look([line("east", connected=2), line("west")], 2.0) == ["east"]
    assert leaving.look([line("east", connected=2), line("west")], 3.0) == []


def test_who_is_away_is_waited_for_as_long_as_there_is_patience():
    leaving = Farewell(100.0, 3600.0)
    for second in range(100, 3600, 100):
        leaving.look([line(up=False)], float(second))
    assert leaving.ends == 3700.0


def test_who_comes_back_late_and_gets_on_is_waited_for_from_then_on():
    leaving = Farewell(0.0, 60.0)
    leaving.look([line(up=False, confirmed=7)], 1.0)
    leaving.look([line(confirmed=7)], 50.0)
    assert leaving.ends == 60.0
    leaving.look([line(confirmed=9)], 55.0)
    assert leaving.ends == 115.0


def test_who_is_there_and_never_ends_is_not_waited_for_for_ever():
    leaving = Farewell(0.0, 60.0)
    for second in range(200):
        leaving.look([line(connected=second)], float(second))
    assert leaving.ends == 60.0


def test_every_goodbye_hears_once_that_it_was_noted():
    leaving = Farewell(0.0, 60.0)
    assert leaving.answer([line("east"), line("west", goodbyes=1)]) == ["west"]
    assert leaving.answer([line("east", goodbyes=1, up=False), line("west", goodbyes=1)]) == []
    assert leaving.answer([line("east", goodbyes=1), line("west", goodbyes=2)]) == ["east", "west"]


def test_one_leaves_when_all_have_noted_its_goodbye_or_a_little_later():
    """From when nobody needed anything any more, whatever else is heard."""
    for patience, bound in ((3600.0, NOTED_WITHIN), (2.0, 2.0)):
        leaving = Farewell(0.0, patience)
        assert not leaving.is_over([line(over=True), line("west", over=True, noted=True)], 1.0)
        assert leaving.ends == 1.0 + bound
        leaving.look([line(over=True, confirmed=7)], 1.5)
        leaving.look([line(over=True, confirmed=9)], 1.6)
        assert not leaving.is_over([line(over=True)], 1.9)
        assert leaving.is_over([line(over=True)], 1.0 + bound)
        assert leaving.is_over([line(over=True, noted=True)], 1.9)
