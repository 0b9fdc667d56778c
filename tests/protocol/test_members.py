"""Members under crashes, cut links, departures, epochs and late comers: every schedule that is fair comes to an end.

The world of `world.py` judges every byte; the machines make up schedules, and the last tests plant mistakes that the
machines must notice.
"""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import Phase as Part
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from tacit.protocol import run
from tacit.protocol.farewell import NOTED_WITHIN, Farewell
from tacit.protocol.record import Record, Stage

specification = importlib.util.spec_from_file_location("world", Path(__file__).with_name("world.py"))
world = importlib.util.module_from_spec(specification)
sys.modules["world"] = world
specification.loader.exec_module(world)
COSTS, LINKS, World, Member, Disk = world.COSTS, world.LINKS, world.World, world.Member, world.Disk
PATIENCE = world.PATIENCE

names = st.sampled_from(sorted(COSTS))
stages = st.sampled_from([Stage.KEYED, Stage.MASKED, Stage.COMMITTED, Stage.ROUNDS, Stage.ROUNDS, Stage.ENDED])
ends = st.sampled_from([*LINKS, *(link[::-1] for link in LINKS)])


class Members(RuleBasedStateMachine):
    """Four members on five links."""

    @initialize(
        once=st.booleans(), checkpoints=st.booleans(), late=st.sampled_from([(), (), ("east",), ("north", "west")])
    )
    def begin(self, once, checkpoints, late):
        self.world = World(once=once, checkpoints=checkpoints)
        for name in COSTS:
            if name not in late:
                self.world.start(name)

    def running(self, name):
        member = self.world.members.get(name)
        return member is not None and member.state == "runs"

    @rule(name=names, acts=st.integers(1, 30))
    def work(self, name, acts):
        if self.running(name):
            self.world.members[name].work(acts)

    def wake(self):
        """Start whoever is not there, and has not left for good."""
        for name in self.world.newest.members:
            if name not in self.world.left and not self.running(name):
                self.world.start(name)

    @rule(name=names, stage=stages, turns=st.integers(0, 6), quantum=st.sampled_from([2, 7]))
    def go_on_until(self, name, stage, turns, quantum):
        self.world.run_until(name, stage, turns=turns, quantum=quantum)

    @rule(
        name=names, stage=stages, turns=st.sampled_from([0, 0, 1, 2, 3, 4, 6]), acts=st.sampled_from([0, 0, 1, 2, 3, 5, 8, 12]), left=st.integers(0, 5),
        goes=st.sampled_from(["for a while", "for a moment", "for good"]), arrives=st.booleans(),
    )  # fmt: skip
    def crash(self, name, stage, turns, acts, left, goes, arrives):
        """A power cut after any act, with any beginning of the log on disk; its last words may arrive or not."""
        self.wake()
        self.world.run_until(name, stage, turns=turns)
        if not self.running(name):
            return
        member = self.world.members[name]
        member.work(acts)
        if arrives:
            for other in list(member.channels):
                self.world.deliver(name, other, 20)
        if self.running(name):
            self.world.crash(name, left)
        if goes == "for a moment":
            self.world.start(name)
        elif goes == "for good" and len(self.world.left) < 2:
            self.world.left.add(name)

    @rule(end=ends, frames=st.integers(1, 20))
    def deliver(self, end, frames):
        self.world.deliver(*end, frames)

    @rule(end=ends)
    def connect(self, end):
        self.world.connect(*end)

    @rule(end=ends, frames=st.integers(0, 3))
    def cut(self, end, frames):
        self.world.deliver(*end, frames)
        self.world.cut(*end)

    @rule(name=names)
    def start(self, name):
        """For the first time, or again; a member that is left out stays where it was."""
        if name not in self.world.left and not self.running(name):
            self.world.start(name)

    @precondition(lambda self: self.world.left)
    @rule(at_once=st.booleans())
    def go_on_without_whoever_has_left(self, at_once):
        if len(self.world.agreements) < 3 and self.world.left & {*self.world.newest.members}:
            after = self.world.go_on_without()
            for name in after.members if after is not None and at_once else ():
                self.world.start(name)

    @rule(name=names)
    def go_back(self, name):
        """Start under the manifest before: refused, once the later one has begun."""
        if len(self.world.agreements) < 2 or name in self.world.left:
            return
        before, now = self.world.agreements[-2:]
        if not self.world.disk(name, now).read().has_begun:
            return
        member = self.world.start(name, before)
        member.work(3)
        assert member.state == "refused"
        assert "cannot go back" in member.error
        assert not member.online

    @rule(seconds=st.sampled_from([1.0, 6.0, 40.0]))
    def wait(self, seconds):
        self.world.now += seconds

    @invariant()
    def everything_is_in_order(self):
        if hasattr(self, "world"):
            self.world.judge()

    def teardown(self):
        """Faults are over: all who can go on do, and whoever takes part has the answer."""
        if not hasattr(self, "world"):
            return
        all_ = self.world
        if all_.left & {*all_.newest.members} and (len(all_.agreements) > 2 or all_.go_on_without() is None):
            all_.left.clear()  # nobody can go on without them: they come back
        self.come_to_the_end()
        while answered := {name for name in all_.newest.members if all_.answer_before(name)}:
            for name in answered:
                assert all_.members[name].state == "refused", name
                assert "has its answer" in all_.members[name].error
            if all_.go_on_without() is None:
                return  # too few, or nobody, are left to go on: the others came to the end while these agreed
            self.come_to_the_end()
        for name in all_.newest.members:
            disk, member = all_.disk(name), all_.members[name]
            assert disk.answer or disk.read().stage is Stage.ENDED, (name, member.state, member.error, disk.read())
            assert member.state in ("done", "kept"), (name, member.state, member.error)

    def come_to_the_end(self):
        all_ = self.world
        for _ in range(4):  # of those who have lost patience, some were only too early
            for name in all_.newest.members:
                member = all_.members.get(name)
                stays = member is not None and member.agreement == all_.newest and member.state in ("runs", "done")
                if not stays and name not in all_.left:
                    all_.start(name)
            all_.settle()
            all_.judge()


class Epochs(Members):
    """The same, from where a member has left and the others have begun to go on, each interrupted once."""

    @initialize(
        once=st.booleans(), leaver=names, first=names, stage=stages, turns=st.integers(0, 4),
        acts=st.lists(st.integers(0, 4), min_size=4, max_size=4),
    )  # fmt: skip
    def begin(self, once, leaver, first, stage, turns, acts):
        self.world = World(once=once, checkpoints=True)
        for name in COSTS:
            self.world.start(name)
        self.world.run_until(first, stage, turns=turns, quantum=3)
        self.world.crash(leaver, 0)
        self.world.left.add(leaver)
        after = self.world.go_on_without()
        for name, count in zip(after.members if after is not None else (), acts, strict=False):
            self.world.start(name).work(count)
            if self.running(name):
                self.world.crash(name, 0)
                self.world.start(name)


class Endings(Members):
    """The same, from where one member is ahead of all others, with its last words on their way or lost."""

    @initialize(
        once=st.booleans(), checkpoints=st.booleans(), first=names, lost=st.sets(ends), turns=st.integers(12, 16)
    )
    def begin(self, once, checkpoints, first, lost, turns):
        self.world = World(once=once, checkpoints=checkpoints)
        for name in COSTS:
            self.world.start(name)
        self.world.run_until(first, Stage.ROUNDS, turns=turns)
        self.world.run_ahead(first)
        for end in sorted(lost):
            self.world.cut(*end)


QUICK = settings(max_examples=100, stateful_step_count=20)
MANY = settings(max_examples=2000, stateful_step_count=40)
MACHINES = pytest.mark.parametrize("machine", [Members, Epochs, Endings], ids=lambda machine: machine.__name__)


@MACHINES
def test_every_fair_schedule_ends_with_the_answer_and_no_word_too_many(machine):
    run_machine(machine, settings=QUICK)


@pytest.mark.network
@MACHINES
def test_thousands_of_schedules_end_with_the_answer_and_no_word_too_many(machine):
    run_machine(machine, settings=MANY)


def test_one_who_ends_while_the_others_agree_to_go_on_without_a_leaver_keeps_its_answer():
    """The leaver had told its last words: whoever has heard them all ends, and cannot be counted on any more."""
    machine = Members()
    machine.begin(once=False, checkpoints=False, late=())
    machine.crash("east", Stage.ENDED, turns=0, acts=0, left=0, goes="for good", arrives=False)
    machine.go_on_without_whoever_has_left(at_once=False)
    machine.go_on_until("north", Stage.KEYED, turns=2, quantum=7)
    ended = {name for (name, _), disk in machine.world.disks.items() if disk.answer or disk.read().has_ended}
    assert "north" in ended
    machine.teardown()
    machine.world.judge()


def test_an_undisturbed_run_leaves_the_answer_and_nothing_else():
    quiet = World(once=False, checkpoints=True)
    for name in COSTS:
        quiet.start(name)
    quiet.settle()
    quiet.judge()
    assert all(member.state == "done" for member in quiet.members.values())
    for disk in quiet.disks.values():
        assert Record.decode(disk.answer).stage is Stage.ERASED
        assert disk.everything() == disk.answer
    assert quiet.now == 0.0, "nobody waited for anything"


@pytest.mark.parametrize("lost", [*LINKS, *(link[::-1] for link in LINKS)], ids="-".join)
def test_a_goodbye_that_is_lost_as_its_sender_leaves_keeps_nobody(lost):
    """The link breaks under every goodbye that says so once, and comes up again: all leave at once, and clean."""
    breaking = World(once=False, checkpoints=True)
    write, broken = breaking.write, []

    def writing(sender, to, data):
        write(sender, to, data)
        if (sender.name, to) == lost and sender.record.has_ended and len(broken) < 2:
            broken.append(data)
            breaking.cut(*lost)

    breaking.write = writing
    for name in COSTS:
        breaking.start(name)
    breaking.settle()
    breaking.judge()
    assert len(broken) == 2
    assert {member.state for member in breaking.members.values()} == {"done"}
    assert breaking.now < NOTED_WITHIN, "nobody waited for anything"


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("stage", [Stage.ENDED, Stage.PARTED], ids=lambda stage: stage.value)
def test_one_who_is_killed_in_its_last_moment_and_comes_back_at_once_keeps_nobody(name, stage):
    killed = World(once=False, checkpoints=True)
    for each in COSTS:
        killed.start(each)
    killed.run_until(name, stage, turns=int(stage is Stage.ENDED))
    assert killed.members[name].state == "runs"
    killed.crash(name, 0)
    killed.settle(2)  # the others go on meanwhile
    killed.start(name)
    killed.settle()
    killed.judge()
    assert {member.state for member in killed.members.values()} == {"done"}
    assert killed.now < PATIENCE


def test_one_who_never_says_that_it_has_noted_a_goodbye_keeps_nobody_for_long(monkeypatch):
    monkeypatch.setattr(Farewell, "answer", lambda self, lines: [])
    silent = World(once=False, checkpoints=True)
    for name in COSTS:
        silent.start(name)
    silent.settle()
    assert {member.state for member in silent.members.values()} == {"done"}
    assert NOTED_WITHIN <= silent.now < PATIENCE


# planted mistakes ---------------------------------------------------------------------------------------------

HUNT = settings(
    max_examples=600, stateful_step_count=20, phases=[Part.generate], report_multiple_bugs=False, database=None
)


def notices(machine=Members):
    with pytest.raises(AssertionError):
        run_machine(machine, settings=HUNT)


def test_the_machine_notices_masks_that_are_sent_before_that_is_written_down(monkeypatch):
    advance = Member.advance

    def hasty(self, event):
        if isinstance(event, run.Draw):
            self.record = run.step(self.record, event)  # on disk with whatever comes next
        else:
            advance(self, event)

    monkeypatch.setattr(Member, "advance", hasty)
    notices()


def test_the_machine_notices_a_stage_that_is_committed_together_with_its_first_message(monkeypatch):
    """The log may survive a crash that the record does not: the message would be said, and nobody would know."""

    def advance(self, event):
        self.record = run.step(self.record, event)
        self.write(self.record.encode())
        if self.record.has_ended:
            self.disk.commit()

    monkeypatch.setattr(Member, "advance", advance)
    notices()


def test_the_machine_notices_a_mark_that_forgets_what_was_published(monkeypatch):
    def superseded(record, event):
        gone = run._superseded(record, event)
        return run._replace(gone, committed=False)

    for stage in run._RUNNING:
        monkeypatch.setitem(run.TABLE[run.Supersede], stage, superseded)
    notices(Epochs)


def test_the_machine_notices_masks_that_are_carried_from_the_wrong_epoch(monkeypatch):
    def carry(record, **given):
        return run.carry(run._replace(record, drawn=True), **given)

    monkeypatch.setattr(world, "carry", carry)
    notices(Epochs)


def test_the_machine_notices_a_key_that_is_drawn_again_after_a_restart(monkeypatch):
    for stage in run._LIVING:
        monkeypatch.setitem(run.TABLE[run.Begin], stage, lambda record, event: run._replace(record, key=event.key))
    notices()


def test_the_machine_notices_a_way_back_from_a_later_epoch(monkeypatch):
    monkeypatch.setitem(run.TABLE[run.Begin], Stage.SUPERSEDED, run._bound)
    notices(Epochs)


def test_the_machine_notices_a_secret_that_is_left(monkeypatch):
    monkeypatch.setitem(
        run.TABLE[run.Erase], Stage.PARTED, lambda record, event: run._replace(record, stage=Stage.ERASED)
    )
    notices()


def test_the_machine_notices_one_who_leaves_while_somebody_needs_a_message(monkeypatch):
    monkeypatch.setitem(
        run.TABLE[run.Goodbyes], Stage.ENDED, lambda record, event: run._replace(record, stage=Stage.PARTED)
    )
    notices(Endings)


def test_the_machine_notices_one_who_never_leaves(monkeypatch):
    def look(self, lines, now):
        self.ends = now + 10.0
        return []

    monkeypatch.setattr(Farewell, "look", look)
    notices(Endings)


def test_the_machine_notices_an_answer_that_is_known_before_the_links_have_ended(monkeypatch):
    """Marks of the last checkpoint, and not of the end: what is wanted again would be missing."""

    def ended(record, event):
        return run._ended(record, event._replace(marks=[run.Mark(0, 0) for _ in event.marks]))

    monkeypatch.setitem(run.TABLE[run.End], Stage.ROUNDS, ended)
    notices(Endings)
