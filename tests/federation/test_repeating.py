"""Repeated runs without agents: numbers, clocks, what is remembered across a kill, and records that change."""

import logging
from dataclasses import dataclass, field
from types import SimpleNamespace

import msgspec
import pytest

import tacit
from tacit.errors import DamagedError, InputError, RefusedError, StillNeededError
from tacit.federation import Consent, Hiding, Plan, Repeat, Series, draw_up, repeat
from tacit.federation.account import permit
from tacit.federation.declining import decline
from tacit.federation.joining import seat_of
from tacit.federation.meeting import tokens_of
from tacit.federation.numbering import following, meeting_session, numbered, scheduled
from tacit.federation.repeating import to_the_end

DAY = 86_400.0


@pytest.fixture
def manifest(cards):
    return draw_up(cards, Plan(unknowns=2, repeat=Repeat(runs=4, every=DAY)))


@dataclass
class World:
    """A clock that only waiting moves, and runs that take a while."""

    now: float = 1e9
    took: float = 100.0
    waited: list = field(default_factory=list)
    begun: list = field(default_factory=list)

    def clock(self):
        return self.now

    def pause(self, seconds):
        self.waited.append(seconds)
        self.now += seconds

    def series(self, manifest, folder, me="north"):
        return Series(manifest, me=me, folder=folder, clock=self.clock, pause=self.pause)

    def play(self, turn, part):
        self.begun.append((turn.manifest.run, self.now))
        self.now += self.took
        return SimpleNamespace(verdict=SimpleNamespace(status="converged"), rounds=7)


def taking_part(records="the same"):
    return lambda manifest: SimpleNamespace(records=records)


def test_runs_come_on_a_grid_however_long_each_takes(manifest, tmp_path, caplog):
    world = World()
    with caplog.at_level(logging.INFO, logger="tacit.series"):
        account = repeat(world.series(manifest, tmp_path), taking_part(), world.play)
    first = 1e9 + 100.0
    assert [run for run, _ in world.begun] == [1, 2, 3, 4]
    assert [at - first for _, at in world.begun[1:]] == [DAY, 2 * DAY, 3 * DAY]
    assert account.converged
    assert account.sentence == "4 of 4 runs are over; all of them converged."
    assert "run 2 of 4 begins in 1 d" in caplog.text
    assert caplog.text.count("is over: converged") == 4


def test_every_run_is_a_session_of_its_own_and_the_first_is_the_manifest(manifest):
    sessions = [numbered(manifest, k).session() for k in range(1, 5)]
    assert len(set(sessions)) == 4
    assert sessions[0] == manifest.session()
    assert [following(numbered(manifest, k)) for k in range(1, 4)] == sessions[1:]
    assert following(msgspec.structs.replace(manifest, repeat=Repeat())) == ""
    assert len({meeting_session(numbered(manifest, k)) for k in range(1, 5)}) == 1, "they meet in the same place"
    stems = {seat_of(numbered(manifest, k), "north").stem for k in range(1, 5)}
    assert len(stems) == 4, "a state file, and so a key of the masks, for every run"


def test_a_relay_that_serves_a_series_serves_all_its_runs(cards):
    inward = [msgspec.structs.replace(card, address="") for card in cards]
    manifest = draw_up(inward, Plan(unknowns=2, relay="relay.example:7400", repeat=Repeat(runs=3, every=1.0)))
    known = set(tokens_of(manifest))
    for k in (1, 2, 3):
        seat = seat_of(numbered(manifest, k), "north")
        assert {seat.meeting(name).token for name in manifest.neighbours()["north"]} <= known


@pytest.mark.parametrize("killed", ["before", "during", "after"])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_killed_anywhere_no_run_is_left_out_and_none_is_begun_after_it_is_over(manifest, tmp_path, number, killed):
    world = World()

    class Killed(BaseException):
        pass

    def part(numbered):
        if killed == "before" and numbered.run == number and len(world.begun) < number:
            world.begun.append(None)
            raise Killed
        return SimpleNamespace(records="the same")

    def play(turn, part):
        if killed == "during" and turn.number == number and (number, "killed") not in world.begun:
            world.begun.append((number, "killed"))
            raise Killed
        return world.play(turn, part)

    class Forgetful(Series):
        def end(self, turn, outcome):
            if killed == "after" and turn.number == number and (number, "killed") not in world.begun:
                world.begun.append((number, "killed"))
                raise Killed
            super().end(turn, outcome)

    def start():
        series = Forgetful(manifest, me="north", folder=tmp_path, clock=world.clock, pause=world.pause)
        return repeat(series, part, play)

    with pytest.raises(Killed):
        start()
    account = start()
    assert [run.number for run in account.played] == [1, 2, 3, 4]
    played = [each[0] for each in world.begun if each is not None and each[1] != "killed"]
    again = [number] if killed == "after" else []  # whose agent finds its own answer, and begins nothing
    assert sorted(played) == sorted([1, 2, 3, 4, *again])
    before = len(world.begun)
    assert start() == account
    assert len(world.begun) == before, "what is over is not begun again"


def test_a_member_that_was_away_catches_up_at_once_and_says_how_late_it_is(manifest, tmp_path, caplog):
    world = World()
    series = world.series(manifest, tmp_path)
    turn = next(series.ahead())
    series.begin(turn, "the same")
    series.end(turn, world.play(turn, None))
    world.now += 2.5 * DAY
    with caplog.at_level(logging.INFO, logger="tacit.series"):
        repeat(world.series(manifest, tmp_path), taking_part(), world.play)
    assert "run 2 of 4 begins now, 1 d 12 h late" in caplog.text
    assert len(world.waited) == 1, "runs 2 and 3 are due, and run 4 is waited for"


def test_clocks_may_differ_and_be_put_back(manifest, tmp_path):
    """Two members whose clocks are years apart wait as long; one that is put back waits for one day, and not for years."""
    worlds = {"north": World(now=1e9), "south": World(now=2e9)}
    for me, world in worlds.items():
        repeat(world.series(manifest, tmp_path, me), taking_part(), world.play)
    assert worlds["north"].waited == worlds["south"].waited
    world, folder = World(), tmp_path / "back"
    folder.mkdir()
    series = world.series(manifest, folder)
    turn = next(series.ahead())
    series.begin(turn, "the same")
    series.end(turn, world.play(turn, None))
    world.now -= 400 * DAY
    series.wait(next(series.ahead()))
    assert world.waited == [DAY]


def test_records_that_change_are_refused_unless_the_manifest_accepts_that(manifest, tmp_path, caplog):
    world, records = World(), iter(["old", "old", "new"])

    def changing(numbered):
        return SimpleNamespace(records=next(records))

    with pytest.raises(
        RefusedError, match=r"run 3 of 4 is refused: the records are not those of run 2\..* came or went"
    ):
        repeat(world.series(manifest, tmp_path), changing, world.play)
    assert [run for run, _ in world.begun] == [1, 2]
    assert "run 3 of 4 is not over; 2 of 4 runs are over" in caplog.text
    repeat(world.series(manifest, tmp_path), taking_part("old"), world.play)
    assert [run for run, _ in world.begun] == [1, 2, 3, 4], "with the records of before it goes on"
    lenient = msgspec.structs.replace(manifest, repeat=Repeat(runs=4, every=DAY, changes="accept"))
    records = iter("abcd")
    account = repeat(World().series(lenient, tmp_path), changing, World().play)
    assert account.converged


def test_the_ledger_is_asked_every_time_and_the_manifest_accepts_changes_for_it(cards, tmp_path):
    def book(manifest, name):
        file = tmp_path / name
        with tacit.Ledger(file, owner="north", budget=1e-3):
            pass
        for k in range(1, 4):
            consent = Consent(versions=(("north", "", f"{k}" * 32),))
            permit(numbered(manifest, k), "north", file, consent, draw=lambda k=k: f"draw {k}").enter()
        with tacit.Ledger(file) as ledger:
            return ledger.entries()

    plan = Plan(unknowns=2, repeat=Repeat(runs=3, every=DAY))
    with pytest.raises(RefusedError, match="what changed at agent north"):
        book(draw_up(cards, plan), "strict.sqlite")
    lenient = draw_up(cards, Plan(unknowns=2, repeat=Repeat(runs=3, every=DAY, changes="accept")))
    entries = book(lenient, "lenient.sqlite")
    assert len({entry.release.key for entry in entries}) == 3
    assert len({entry.release.run for entry in entries}) == 3
    gossip = {"hiding": Hiding(level="affine", sigma=35.0), "algorithm": "nids", "settings": {"step_size": 0.01}}
    repeated = Repeat(runs=30, every=DAY, changes="accept")
    manifest, file = draw_up(cards, Plan(unknowns=2, repeat=repeated, **gossip)), tmp_path / "small.sqlite"
    with tacit.Ledger(file, owner="north", budget=1e-3):
        pass
    runs = iter(range(1, 31))

    def all_of_them():
        for k in runs:
            permit(numbered(manifest, k), "north", file, Consent(), draw=lambda k=k: f"draw {k}").enter()

    with pytest.raises(RefusedError, match="above the budget of 0.001"):
        all_of_them()
    assert 2 < next(runs) < 30, "masks that are fresh every time cost every time"


def test_a_neighbour_that_has_not_said_goodbye_is_waited_for(manifest, tmp_path):
    now = iter(range(0, 10**7, 50_000))
    turn = next(World().series(manifest, tmp_path).ahead())
    answer, runs = tmp_path / "north.done", []

    def run(*hooks):
        runs.append(1)
        if len(runs) == 3:
            answer.touch()
        return "outcome"

    part = SimpleNamespace(run=run, agent=SimpleNamespace(result=answer, needed_by=("south",)))
    assert to_the_end(turn, part, clock=lambda: 0.0) == "outcome"
    assert len(runs) == 3
    answer.unlink()
    with pytest.raises(StillNeededError, match="south may still need something"):
        to_the_end(turn, part, clock=lambda: float(next(now)))


def test_what_is_remembered_holds_no_secret_and_damage_is_said(manifest, tmp_path):
    world = World()
    series = world.series(manifest, tmp_path)
    repeat(series, taking_part(), world.play)
    assert series.file.stat().st_mode & 0o777 == 0o600
    series.file.write_bytes(b"{")
    with pytest.raises(DamagedError, match="is damaged"):
        world.series(manifest, tmp_path)
    series.file.write_text('{"session": "other"}')
    with pytest.raises(InputError, match="of another manifest"):
        world.series(manifest, tmp_path)


def test_a_member_says_how_often_where_the_manifest_does_not(cards):
    plain = draw_up(cards, Plan(unknowns=2))
    asked = scheduled(plain, every="1d", runs=30)
    assert asked.repeat == Repeat(runs=30, every=DAY)
    assert asked.session() != plain.session()
    assert [part for part, value in asked.parts().items() if plain.parts()[part] != value] == ["repeat"]
    assert scheduled(asked, every="24h", runs=30) == asked
    assert scheduled(asked) == asked
    with pytest.raises(InputError, match="the manifest says 30 runs, one every 1 d"):
        scheduled(asked, every="1d", runs=29)
    for options in ({"every": "1d"}, {"runs": 3}):
        with pytest.raises(InputError, match="go together"):
            scheduled(plain, **options)
    for every in ("soon", "0s", "-1d", "1y", ""):
        with pytest.raises(InputError, match="must be a time such as"):
            scheduled(plain, every=every, runs=2)


@pytest.mark.parametrize("wrong", [Repeat(runs=0), Repeat(runs=2), Repeat(runs=2, every=-1.0)])
def test_a_schedule_that_nobody_can_keep_is_refused(cards, wrong):
    with pytest.raises(InputError, match=r"\[repeat\]"):
        draw_up(cards, Plan(unknowns=2, repeat=wrong))


def test_whose_later_run_is_refused_tells_the_others_and_a_first_run_is_waited_for(manifest, tmp_path):
    """By its records or by its ledger; a run that it has begun before is another matter."""
    told, world = [], World()

    def refusing(manifest):
        raise RefusedError("the ledger says no.")

    with pytest.raises(RefusedError):
        repeat(world.series(manifest, tmp_path), refusing, world.play, told.append)
    assert told == []
    changing = iter(["the same", "others"])
    with pytest.raises(RefusedError, match="the records are not those of run 1"):
        repeat(
            world.series(manifest, tmp_path),
            lambda each: taking_part(next(changing))(each),
            world.play,
            told.append,
        )
    with pytest.raises(RefusedError, match="the ledger says no"):
        repeat(world.series(manifest, tmp_path), refusing, world.play, told.append)
    assert [each.run for each in told] == [manifest.run + 1] * 2


def test_nobody_is_told_of_a_run_that_has_begun_here(manifest, tmp_path):
    key = tmp_path / "north.key"
    (tmp_path / f"{seat_of(manifest, 'north').stem}.state").touch()
    assert decline(manifest, me="north", key=key) == []
