"""A member whose file of the run is lost, or an older one was put back: its neighbours tell it so."""

import shutil
import sys

import pytest

from tacit.errors import NetworkError, OutdatedError, ProtocolError
from tacit.masks import AffineMasks, SumMasks
from tacit.protocol import Channel, Dialogue, Frame, Kind, Parting
from tacit.runtimes.peers.durable_links import DurableLinks
from tacit.runtimes.peers.store import Store


class Gone(BaseException):
    """The machine has burnt down."""


def broken_off(made, memory, *, after, keep=False):
    """Run until a member has sent so many messages, and is gone; put its file of some time before back, if asked to."""
    made.found(patience=2.0)
    world, sent, saves, old = memory(), [], [], made.folder / "old"
    save, send = Store.save, Store.sent

    def saving(self, *given, **more):
        save(self, *given, **more)
        if keep and self.path.name.startswith("member-1"):
            saves.append(len(sent))
            if len(saves) == 1:
                old.mkdir()
                self._background.settle()
                self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
                for each in made.folder.glob("member-1-*.state*"):
                    shutil.copy2(each, old / each.name)

    def sending(self, *given):
        if self.path.name.startswith("member-1"):
            sent.append(given)
            if len(sent) - (saves[1] if len(saves) > 1 else 10_000 * keep) > after:
                raise Gone
        send(self, *given)

    def play(name, cost):
        return lambda: world.agent(made.manifest, cost, name, made.folder).run()

    plays = {name: play(name, cost) for name, cost in zip(made.names, made.job.costs, strict=True)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "save", saving)
        patched.setattr(Store, "sent", sending)
        ends = world.run(plays, gone=("member-1",))
    assert isinstance(ends.pop("member-1"), Gone)
    assert all(isinstance(end, NetworkError) for end in ends.values()), ends
    for each in made.folder.glob("member-1-*.state*"):
        each.unlink()
    for each in old.glob("*"):
        shutil.copy2(each, made.folder / each.name)


@pytest.mark.parametrize(
    "case", [("nids", AffineMasks(10.0), 60), ("newton", SumMasks(), 8)], ids=["gossip", "sums"]
)
def test_a_member_whose_file_is_lost_hears_so_from_its_neighbours_at_once(federation, memory, case):
    algorithm, privacy, after = case
    made = federation(algorithm=algorithm, privacy=privacy, n=4)
    made.found(patience=1000.0)
    world, sent, send, ended_at = memory(), [], Store.sent, {}

    def sending(self, *given):
        if self.path.name.startswith("member-1"):
            sent.append(given)
            if len(sent) == after:
                raise sys.modules["lockstep"].Killed
        send(self, *given)

    def play(name, cost):
        def part():
            if name == "member-1" and sent:
                for each in made.folder.glob("member-1-*.state*"):
                    each.unlink()
            try:
                return world.agent(made.manifest, cost, name, made.folder).run()
            finally:
                ended_at[name] = world.now

        return part

    plays = {name: play(name, cost) for name, cost in zip(made.names, made.job.costs, strict=True)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "sent", sending)
        ends = world.run(plays)
    lost = ends.pop("member-1")
    assert isinstance(lost, OutdatedError), lost
    assert str(lost).startswith("by word of member-0, member-2")
    assert "is lost, or an older one was put back" in str(lost)
    assert all("has not answered" in str(end) for end in ends.values()), ends
    assert ended_at["member-1"] < 100.0 < min(ended_at[name] for name in ends)


def test_a_member_with_an_older_file_hears_what_it_cannot_know(federation, memory, monkeypatch):
    """It may have said more than it knows, so that only those who were told can tell."""
    made = federation(algorithm="nids", privacy=AffineMasks(10.0), n=4)
    monkeypatch.setattr("tacit.runtimes.peers.durable_links._EVERY_MESSAGES", 10)
    broken_off(made, memory, after=20, keep=True)
    _, ends = made.play_again(memory)
    assert isinstance(ends["member-1"], OutdatedError), ends["member-1"]


def channel(me="north", neighbour="south"):
    return Channel(me=me, neighbour=neighbour, session="s", parts={}, limit=100)


def test_whoever_asks_for_what_it_has_acknowledged_is_told_why_it_gets_nothing():
    north, south = channel(), channel("south", "north")
    for number in range(3):
        north.put(bytes([number]))
    north.committed()
    north.acknowledged(2)
    asked = Dialogue(north)
    with pytest.raises(
        ProtocolError, match="south wants message 0, .* none before 2: its file of this run is lost"
    ):
        asked.feed(south.hello().encode())
    hearing = Dialogue(south)
    hearing.feed(north.hello().encode() + asked.last_words.encode())
    assert south.outdated
    assert not north.outdated


def test_a_greeting_in_order_takes_the_word_back():
    north, south = channel(), channel("south", "north")
    north.outdated = True
    Dialogue(north).feed(south.hello().encode())
    assert not north.outdated


@pytest.mark.parametrize(("neighbours", "saying", "ends"), [(1, 1, True), (3, 1, False), (3, 2, True)])
def test_one_of_several_neighbours_is_not_believed(neighbours, saying, ends):
    links = object.__new__(DurableLinks)
    links._channels = [channel(neighbour=f"n{k}") for k in range(neighbours)]
    for each in links._channels[:saying]:
        dialogue = Dialogue(each)
        dialogue.feed(channel(each.neighbour, "north").hello().encode())
        dialogue.feed(Frame(Kind.BYE, 0, 0, Parting.LOST.value).encode())
    assert links._is_outdated is ends
