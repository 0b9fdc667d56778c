"""Keys, cards and manifests, as a coordinator for a minute makes them."""

import io
import json
import math
import socket
from pathlib import Path

import msgspec
import networkx as nx
import pytest

import tacit

NAMES = ("north", "south", "west", "east")


@pytest.fixture
def cards(run):
    """Make four members' keys and cards here."""
    for k, name in enumerate(NAMES):
        assert run("keygen", "--name", name, "--address", f"127.0.0.1:{7601 + k}")[0] == 0


def test_cards_become_a_manifest_that_can_be_checked(run):
    for k, name in enumerate(("north", "south", "west", "east")):
        code, out, _ = run("keygen", "--name", name, "--address", f"127.0.0.1:{7601 + k}")
        assert code == 0
        assert "Fingerprint" in out
        assert Path(f"{name}.key").stat().st_mode & 0o777 == 0o600
    assert run("keygen", "--name", "north")[0] == 2
    code, out, _ = run("federation", "new", "f.toml", "--unknowns", "2", "--cost", "ridge", "--links", "3")
    assert code == 0
    assert "4 members, 6 links" in out
    code, out, _ = run("federation", "check", "f.toml", "--any", "1")
    assert code == 0
    assert "learns the sums over all other agents, and nothing else" in out
    assert "PRIVATE KEY" not in Path("f.toml").read_text()


def test_mistakes_of_a_coordinator_get_one_sentence(run):
    for name in ("north", "south", "west"):
        run("keygen", "--name", name)
    for words, message in (
        (("federation", "new", "f.toml"), "--unknowns"),
        (
            ("federation", "new", "f.toml", "--unknowns", "2", "--level", "affine", "--sigma", "9"),
            "agree on an algorithm",
        ),
        (("federation", "new", "f.toml", "north.card", "--unknowns", "2"), "at least three"),
        (("federation", "check", "nowhere.toml"), "cannot be read"),
    ):
        code, _, err = run(*words)
        assert code == 2
        assert message in err
        assert err.count("\n") == 1


def test_everything_that_is_agreed_on_is_in_the_manifest(run, cards):
    code, _, err = run(
        "federation", "new", "f.toml", "--unknowns", "3", "--links", "3", "--any", "2", "--cost", "huber",
        "--delta", "2.5", "--l2", "4", "--bound", "4096", "--words", "2", "--patience", "60", "--idle", "5",
        "--tolerance", "1e-7", "--max-rounds", "500", "--title", "clinics", "--run", "3",
    )  # fmt: skip
    assert code == 0, err
    manifest = tacit.federation.Manifest.read("f.toml")
    assert manifest.model == tacit.federation.Model("huber", l2=4.0, delta=2.5)
    assert manifest.privacy == tacit.federation.Masks("sums", bound=4096.0, words=2, any=2)
    noise = tacit.SumMasks(4096.0, words=2).terms(manifest.network(), 3).noise
    assert manifest.stop == tacit.federation.Stop(
        tolerance=1e-7, max_rounds=500, floor=noise / (4.0 / 4), patience=60.0, idle=5.0
    )


def test_the_floor_is_that_of_a_simulation(run, cards):
    """As `solve` has it, for costs whose curvature is not known to all."""
    words = ("--unknowns", "2", "--level", "affine", "--sigma", "100", "--algorithm", "nids")
    assert run("federation", "new", "f.toml", *words, "--setting", "step_size=0.1", "--links", "3")[0] == 0
    floor = tacit.federation.Manifest.read("f.toml").stop.floor
    graph = tacit.Network(nx.complete_graph(4))
    assert floor == tacit.AffineMasks(100.0).terms(graph, 2).noise / 1e-2
    assert floor > 0


def test_fingerprints_are_whole_and_narrow(run, cards, monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    run("federation", "new", "f.toml", "--unknowns", "2")
    _, page, _ = run("federation", "check", "f.toml")
    for name in NAMES:
        _, shown, _ = run("fingerprint", f"{name}.card")
        lines = shown.splitlines()
        assert lines[0] == f"Fingerprint of {name}:"
        assert all(len(line) < 44 for line in lines)
        assert "\n".join(lines[1:]) in page
        letters = "".join(lines[1:]).replace(" ", "").replace("-", "")
        whole = tacit.federation.fingerprint(Path(f"{name}.crt").read_text())
        assert letters == whole.replace("-", "")
        for kind in ("crt", "key"):
            assert run("fingerprint", f"{name}.{kind}")[1] == shown
    letters = page.replace("\n  ", "").replace("-", "")
    assert tacit.federation.Manifest.read("f.toml").session() in letters


def test_a_check_for_scripts(run, cards):
    run("federation", "new", "f.toml", "--unknowns", "2", "--any", "2")
    code, out, _ = run("federation", "check", "f.toml", "--json", "--me", "north")
    found = json.loads(out)
    assert code == 3
    assert found["session"] == tacit.federation.Manifest.read("f.toml").session()
    assert [member["name"] for member in found["members"]] == sorted(NAMES)
    assert found["private"]
    assert len(found["problems"]) == 3, "nobody is there yet, and all are named"
    assert found["certificate"]["statement"].startswith("An observer who controls any 2 agents")


def test_a_neighbour_that_listens_is_reached(run):
    with socket.create_server(("127.0.0.1", 0)) as there:
        run("keygen", "--name", "here", "--address", "127.0.0.1:7601")
        run("keygen", "--name", "there", "--address", f"127.0.0.1:{there.getsockname()[1]}")
        run("keygen", "--name", "away", "--address", "127.0.0.1:1")
        run("federation", "new", "f.toml", "--unknowns", "2")
        code, out, _ = run("federation", "check", "f.toml", "--me", "here")
    assert code == 3
    assert "2 neighbours; reached" in out
    assert "Problem: away does not answer at 127.0.0.1:1" in out
    assert "there does not answer" not in out


def test_all_that_is_wrong_with_a_manifest_is_said_at_once(run, cards):
    run("federation", "new", "f.toml", "--unknowns", "2")
    manifest = msgspec.toml.decode(Path("f.toml").read_bytes())
    manifest["members"]["north"]["certificate"] = manifest["members"]["south"]["certificate"]
    manifest["members"]["west"]["address"] = "nowhere"
    manifest["links"].append(["north", "stranger"])
    manifest["algorithm"]["name"] = "magic"
    manifest["stop"]["patience"] = 0.0
    Path("f.toml").write_bytes(msgspec.toml.encode(manifest))
    code, _, err = run("federation", "check", "f.toml")
    assert code == 2
    for part in ("the same certificate", "'nowhere' must be host:port", "stranger", "'magic'", "patience = 0.0"):
        assert part in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--any", "3"), "any = 3: of 4 members at least two must be honest"),
        (("--links", "2", "--any", "2"), "could cut the others apart"),
        (("--level", "secret"), "is not one of sums, affine, quadratic and none"),
        (("--level", "affine"), "need sigma, or guess and hide"),
        (("--sigma", "3"), "sigma means nothing to level = 'sums'"),
        (("--cost", "rigde"), "no cost family is called 'rigde'; choose one of quadratic"),
        (("--cost", "lasso"), "a lasso cost needs l1"),
        (("--cost", "ridge", "--delta", "2"), "delta means nothing to a ridge cost"),
        (("--cost", "distance", "--intercept"), "intercept means nothing to a distance cost"),
        (("--l2", "2"), "l2 needs a cost"),
        (("--words", "3"), "words"),
        (("--patience", "0"), "patience = 0.0 must be positive"),
        (("--tolerance", "2"), "tolerance = 2.0 must lie between 0 and 1"),
        (("--algorithm", "nids", "--setting", "step_size=0.1"), "is refused: it gossips"),
        (("--algorithm", "magic"), "no algorithm is called 'magic'"),
    ],
)
def test_what_cannot_be_agreed_on_is_refused(run, cards, words, message):
    code, _, err = run("federation", "new", "f.toml", "--unknowns", "2", *words)
    assert code == 2, err
    assert message in err
    assert err.count("\n") == 1
    assert not Path("f.toml").exists()


def test_sigma_is_chosen_against_as_many_as_may_collude(run, cards):
    words = ("--unknowns", "2", "--level", "affine", "--guess", "0.55", "--hide", "5", "--any", "2")
    gossip = ("--algorithm", "nids", "--setting", "step_size=0.01")
    assert run("federation", "new", "f.toml", *words, *gossip)[0] == 0
    masks = tacit.federation.Manifest.read("f.toml").privacy
    assert masks.any == 2
    assert math.isclose(masks.sigma, tacit.calibrate(nx.complete_graph(4), any=2, guess=0.55, hide=5.0))
    code, out, _ = run("federation", "check", "f.toml")
    assert code == 0
    assert "any 2 agents" in out


def test_files_and_names_that_will_not_do(run, cards):
    run("federation", "new", "f.toml", "--unknowns", "2")
    for words, message in (
        (("federation", "new", "f.toml", "--unknowns", "2"), "f.toml: is already there"),
        (("keygen", "--name", "../north"), "'../north' is no name for a member"),
        (("keygen", "--name", "north"), "north.card: is already there"),
        (("keygen", "--name", "new", "--address", "here"), "address = 'here' must be host:port"),
        (("federation", "check", "f.toml", "--me", "nrth"), "'nrth' is no member"),
        (("fingerprint", "f.toml"), "is not one of .crt, .card and .key"),
        (("fingerprint", "nobody.crt"), "nobody.crt: cannot be read"),
        (("ledger", "new", "--ledger", "f.toml"), "f.toml: is already there"),
    ):
        code, _, err = run(*words)
        assert code == 2
        assert message in err
        assert err.count("\n") == 1
    Path("north.crt").write_bytes(Path("south.crt").read_bytes())
    assert "is not the certificate of north.key" in run("fingerprint", "north.key")[2]


@pytest.mark.parametrize("pairing", ["both", "one-sided", "seeds"])
@pytest.mark.parametrize("dropout", ["wait", "exclude"])
def test_dropout_and_pairing_are_agreed_on_and_shown(run, cards, pairing, dropout):
    words = ("--unknowns", "2", "--pairing", pairing, "--dropout", dropout)
    assert run("federation", "new", "f.toml", *words)[0] == 0
    manifest = tacit.federation.Manifest.read("f.toml")
    assert (manifest.privacy.pairing, manifest.dropout) == (pairing, dropout)
    code, out, _ = run("federation", "check", "f.toml")
    assert code == 0
    assert f"Pairing {pairing}: " in out
    assert f"Dropout {dropout}: " in out
    assert ("computational" in out) == (pairing == "seeds")
    found = json.loads(run("federation", "check", "f.toml", "--json")[1])
    assert (found["pairing"], found["dropout"], found["epoch"]) == (pairing, dropout, 0)
    assert found["certificate"]["computational"] == (pairing == "seeds")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pairing", "none"), "pairing = 'none' is not one of both, one-sided and seeds"),
        (("--dropout", "never"), "dropout = 'never' is not one of wait and exclude"),
        (("--level", "none", "--pairing", "seeds"), "pairing means nothing to level = 'none'"),
    ],
)
def test_unknown_ways_are_refused(run, cards, words, message):
    code, _, err = run("federation", "new", "f.toml", "--unknowns", "2", *words)
    assert code == 2
    assert message in err


AFFINE = ("--level", "affine", "--sigma", "10", "--algorithm", "nids", "--setting", "step_size=0.1")


@pytest.fixture
def six(run, cards):
    """Write the manifest of six members, each with four neighbours, who may go on without each other."""
    for k, name in enumerate(("coast", "hill")):
        assert run("keygen", "--name", name, "--address", f"127.0.0.1:{7611 + k}")[0] == 0

    def make(*words, dropout="exclude"):
        new = ("federation", "new", "f.toml", "--unknowns", "2", "--dropout", dropout, *words)
        assert run(*new)[0] == 0
        return tacit.federation.Manifest.read("f.toml")

    return make


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "the sums at the points visited so far, with and without south, tell its contribution there"),
        (AFFINE, "whoever saw all effective costs before and after learns what its masks hid, exactly"),
    ],
    ids=["sums", "affine"],
)
def test_the_next_epoch_is_written_after_saying_what_it_costs(run, six, words, told):
    before = six(*words, "--cost", "ridge", "--l2", "3")
    code, out, err = run("federation", "without", "f.toml", "second.toml", "--member", "south", "--yes")
    assert (code, err) == (0, "")
    assert "Without south: 5 of 6 members stay, and 8 of 12 links." in out
    assert "nothing, if nothing was published yet" in out
    assert told in out
    assert "any one agent" in out, "the certificate of those who stay"
    assert "tacit agent second.toml --me NAME --data FILE" in out
    after = tacit.federation.Manifest.read("second.toml")
    assert (after.epoch, after.previous) == (1, before.session())
    assert list(after.members) == [name for name in before.members if name != "south"]
    assert after.model.shares == 6, "everybody keeps its share of the penalty"
    assert after.session() in out.replace("\n  ", "").replace("-", "")
    assert ", run 1, epoch 1, session" in run("federation", "check", "second.toml")[1]


def test_a_link_left_out_costs_nothing_under_gaussian_masks_and_thins_the_graph_of_sums(run, six):
    a, b = six(*AFFINE).links[0]
    out = run("federation", "without", "f.toml", "second.toml", "--link", f"{a},{b}", "--yes")[1]
    assert f"Without the link of {a} and {b}: 6 of 6 members stay, and 11 of 12 links." in out
    assert "What the link costs: nothing, once anything was published" in out
    Path("f.toml").unlink()
    a, b = six().links[0]
    code, out, _ = run("federation", "without", "f.toml", "third.toml", "--link", f"{a}, {b}", "--yes", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["costs"] == ["What the link costs: masks go over fewer links now; what holds is below."]
    assert len(found["links"]) == 11
    assert found["certificate"]["private"]
    assert found["session"] == tacit.federation.Manifest.read("third.toml").session()


def test_it_is_asked_for_and_no_is_the_default(run, six, monkeypatch):
    six()
    words = ("federation", "without", "f.toml", "second.toml", "--member", "south")
    for answer, code in (("", 1), ("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        assert run(*words)[0] == code
        assert Path("second.toml").exists() == (code == 0)


def test_those_who_stay_are_not_exposed_by_a_plain_yes(run, cards, monkeypatch):
    """Four members who guard against two: without one, any two learn the third's part."""
    assert run("federation", "new", "f.toml", "--unknowns", "2", "--dropout", "exclude", "--any", "2")[0] == 0
    words = ("federation", "without", "f.toml", "second.toml", "--member", "south")
    code, _, err = run(*words, "--yes")
    assert code == 1
    assert "NOT PRIVATE: 2 members may collude, and 3 would stay" in err
    assert "--yes does not cover that" in err
    monkeypatch.setattr("sys.stdin", io.StringIO("y\nn\n"))
    code, _, err = run(*words)
    assert code == 1
    assert "THOSE WHO STAY WILL NOT BE PRIVATE" in err
    assert not Path("second.toml").exists()
    assert run(*words, "--yes", "--not-private")[0] == 0
    assert run("federation", "without", "second.toml", "third.toml", "--member", "west", "--yes")[0] == 1


def test_what_cannot_be_gone_on_with_is_refused(run, six):
    before = six()
    for words, message in (
        (("--member", "moon"), "'moon' is no member"),
        (("--link", "north"), "--link north: must be two members with a comma"),
        (("--link", "north,moon"), "north and moon are not linked"),
        ((), "say which member has left, or which link is down"),
        (tuple(word for name in list(before.members)[1:] for word in ("--member", name)), "1 member(s) would stay"),
        (
            tuple(word for a, b in before.links if "north" in (a, b) for word in ("--link", f"{a},{b}")),
            "falls into 2 pieces",
        ),
    ):
        code, _, err = run("federation", "without", "f.toml", "second.toml", *words, "--yes")
        assert code == 2, err
        assert message in err
        assert err.count("\n") == 1
    assert not Path("second.toml").exists()
    code, _, err = run("federation", "without", "f.toml", "f.toml", "--member", "south", "--yes")
    assert (code, "f.toml: is already there" in err) == (2, True)
    Path("f.toml").unlink()
    six(dropout="wait")
    code, _, err = run("federation", "without", "f.toml", "second.toml", "--member", "south", "--yes")
    assert (code, "agreed to wait" in err) == (2, True)


def test_what_the_answer_tells_is_counted_from_declared_records(run, cards):
    """Four members with at least 100 records tell little; with at least one they tell all of it."""
    words = ("--unknowns", "3", "--links", "3", "--cost", "logistic", "--l2", "1")
    assert run("federation", "new", "many.toml", *words, "--records", "100")[0] == 0
    code, out, _ = run("federation", "check", "many.toml")
    assert code == 0
    assert "Of 900 hidden numbers at most" in out
    assert run("federation", "new", "few.toml", *words, "--records", "1")[0] == 0
    code, out, _ = run("federation", "check", "few.toml")
    assert code == 1
    assert "NOT PRIVATE: all 9 numbers in the records of all other agents follow" in out
    assert run("federation", "new", "silent.toml", *words)[0] == 0
    assert "What the answer tells was not counted" in run("federation", "check", "silent.toml")[1]


def test_a_member_with_fewer_records_than_declared_is_refused(run, cards):
    words = ("--unknowns", "1", "--links", "3", "--cost", "logistic", "--target", "y", "--l2", "1")
    assert run("federation", "new", "f.toml", *words, "--records", "5")[0] == 0
    Path("north.csv").write_text("x,y\n1.5,0\n2.5,1\n")
    code, _, err = run("agent", "f.toml", "--me", "north", "--data", "north.csv")
    assert code == 2
    assert "at least 5 records" in err
    assert "2" not in err.split("at least 5 records")[1]


def test_counting_columns_is_agreed_on_in_the_manifest(run, cards):
    words = ("--unknowns", "3", "--links", "3", "--cost", "logistic", "--count-columns")
    assert run("federation", "new", "f.toml", *words)[0] == 0
    assert "counted = true" in Path("f.toml").read_text()
    assert run("federation", "check", "f.toml")[0] == 0
    code, _, err = run("federation", "new", "g.toml", "--unknowns", "3", "--count-columns")
    assert code == 2
    assert "counting columns goes with regressions" in err


@pytest.mark.parametrize(("family", "level"), [("huber", "affine"), ("absolute-value", "affine")])
def test_masks_that_hide_nothing_of_what_all_members_fit_are_refused_before_a_run(run, cards, family, level):
    words = ("--unknowns", "2", "--links", "3", "--cost", family, "--level", level, "--sigma", "10")
    how = ("--algorithm", "gradient-tracking", "--setting", "step_size=0.005")
    code, _, err = run("federation", "new", "f.toml", *words, *how)
    assert code == 2
    assert "hide nothing of" in err
    assert not Path("f.toml").exists()


def test_a_manifest_whose_masks_hide_nothing_is_not_private_and_nobody_takes_part(run, cards):
    words = ("--unknowns", "2", "--links", "3", "--cost", "ridge", "--level", "affine", "--sigma", "10")
    how = ("--algorithm", "gradient-tracking", "--setting", "step_size=0.005")
    assert run("federation", "new", "f.toml", *words, *how)[0] == 0
    Path("f.toml").write_text(Path("f.toml").read_text().replace('"ridge"', '"huber"'))
    code, out, _ = run("federation", "check", "f.toml", "--json")
    assert code == 1
    found = json.loads(out)
    assert not found["private"]
    assert [stamp["reason"] for stamp in found["certificate"]["stamps"]] == ["nothing hidden"]
    Path("d.csv").write_text("a,b,y\n1,2,3\n2,1,4\n")
    code, _, err = run("agent", "f.toml", "--me", "north", "--data", "d.csv")
    assert code == 2
    assert "hide nothing of" in err


def test_a_newcomer_is_taken_in_once_its_price_was_said_and_accepted(run, cards, monkeypatch):
    assert run("federation", "new", "f.toml", "--unknowns", "2", "--cost", "ridge", "--links", "3")[0] == 0
    assert run("keygen", "--name", "valley", "--dial-out")[0] == 0
    words = ("federation", "with", "f.toml", "next.toml", "--card", "valley.card")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    code, out, _ = run(*words)
    assert code == 1, "the answer is no"
    assert "What it costs valley: all it brings." in out
    assert not Path("next.toml").exists()
    code, out, _ = run(*words, "--yes")
    assert code == 0
    assert "  tacit agent next.toml --me NAME --data FILE --accept-exposure\n" in out
    assert "Fingerprint of valley, to be compared by telephone:" in out
    code, out, _ = run("federation", "with", "next.toml", "third.toml", "--card", "east.card", "--yes")
    assert code == 2
    for name in ("hill", "lake", "moor"):
        assert run("keygen", "--name", name)[0] == 0
    more = [word for name in ("hill", "lake", "moor") for word in ("--card", f"{name}.card")]
    code, out, _ = run("federation", "with", "next.toml", "third.toml", *more, "--yes", "--json")
    assert code == 0
    assert json.loads(out)["newcomers"] == ["hill", "lake", "moor"]
    assert {agent for each in json.loads(out)["exposures"] for agent in each["agents"]} == {"valley"}, "as before"
    code, out, _ = run("federation", "check", "third.toml")
    assert code == 0
