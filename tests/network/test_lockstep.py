"""Real agents in memory: killed at any act, late, away at the end; the same bits, and clocks that nobody waits for."""

import itertools
import random

import msgspec
import numpy as np
import pytest

import tacit
from tacit.errors import FileError, NetworkError
from tacit.protocol.record import Record, Stage
from tacit.runtimes.peers import Agent, sent, store
from tacit.runtimes.peers.store import Store

WAYS = {
    "gossip": ("gradient-tracking", tacit.AffineMasks(10.0)),
    "gossip, one-sided": ("gradient-tracking", tacit.AffineMasks(10.0, pairing="one-sided")),
    "gossip, seeds": ("gradient-tracking", tacit.AffineMasks(10.0, pairing="seeds")),
    "quadratic": ("direct", tacit.QuadraticMasks(10.0)),
    "sums": ("lbfgs", tacit.SumMasks()),
    "sums, one-sided": ("fista", tacit.SumMasks(pairing="one-sided")),
    "sums, seeds": ("newton", tacit.SumMasks(pairing="seeds")),
    "nothing": ("nids", None),
}


def ended(peers, ends, expected):
    """Tell whether everybody has the answer of an undisturbed run, to the last bit, and nothing else is left."""
    assert {name for name in ends if isinstance(ends[name], BaseException)} == set(), ends
    assert np.array_equal(np.stack([ends[name].x for name in peers.names]), expected.x)
    assert {end.rounds for end in ends.values()} == {expected.rounds}


@pytest.mark.parametrize("way", WAYS)
def test_agents_in_memory_compute_the_bits_of_an_undisturbed_run_and_leave_nothing(federation, memory, way):
    algorithm, privacy = WAYS[way]
    peers = federation(algorithm=algorithm, privacy=privacy, n=4, tolerance=1e-4)
    _, ends = peers.play(memory)
    ended(peers, ends, peers.expected())
    assert not list(peers.folder.glob("*.state*"))
    for name in peers.names:
        record = Record.decode(peers.state(name).with_suffix(".done").read_bytes())
        assert (record.stage, record.key, record.cost) == (Stage.ERASED, b"", b"")


def deaths_of(names, trial):
    """Return some acts at which members are killed, one for each life."""
    moments = random.Random(trial)  # noqa: S311
    victims = moments.sample(names, moments.randint(1, 3))
    return {
        name: [moments.choice([moments.randint(1, 30), moments.randint(1, 300)]) for _ in range(3)]
        for name in victims
    }


TRIALS = [0, 1, *(pytest.param(trial, marks=pytest.mark.network) for trial in range(2, 60))]


@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize("way", WAYS)
def test_members_killed_at_any_acts_change_nothing(federation, memory, way, trial):
    """Before or after any write, commit or message: never a redrawn mask, never another answer."""
    algorithm, privacy = WAYS[way]
    peers = federation(algorithm=algorithm, privacy=privacy, n=4, tolerance=1e-4)
    _, ends = peers.play(memory, deaths_of(peers.names, trial))
    ended(peers, ends, peers.expected())


@pytest.mark.network
@pytest.mark.parametrize("way", ["gossip", "sums"])
def test_a_member_killed_at_every_single_act_changes_nothing(federation, memory, way, tmp_path_factory):
    algorithm, privacy = WAYS[way]
    peers = federation(algorithm=algorithm, privacy=privacy, n=3, tolerance=1e-2, rounds=20)
    expected = peers.expected()
    for act in itertools.count(1):
        peers.folder = tmp_path_factory.mktemp("act")
        world, ends = peers.play(memory, {"member-1": [act]})
        ended(peers, ends, expected)
        if not world.kills:
            break
    assert act > 100


def test_everybody_waits_for_a_late_comer(federation, memory):
    peers = federation(privacy=tacit.AffineMasks(10.0), n=4, tolerance=1e-4)
    world, ends = peers.play(memory, late={"member-2": 300.0})
    ended(peers, ends, peers.expected())
    assert world.now > 300.0, "nobody has waited"


def at_stage(stage):
    """Return what kills a member for good when it has come to a stage."""

    def write(self, record):
        WRITE(self, record)
        if record.stage is stage and self.path.name.startswith("member-1"):
            raise Gone

    return write


class Gone(Exception):  # noqa: N818
    """The machine is taken away."""


WRITE = Store.write
PATIENCE = 120.0  # seconds of nobody's time


@pytest.mark.parametrize("stage", [Stage.KEYED, Stage.MASKED, Stage.COMMITTED, Stage.ROUNDS], ids=lambda s: s.name)
def test_patience_ends_when_it_is_over_and_the_state_is_kept(federation, memory, monkeypatch, stage):
    """Then the one who was away comes back, and the run goes on."""
    peers = federation(privacy=tacit.AffineMasks(10.0), n=4, tolerance=1e-4)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", at_stage(stage))
        world, ends = peers.play(memory, patience=PATIENCE)
    assert isinstance(ends.pop("member-1"), Gone)
    assert all(isinstance(end, NetworkError) for end in ends.values())
    assert all("the state is kept" in str(end) for end in ends.values())
    assert PATIENCE <= world.now <= PATIENCE + 10.0
    assert all(peers.state(name).exists() for name in peers.names)
    _, ends = peers.play_again(memory)
    ended(peers, ends, peers.expected())


def test_one_who_is_away_at_the_end_is_waited_for_and_served_later(federation, memory, monkeypatch, caplog):
    """Its neighbours have their answer after a while, and keep what it may still want."""
    peers = federation(privacy=tacit.AffineMasks(10.0), n=4, tolerance=1e-4)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", at_stage(Stage.ENDED))
        caplog.set_level("INFO")
        world, ends = peers.play(memory, patience=PATIENCE)
    assert isinstance(ends.pop("member-1"), Gone)
    assert {end.rounds for end in ends.values()} == {peers.expected().rounds}
    assert PATIENCE <= world.now <= PATIENCE + 60.0
    assert "member-1: has not said goodbye" in caplog.text
    assert all(peers.state(name).exists() for name in peers.names)
    _, ends = peers.play_again(memory)
    ended(peers, ends, peers.expected())
    assert not list(peers.folder.glob("*.state*"))


@pytest.mark.parametrize("stage", [Stage.ENDED, Stage.PARTED], ids=lambda stage: stage.name)
def test_one_who_has_ended_computes_nothing_again(federation, memory, monkeypatch, stage):
    peers = federation(privacy=tacit.AffineMasks(10.0), n=4, tolerance=1e-4)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", at_stage(stage))
        peers.play(memory)
    monkeypatch.setattr(Agent, "_take_part", None)
    _, ends = peers.play_again(memory)
    ended(peers, ends, peers.expected())


def test_other_data_after_a_restart_are_refused(federation, memory, monkeypatch):
    """Masks already used with one cost must never be used with another."""
    peers = federation(privacy=tacit.AffineMasks(10.0), n=4)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", at_stage(Stage.KEYED))
        peers.play(memory, patience=PATIENCE)
    cost = peers.job.costs[1]
    other = memory().agent(peers.manifest, cost.with_affine(2 * cost.affine), "member-1", peers.folder)
    with pytest.raises(tacit.TacitError, match="begun with other data"):
        other.run()


@pytest.fixture
def stopped(federation, memory, monkeypatch):
    """A run that is over, but for one member, which was stopped before it had erased its file."""
    peers = federation(privacy=tacit.AffineMasks(10.0), n=4, tolerance=1e-4)
    erase = Store.erase

    def stop(self):
        if self.path.name.startswith("member-1"):
            raise Gone
        erase(self)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "erase", stop)
        _, ends = peers.play(memory)
    assert isinstance(ends.pop("member-1"), Gone)
    assert {end.rounds for end in ends.values()} == {peers.expected().rounds}
    agent = memory().agent(peers.manifest, peers.job.costs[1], "member-1", peers.folder)
    assert agent.file.exists()
    return agent, peers.expected().x[1]


def test_an_agent_that_is_stopped_before_it_has_erased_its_file_has_its_answer_and_erases_it_later(stopped):
    agent, x = stopped
    np.testing.assert_array_equal(agent.run().x, x)
    assert not agent.file.exists()


@pytest.mark.parametrize("size", [0, 10])
def test_an_answer_that_was_half_written_is_written_again(stopped, size):
    agent, x = stopped
    agent.result.write_bytes(agent.result.read_bytes()[:size])
    np.testing.assert_array_equal(agent.run().x, x)
    assert Record.decode(agent.result.read_bytes()).stage is Stage.ERASED


def test_an_agent_that_is_stopped_while_it_erases_its_file_still_has_its_answer(stopped):
    """Zeros where the file was, and a piece of its log: it is removed without being opened."""
    agent, x = stopped
    agent.file.write_bytes(bytes(agent.file.stat().st_size))
    agent.file.with_name(agent.file.name + "-sent-7").write_bytes(b"left behind")
    np.testing.assert_array_equal(agent.run().x, x)
    assert list(agent.file.parent.glob("member-1-*.state*")) == []


@pytest.mark.parametrize("files", range(5))
@pytest.mark.parametrize("half", [False, True], ids=["before it is removed", "while it is overwritten"])
def test_wherever_erasing_stops_the_answer_is_there_and_the_rest_goes_at_the_next_start(
    federation, memory, monkeypatch, files, half
):
    """Killed at the file of that number: it is zeros, or half of it is, and nothing is opened that may be."""
    peers, erase, erased = federation(privacy=tacit.AffineMasks(10.0), n=4, tolerance=1e-3), sent.erase, []

    def stop(path):
        if "member-1" not in path.name or not list(peers.folder.glob("member-1-*.done")):
            erase(path)
            return
        if len(erased) == files:
            with path.open("r+b") as file:
                file.write(bytes(path.stat().st_size // (1 + half)))
            raise Gone
        erased.append(path)
        erase(path)

    with monkeypatch.context() as patched:
        patched.setattr(sent, "erase", stop)
        patched.setattr(store, "erase", stop)
        _, ends = peers.play(memory)
    end = ends.pop("member-1")
    agent = memory().agent(peers.manifest, peers.job.costs[1], "member-1", peers.folder)
    if not isinstance(end, Gone):
        assert len(erased) <= files, "there were no more files"
    again = agent.run()
    np.testing.assert_array_equal(again.x, peers.expected().x[1])
    assert list(agent.file.parent.glob("member-1-*.state*")) == []


def test_an_answer_of_another_version_is_refused_with_a_sentence(stopped):
    agent, _ = stopped
    agent.result.write_bytes(msgspec.msgpack.encode([b"x", 3, None]))
    with pytest.raises(FileError, match=r"member-1-.*\.done: was written by another version of tacit"):
        agent.run()
