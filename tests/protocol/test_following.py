"""Repeated runs: a neighbour that greets with the next run needs nothing more of this one, and no other session says so."""

import msgspec
import pytest

from tacit.errors import ProtocolError
from tacit.protocol import Channel, Dialogue, Frame, Kind, Phase


def channel(session="run 2", me="north", neighbour="south", **more):
    return Channel(me=me, neighbour=neighbour, session=session, parts={"run": session}, limit=64, **more)


def greeting(session):
    return channel(session, "south", "north").hello().encode()


def test_a_neighbour_in_the_next_run_has_its_answer_of_this_one():
    here = channel(following="run 3")
    here.put(b"a message that it never acknowledged")
    assert not here.needs_nothing
    with pytest.raises(ProtocolError, match="south has gone on to the next run"):
        Dialogue(here).feed(greeting("run 3"))
    assert here.needs_nothing


@pytest.mark.parametrize("session", ["run 1", "run 4", ""])
def test_any_other_run_says_nothing(session):
    here = channel(following="run 3")
    here.put(b"a message that it never acknowledged")
    with pytest.raises(ProtocolError, match="another agreement, different in: run"):
        Dialogue(here).feed(greeting(session))
    assert not here.needs_nothing


def test_without_a_next_run_an_empty_session_is_not_taken_for_it():
    here = channel()
    with pytest.raises(ProtocolError, match="another agreement"):
        Dialogue(here).feed(greeting(""))
    assert not here.finished


def test_in_the_same_run_all_is_as_ever():
    dialogue = Dialogue(channel(following="run 3"))
    dialogue.feed(greeting("run 2"))
    assert dialogue.phase is Phase.OPEN


def test_a_greeting_of_a_later_protocol_is_refused_before_its_session_counts():
    here = channel(following="run 3")
    body = msgspec.json.decode(channel("run 3", "south", "north").hello().body) | {"protocol": 9}
    with pytest.raises(ProtocolError, match="south speaks protocol 9"):
        Dialogue(here).feed(Frame(Kind.HELLO, 0, 0, msgspec.json.encode(body)).encode())
    assert not here.finished
