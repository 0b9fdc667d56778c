"""The end of a run: one who is late gets what it needs, and one who is never back is waited for in patience."""

import json
import signal
import sys

import numpy as np
import pytest

import tacit.cli.main  # noqa: F401
from tacit.errors import StillNeededError
from tacit.masks import AffineMasks
from tacit.protocol.run import End, Goodbyes
from tacit.runtimes.peers.store import Store


class Ending:
    """A run in memory in which member-1 is killed at an event of its own, once, and comes back after a while."""

    def __init__(self, made, memory, *, at, away):
        self.made, self.world, self.agents, self.told = made, memory(), {}, {}
        self._at, self._away, self._killed = at, away, False

    def run(self):
        advance = Store.advance

        def advancing(store, event):
            if store.path.name.startswith("member-1") and self._at(event) and not self._killed:
                self._killed = True
                raise sys.modules["lockstep"].Killed
            return advance(store, event)

        plays = {
            name: self._play(name, cost) for name, cost in zip(self.made.names, self.made.job.costs, strict=True)
        }
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Store, "advance", advancing)
            return self.world.run(plays)

    def _play(self, name, cost):
        def part():
            world, made = self.world, self.made
            if name == "member-1" and self._killed:
                back = world.now + self._away
                while world.now < back:
                    world.pause(back)
            self.agents[name] = world.agent(made.manifest, cost, name, made.folder)
            return self.agents[name].run(on_answer=lambda _: self.told.setdefault(name, world.now))

        return part


@pytest.fixture
def made(federation):
    made = federation(algorithm="nids", privacy=AffineMasks(10.0), n=4, tolerance=1e-4)
    made.found(patience=1000.0)
    return made


def same(made, ends):
    assert not [end for end in ends.values() if isinstance(end, BaseException)], ends
    assert np.array_equal(np.stack([ends[name].x for name in made.names]), made.expected().x)


def test_one_who_is_away_at_the_end_for_minutes_still_gets_its_answer(made, memory):
    """And the others have theirs before they stay for it."""
    ending = Ending(made, memory, at=lambda event: isinstance(event, End), away=600.0)
    same(made, ending.run())
    assert all(ending.told[name] < 300.0 for name in made.names if name != "member-1")
    assert ending.told["member-1"] > 600.0
    assert all(agent.needed_by == () for agent in ending.agents.values())
    assert list(made.folder.glob("*.state*")) == []


def test_one_who_does_not_come_back_is_named_and_what_it_needs_is_kept(made, memory):
    ending = Ending(made, memory, at=lambda event: isinstance(event, End), away=5000.0)
    ending.run()
    others = [name for name in made.names if name != "member-1"]
    assert {ending.agents[name].needed_by for name in others} == {("member-1",)}
    _, ends = made.play_again(memory)
    same(made, ends)
    assert list(made.folder.glob("*.state*")) == []


def test_a_goodbye_that_was_lost_is_said_again_from_the_finished_file(made, memory):
    """The others have heard everything, and are gone; one of them was killed before it had noted that."""
    noted = Ending(made, memory, at=lambda event: isinstance(event, Goodbyes) and event.names != (), away=50.0)
    ends = noted.run()
    same(made, ends)
    assert noted.agents["member-1"].needed_by, "nobody was there any more"
    assert [each.name[:8] for each in made.folder.glob("*.state")] == ["member-1"]
    _, ends = made.play_again(memory)
    same(made, ends)
    assert list(made.folder.glob("*.state*")) == []


@pytest.mark.parametrize("event", [End, Goodbyes], ids=lambda event: event.__name__)
def test_one_who_is_killed_in_its_last_moment_and_comes_back_soon_is_still_heard(made, memory, event):
    """The others have heard its goodbye, and stay for a few seconds until it has noted theirs."""
    ending = Ending(made, memory, at=lambda each: isinstance(each, event) and each[0] != (), away=2.0)
    same(made, ending.run())
    assert all(agent.needed_by == () for agent in ending.agents.values())
    assert list(made.folder.glob("*.state*")) == []


def test_done_and_still_needed_has_an_exit_code_of_its_own(monkeypatch, capsys):
    def app(**_):
        raise StillNeededError(["east", "west"])

    monkeypatch.setattr(sys.modules["tacit.cli.main"], "app", app)
    with pytest.raises(SystemExit) as end:
        sys.modules["tacit.cli.main"].main()
    assert end.value.code == 4
    assert "has its answer, and east, west may still need something of it" in capsys.readouterr().err


DIES_AT_THE_END = """
import os, signal, sys
from tacit.cli import main
from tacit.protocol.run import End
from tacit.runtimes.peers.store import Store
advance = Store.advance

def advancing(store, event):
    if isinstance(event, End):
        os.kill(os.getpid(), signal.SIGKILL)
    return advance(store, event)

Store.advance = advancing
sys.argv = ["tacit", *sys.argv[5:]]
main()
"""


@pytest.mark.network
def test_processes_end_with_the_code_of_still_needed_and_serve_the_latecomer_when_they_are_started_again(members):
    """Mountain has said everything, and dies before it has written its answer down. The others have theirs."""
    rng, doomed = np.random.default_rng(3), {"mountain"}
    trio = members(
        {name: rng.standard_normal((12, 4)) for name in ("clinic", "harbour", "mountain")},
        family="ridge",
        options=["--links", "2", "--unknowns", "3", "--cost", "ridge", "--l2", "1.0", "--patience", "30"],
        wrap=lambda name: [sys.executable, "-P", "-c", DIES_AT_THE_END] * (name in doomed),
    )
    for name in trio.names:
        trio.start(name, "--json")
    assert trio.wait("mountain", 240.0) == -signal.SIGKILL, trio.err("mountain")
    for name in ("clinic", "harbour"):
        assert trio.wait(name, 240.0) == 4, trio.err(name)
        assert "has its answer, and mountain may still need something of it" in trio.err(name)
        assert trio.state(name).exists()
    told = [json.loads(trio.out(name))["x"] for name in ("clinic", "harbour")]
    doomed.clear()
    for name in trio.names:
        trio.start(name, "--json")
    answers = trio.answers(240.0)
    assert all(np.array_equal(answer, told[0]) for answer in [*answers, *told])
    assert not list(trio.folder.glob("*/*.state*"))
