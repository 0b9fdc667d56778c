"""Power cuts: what a disk was not told to keep is lost, and the run goes on to the same bits."""

import functools
import random

import numpy as np
import pytest

import tacit
from tacit.errors import ProtocolError
from tacit.protocol import Channel, Dialogue
from tacit.runtimes.peers import durable_links, filed
from tacit.runtimes.peers.sent import Sent

WAYS = {
    "gossip": ("gradient-tracking", tacit.AffineMasks(10.0)),
    "gossip, seeds": ("nids", tacit.AffineMasks(10.0, pairing="seeds")),
    "sums": ("lbfgs", tacit.SumMasks()),
    "nothing": ("extra", None),
}


@pytest.fixture
def often(monkeypatch):
    """Let checkpoints be a few rounds apart, at other rounds for every member that was restarted."""
    monkeypatch.setattr(durable_links, "_EVERY_MESSAGES", 7)


def same_bits(peers, ends):
    expected = peers.expected()
    assert {name for name in ends if isinstance(ends[name], BaseException)} == set(), ends
    assert np.array_equal(np.stack([ends[name].x for name in peers.names]), expected.x)
    assert {end.rounds for end in ends.values()} == {expected.rounds}


LONGEST = {"sums": 110}  # acts of a member; 400 and more where every round is gossip


def deaths_of(names, trial, way):
    """Return some acts at which members lose their power, one for each life."""
    moments, last = random.Random(trial), LONGEST.get(way, 400)  # noqa: S311
    return {name: [moments.randint(last // 7, last) for _ in range(3)] for name in moments.sample(names, 3)}


TRIALS = [0, 1, *(pytest.param(trial, marks=pytest.mark.network) for trial in range(2, 40))]


@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize("way", WAYS)
def test_members_whose_power_is_cut_at_any_acts_change_nothing(federation, power_cuts, often, way, trial):
    """Nobody says something else than before, which the world asserts, and all end with the bits of all others."""
    algorithm, privacy = WAYS[way]
    peers = federation(algorithm=algorithm, privacy=privacy, n=4, tolerance=1e-4)
    world, ends = peers.play(power_cuts, deaths_of(peers.names, trial, way))
    same_bits(peers, ends)
    assert world.kills
    assert world.lost or way == "sums", "nothing was lost: nothing was tried"


LONG_TRIALS = [0, *(pytest.param(trial, marks=pytest.mark.network) for trial in range(1, 20))]


@pytest.mark.parametrize("trial", LONG_TRIALS)
@pytest.mark.parametrize("way", ["gossip", "sums"])
def test_what_lies_in_files_of_its_own_is_there_after_a_power_cut(
    federation, power_cuts, often, monkeypatch, way, trial
):
    """As above, with everything taken for long: messages, what came while setting up, and the state."""
    monkeypatch.setattr(filed, "_LONG", 1)
    algorithm, privacy = WAYS[way]
    peers = federation(algorithm=algorithm, privacy=privacy, n=4, tolerance=1e-4)
    world, ends = peers.play(power_cuts, deaths_of(peers.names, trial, way))
    same_bits(peers, ends)
    assert world.kills


BLACKOUTS = [
    *((way, turns) for way in ("gossip", "sums") for turns in ((16,), (20, 45))),
    *(pytest.param("gossip", (k, k + 9, k + 11), marks=pytest.mark.network) for k in range(20, 90, 3)),
    *(pytest.param("sums", (k, k + 9, k + 11), marks=pytest.mark.network) for k in range(6, 30)),
]


@pytest.mark.parametrize(("way", "blackouts"), BLACKOUTS, ids=str)
def test_everybody_in_the_dark_at_once_goes_on_to_the_same_bits(federation, power_cuts, often, way, blackouts):
    """Nobody is left who remembers: what was lost everywhere is said again everywhere."""
    algorithm, privacy = WAYS[way]
    peers = federation(algorithm=algorithm, privacy=privacy, n=4, tolerance=1e-4)
    world, ends = peers.play(functools.partial(power_cuts, blackouts=blackouts))
    same_bits(peers, ends)
    assert world.kills >= 4


def channels(*, forgetful):
    """Return an agent's channel after a restart, with two messages, and that of a neighbour that has heard five."""
    mine, theirs = (
        Channel(me=me, neighbour=other, session="s", parts={}, limit=100) for me, other in (("a", "b"), ("b", "a"))
    )
    mine.restore([(0, b"0"), (1, b"1")], [], cursor=0, used=0, forgetful=forgetful)
    mine.rewind(cursor=0, used=0)
    theirs.expected = theirs.used = theirs.safe = 5
    return mine, theirs


def test_one_who_has_forgotten_what_it_said_says_it_again_and_is_not_heard_twice():
    mine, theirs = channels(forgetful=True)
    dialogue = Dialogue(mine)
    assert dialogue.feed(theirs.hello().encode()) == []
    hearing = Dialogue(theirs)
    hearing.feed(mine.hello().encode())
    frames = [mine.put(str(k).encode()) for k in range(6)]
    assert frames[:2] == [None, None], "these were not forgotten"
    hearing.feed(b"".join(frame.encode() for frame in frames[2:]))
    assert list(theirs.inbox) == [b"5"]


def test_one_who_forgets_nothing_refuses_to_hear_that_it_said_more():
    """In a run of sums, and while setting up, everything that leaves is safe: then somebody else's files are here."""
    mine, theirs = channels(forgetful=False)
    with pytest.raises(ProtocolError, match=r"acknowledged a message that was never sent|wants message 5"):
        Dialogue(mine).feed(theirs.hello().encode())


def test_after_the_greeting_nobody_acknowledges_more_than_it_wanted():
    mine, theirs = channels(forgetful=True)
    dialogue = Dialogue(mine)
    dialogue.feed(theirs.hello().encode())
    with pytest.raises(ProtocolError, match="never sent"):
        mine.acknowledged(6)


def written(path, *bodies, first=0):
    """Return a log with these messages to one neighbour."""
    sent = Sent(path, durable=False)
    for number, body in enumerate(bodies, start=first):
        sent.append([(0, number)], body)
    sent.close()
    return sent


@pytest.mark.parametrize("left", ["cut", "zeros", "hole"])
def test_a_log_is_read_up_to_what_is_whole_and_goes_on_right_behind_it(tmp_path, left):
    path = tmp_path / "a.state"
    written(path, b"zero", b"one", b"two")
    segment = tmp_path / "a.state-sent-0"
    data, size = segment.read_bytes(), len(segment.read_bytes()) // 3 + 3
    torn = {"cut": data[:size], "zeros": data[:size] + bytes(200), "hole": data[:24] + bytes(10) + data[34:]}[left]
    segment.write_bytes(torn)
    written(path, b"five", first=5)  # a later segment that reached the disk before the rest of the first did
    assert Sent(path, durable=False).read() == {0: [(0, b"zero")]}
    written(path, b"one again", first=1)
    assert Sent(path, durable=False).read() == {0: [(0, b"zero"), (1, b"one again")]}


def test_half_an_erased_segment_does_not_pass_for_one_that_was_never_whole(tmp_path):
    """A crash in the middle of erasing leaves zeros where messages were that nobody wants again."""
    path = tmp_path / "a.state"
    sent = Sent(path, durable=False)
    for number in (0, 1):
        sent.append([(0, number)], b"said")
        sent.seal()()
    first, _ = sent.drop([1])
    segment = tmp_path / "a.state-sent-0"
    segment.write_bytes(bytes(segment.stat().st_size))
    again = Sent(path, durable=False)
    again.begin_with(first)
    assert again.read() == {0: [(1, b"said")]}
    assert not segment.exists()
