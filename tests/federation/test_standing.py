"""How a member's agent stands, from files that are made up, at times that are made up."""

import json
import time

import msgspec
import pytest
from typer.testing import CliRunner

from tacit.cli import app
from tacit.cli.links_table import links_table
from tacit.errors import FileError, InputError
from tacit.federation import Condition, Manifest, Member, standing_of
from tacit.federation.sections import Masks, Stop
from tacit.runtimes.peers import Bulletin
from tacit.runtimes.peers.bulletin import LinkNews, post

NOW = 1_800_000_000.0


@pytest.fixture
def manifest():
    """Return one of three members, who are never started."""
    members = {name: Member("127.0.0.1:7411", "no certificate") for name in ("east", "north", "west")}
    return Manifest(
        title="a federation",
        run=1,
        members=members,
        links=[("east", "north"), ("north", "west"), ("east", "west")],
        unknowns=2,
        privacy=Masks(level="sums"),
        algorithm={"name": "newton"},
        stop=Stop(),
    )


@pytest.fixture
def stem(manifest, tmp_path):
    return tmp_path / f"north-{manifest.session()[:12]}"


def bulletin(manifest, **more):
    east = LinkNews(
        neighbour="east", up=True, trouble="", connections=1, violations=0, used=7, waiting=1, sent=2048, received=900,
        heard=0.4,
    )  # fmt: skip
    west = LinkNews(
        neighbour="west", up=False, trouble="no answer", connections=0, violations=0, used=0, waiting=0, sent=0,
        received=0, heard=None,
    )  # fmt: skip
    facts = {
        "name": "north",
        "session": manifest.session(),
        "protocol": 1,
        "pid": 41,
        "since": NOW - 90,
        "at": NOW - 1,
    }
    return Bulletin(**facts | {"phase": "keyed", "round": 0, "links": (east, west)} | more)


@pytest.fixture
def standing(manifest, tmp_path):
    return lambda: standing_of(manifest, me="north", folder=tmp_path, now=lambda: NOW)


def test_nothing_there_is_not_begun(standing):
    found = standing()
    assert (found.condition, found.is_well) == (Condition.NOT_BEGUN, False)
    assert found.lines() == ["north: has not begun this run, or keeps its state in another folder."]


def test_a_bulletin_of_the_last_ten_seconds_is_a_running_agent(manifest, stem, standing):
    stem.with_suffix(".state").touch()
    post(bulletin(manifest, awaited="west", waited=31.0), stem.with_suffix(".status"))
    found = standing()
    assert (found.condition, found.is_well, found.age) == (Condition.RUNNING, True, 1.0)
    first, second = found.lines()
    assert first.startswith("north: running since 2027-01-15T07:58:30Z, in phase keyed, round 0 (tacit ")
    assert first.endswith(", protocol 1, process 41).")
    assert second == "Waiting for west for 31 s."


@pytest.mark.parametrize("at", [NOW - 60.0, NOW + 60.0], ids=["killed", "the clock was moved"])
def test_an_older_bulletin_is_no_sign_of_life(manifest, stem, standing, at):
    stem.with_suffix(".state").touch()
    post(bulletin(manifest, at=at, phase="rounds", round=3), stem.with_suffix(".status"))
    found = standing()
    assert (found.condition, found.is_well) == (Condition.SILENT, False)
    assert found.lines()[0].startswith(
        "north: no sign of life for 60 s, since phase rounds, round 3. It was killed,"
    )


def test_a_state_alone_is_to_be_started_again(stem, standing):
    stem.with_suffix(".state").touch()
    found = standing()
    assert (found.condition, found.is_well) == (Condition.STOPPED, False)
    assert "start it again, and it goes on from where it was" in found.lines()[0]


def test_an_answer_is_the_end_whatever_else_is_there(manifest, stem, standing):
    stem.with_suffix(".done").touch()
    assert standing().lines() == ["north: done. Started again, the agent prints the same answer."]
    post(bulletin(manifest, at=NOW - 60.0), stem.with_suffix(".status"))
    stem.with_suffix(".state").touch()
    found = standing()
    assert (found.condition, found.is_well, found.bulletin) == (Condition.DONE, True, None)
    assert found.lines() == ["north: done. Its private state is still here: start it again, and it is erased."]


def test_evidence_and_links_that_have_failed_are_for_a_person(manifest, stem, standing):
    stem.with_suffix(".state").touch()
    post(bulletin(manifest, failed=True), stem.with_suffix(".status"))
    found = standing()
    assert not found.is_well
    assert found.lines()[1] == "Its own links have failed: start it again."
    post(bulletin(manifest), stem.with_suffix(".status"))
    assert standing().is_well
    stem.with_suffix(".evidence").touch()
    found = standing()
    assert not found.is_well
    assert "neighbours were told different things" in found.lines()[-1]


def test_as_json_it_says_the_same(manifest, stem, standing):
    post(bulletin(manifest), stem.with_suffix(".status"))
    said = json.loads(json.dumps(standing().to_dict(), allow_nan=False))
    assert (said["member"], said["condition"], said["well"], said["age"]) == ("north", "running", True, 1.0)
    assert msgspec.convert(said["bulletin"], Bulletin) == bulletin(manifest)
    assert said["sentences"] == standing().lines()


def test_looking_changes_nothing(manifest, stem, standing, tmp_path):
    stem.with_suffix(".state").write_bytes(b"no database at all")
    post(bulletin(manifest), stem.with_suffix(".status"))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    standing()
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before


def test_whoever_is_no_member_and_a_folder_that_is_not_there_are_refused(manifest, tmp_path):
    with pytest.raises(InputError, match="'nrth' is no member"):
        standing_of(manifest, me="nrth", folder=tmp_path)
    with pytest.raises(FileError, match="the folder does not exist"):
        standing_of(manifest, me="north", folder=tmp_path / "elsewhere")


def test_the_table_shows_every_link(manifest):
    table = links_table(bulletin(manifest, awaited="west"))
    assert table.title == "north: waiting for west"
    rows = list(zip(*(map(str, column.cells) for column in table.columns), strict=True))
    assert rows == [
        ("east", "up", "7 used, 1 waiting", "2.0 KiB", "900 B", "0 s ago"),
        ("west", "no answer", "0 used", "0 B", "0 B", "never"),
    ]
    assert links_table(bulletin(manifest, round=4)).title == "north: round 4"


def test_the_command_prints_it_and_ends_with_a_code(manifest, stem, tmp_path, monkeypatch):
    monkeypatch.setattr(Manifest, "read", lambda _: manifest)
    (tmp_path / "f.toml").touch()

    def status(*words):
        done = CliRunner().invoke(app, ["status", str(tmp_path / "f.toml"), "--me", "north", *words])
        return done.exit_code, done.stdout

    assert status() == (1, "north: has not begun this run, or keeps its state in another folder.\n")
    stem.with_suffix(".done").touch()
    assert status() == (0, "north: done. Started again, the agent prints the same answer.\n")
    stem.with_suffix(".done").unlink()
    post(bulletin(manifest, at=time.time()), stem.with_suffix(".status"))
    code, said = status("--folder", str(tmp_path))
    assert code == 0
    assert "in phase keyed" in said
    assert "no answer" in said
    code, said = status("--key", str(tmp_path / "any.key"), "--json")
    assert (code, json.loads(said)["bulletin"]["links"][1]["trouble"]) == (0, "no answer")
    post(bulletin(manifest), stem.with_suffix(".status"))  # of 2027: another clock
    assert status()[0] == 1
