"""Whoever notices something stops, and everybody else hears of it at once: not when its patience is over."""

import pickle

import numpy as np
import pytest

from tacit.errors import EquivocationError, ProtocolError, StoppedError, TacitError
from tacit.masks import AffineMasks, SumMasks
from tacit.protocol import Alarm, Channel, Dialogue, Frame, Kind
from tacit.runtimes.linked_peers import LinkedPeers
from tacit.runtimes.peers import durable_links

PATIENCE = 600.0  # seconds of nobody's time
SOON = 60.0


class Lying(LinkedPeers):
    """Member 0 lies; the others are the product."""

    sums = rounds = 0

    def sum(self, v, add=np.add):
        if self._me or v.dtype != np.uint64:
            return super().sum(v, add)
        self.confirm()
        for child in self._children:
            v = add(v, self._receive(child, like=v))
        self.sums += 1
        for child in self._children:
            self._links.send(child, v + np.uint64(1 << 45) if child == self._children[-1] and self.sums > 1 else v)
        self._transcript.add(v)
        return v


class Raving(LinkedPeers):
    """Member 0 sends what is no number, after a while."""

    rounds = 0

    def mix(self, x):
        self.rounds += 1
        return super().mix(np.full_like(x, np.inf) if not self._me and self.rounds == 20 else x)


class Mixed(LinkedPeers):
    """Member 0 holds other terms than its neighbours do."""

    def _traded(self, r, only, *, digests=False):
        came = super()._traded(r, only, digests=digests)
        return came + 64.0 if not self._me and came.dtype == np.float64 else came


@pytest.fixture
def lied_to(federation, memory, monkeypatch):
    """Return a function that runs nine members of which the first lies, and how each of them ends."""

    def run(liar, **settings):
        monkeypatch.setattr("tacit.runtimes.peers.agent.LinkedPeers", liar)
        peers = federation(n=9, tolerance=1e-4, **settings)
        world, ends = peers.play(memory, patience=PATIENCE)
        assert all(isinstance(end, TacitError) for end in ends.values()), ends
        return peers, world, ends

    return run


def test_members_far_from_a_lie_hear_at_once_that_two_were_not_told_the_same(lied_to):
    peers, world, ends = lied_to(Lying, algorithm="newton", privacy=SumMasks())
    assert world.now < SOON
    noticed = {name for name, end in ends.items() if isinstance(end, EquivocationError)}
    heard = {name: end for name, end in ends.items() if isinstance(end, StoppedError)}
    assert noticed
    assert heard
    assert noticed | set(heard) == set(ends)
    for end in heard.values():
        assert end.fault == "equivocation"
        assert end.member in noticed
        assert end.neighbour in ends[end.member].neighbour
        assert "the run was stopped: by word of member-" in str(end)
    for name in heard:
        assert not peers.state(name).with_suffix(".evidence").exists(), "hearsay is no evidence"


def test_members_far_from_one_that_sends_no_numbers_hear_who_it_was(lied_to, monkeypatch):
    monkeypatch.setattr(durable_links, "encode", lambda array: array.dtype.kind.encode() + array.tobytes())
    _, world, ends = lied_to(Raving, algorithm="gradient-tracking", privacy=AffineMasks(10.0))
    assert world.now < SOON
    for name in ("member-1", "member-2", "member-7", "member-8"):
        assert str(ends[name]).startswith("member-0 sent NaN or infinity instead of a number")
    for name in ("member-3", "member-4", "member-5", "member-6"):
        assert isinstance(ends[name], StoppedError)
        assert (ends[name].fault, ends[name].neighbour) == ("refused", "member-0")


class Enormous(LinkedPeers):
    """Member 0 sends what is just allowed: it is a lie about its own numbers, and nobody can tell."""

    rounds = 0

    def mix(self, x):
        self.rounds += 1
        return super().mix(np.full_like(x, 9e99) if not self._me and self.rounds >= 20 else x)


def test_nobody_is_named_for_what_a_liar_has_led_it_to(lied_to):
    """Whoever would send more than anybody believes stops before that, and says so of itself."""
    _, world, ends = lied_to(Enormous, algorithm="gradient-tracking", privacy=AffineMasks(10.0))
    assert world.now < SOON
    assert any(str(end).startswith("the numbers of this member are beyond 1e+100") for end in ends.values())
    for end in ends.values():
        assert isinstance(end, StoppedError) or not end.neighbour
        assert getattr(end, "neighbour", "") in ("", "member-0")


def test_masks_that_do_not_cancel_end_the_run_at_everybody_with_that_sentence(lied_to):
    _, world, ends = lied_to(Mixed, algorithm="gradient-tracking", privacy=AffineMasks(10.0))
    assert world.now < SOON
    assert all("do not cancel" in str(end) for end in ends.values())


def test_an_alarm_names_members_and_nothing_else(federation, memory, monkeypatch):
    """A liar may write anything into it: what is no member's name is not shown."""
    told = Alarm("refused", "\x1b[2Jmember-7", "nobody").encode()
    sends = Channel.put

    def put(self, body):
        frame = sends(self, body)
        if (self.me, self.neighbour) == ("member-0", "member-1") and self.cursor == 12:
            self.outbox.clear()
            return Frame(Kind.BYE, 0, 0, told)
        return frame

    monkeypatch.setattr(Channel, "put", put)
    peers = federation(privacy=AffineMasks(10.0), n=4, tolerance=1e-4)
    _, ends = peers.play(memory, patience=PATIENCE)
    assert isinstance(ends["member-1"], StoppedError)
    assert (ends["member-1"].member, ends["member-1"].neighbour) == ("member-0", "")
    assert all("\x1b" not in str(end) for end in ends.values())


@pytest.mark.parametrize("body", [b"stopped", b"stopped{}", b'stopped{"fault":"x","member":""}', b"stopped\xff"])
def test_an_alarm_that_cannot_be_read_is_refused(body):
    here, there = (
        Channel(me=a, neighbour=b, session="s", parts={}, limit=1000)
        for a, b in (("north", "south"), ("south", "north"))
    )
    link = Dialogue(here)
    link.feed(there.hello().encode())
    with pytest.raises(ProtocolError, match="cannot be read"):
        link.feed(Frame(Kind.BYE, 0, 0, body).encode())
    assert here.alarm is None
    link.feed(Frame(Kind.BYE, 0, 0, Alarm("refused", "south").encode()).encode())
    assert here.alarm == Alarm("refused", "south")
    Dialogue(here).feed(there.hello().encode())
    assert here.alarm is None, "whoever comes back has not stopped"


@pytest.mark.parametrize(
    "error",
    [
        ProtocolError("north sent nothing.", neighbour="north"),
        EquivocationError("north", "aa", "bb", 3),
        StoppedError("north", "refused", "south", "east"),
        StoppedError("north", "declined", "south"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_was_noticed_goes_from_process_to_process(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
