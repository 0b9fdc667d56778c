"""certify, calibrate, design, augment and ledger as a user types them."""

import json
from pathlib import Path

import networkx as nx
import pytest

import tacit
from tacit.network import read_graph


@pytest.fixture(autouse=True)
def graphs(monkeypatch, tmp_path):
    """Put a sound graph and a grid with a pendant bus into the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    nx.write_graphml(nx.petersen_graph(), "graph.graphml")
    nx.write_gml(nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e")]), "grid.gml")


def test_certify_one_coalition(run):
    code, out, _ = run("certify", "graph.graphml", "--sigma", "10", "--coalition", "3,7")
    assert code == 0
    assert out.startswith(
        "Against an observer who controls agents 3, 7, two worlds of the same sum may differ by up to "
    )
    code, out, _ = run("certify", "graph.graphml", "--sigma", "10", "--coalition", "3,7", "--hide", "1", "--json")
    certificate = json.loads(out)
    expected = tacit.certify(nx.petersen_graph(), {3, 7}, sigma=10.0)
    assert certificate["epsilon"] == pytest.approx(expected.epsilon)
    assert certificate["guess"] == pytest.approx(expected.guess(1.0))
    assert certificate["private"] is True


def test_certify_every_coalition(run):
    code, out, _ = run("certify", "graph.graphml", "--sigma", "10", "--any", "2")
    assert code == 0
    assert "m_t, exact" in out
    assert "worst coalition" in out
    code, out, _ = run("certify", "graph.graphml", "--sigma", "10", "--any", "3", "--quick", "--json")
    assert json.loads(out)["method"] == "exact", "a cut needs no search"
    nx.write_gml(nx.random_regular_graph(6, 40, seed=1), "larger.gml")
    code, out, _ = run("certify", "larger.gml", "--sigma", "10", "--any", "2", "--quick", "--json")
    assert json.loads(out)["method"] == "bound"
    code, out, _ = run("certify", "graph.graphml", "--sigma", "10", "--any", "2", "--deadline", "5", "--json")
    assert json.loads(out)["method"] == "exact"


def test_certify_names_who_is_exposed_and_what_would_help(run):
    code, out, _ = run("certify", "grid.gml", "--sigma", "10", "--any", "1")
    assert code == 1
    assert "learns the affine part of e exactly" in out
    assert "1 agent(s) have at most 1 neighbour(s)" in out
    assert "1 link(s) would protect them" in out


def test_calibrate(run):
    code, out, _ = run("calibrate", "graph.graphml", "--any", "2", "--epsilon", "0.01")
    assert code == 0
    sigma = float(out.split("\n")[0].removeprefix("sigma = "))
    assert tacit.certify(nx.petersen_graph(), any=2, sigma=sigma).epsilon == pytest.approx(0.01, rel=1e-9)
    code, out, _ = run("calibrate", "graph.graphml", "--any", "1", "--hide", "5.0", "--guess", "0.55", "--json")
    assert json.loads(out)["guess"] == pytest.approx(0.55, abs=1e-9)
    code, _, err = run("calibrate", "grid.gml", "--any", "1", "--epsilon", "0.1")
    assert code == 1
    assert "no σ protects e" in err


def test_design_writes_a_graph_and_never_over_one(run):
    words = (
        "design",
        "--agents",
        "16",
        "--any",
        "2",
        "--epsilon",
        "0.01",
        "--links",
        "6",
        "--seed",
        "1",
        "--draws",
        "4",
    )
    code, out, _ = run(*words, "--out", "new.graphml")
    assert code == 0
    assert out.startswith("graph = new.graphml\nsigma = ")
    sigma = float(out.split("\n")[1].removeprefix("sigma = "))
    assert tacit.certify(read_graph(Path("new.graphml")), any=2, sigma=sigma).epsilon == pytest.approx(
        0.01, rel=1e-9
    )
    before = Path("new.graphml").read_bytes()
    code, _, err = run(*words, "--out", "new.graphml")
    assert code == 2
    assert "already there" in err
    assert Path("new.graphml").read_bytes() == before
    code, out, _ = run(*words, "--out", "new.gml", "--json")
    assert json.loads(out)["graph"] == "new.gml"


def test_augment(run):
    code, out, _ = run("augment", "grid.gml", "--any", "1", "--out", "safe.edges")
    assert code == 0
    assert out.startswith("1 link(s) suffice, and no fewer suffice:")
    assert nx.node_connectivity(read_graph(Path("safe.edges"))) == 2
    code, out, _ = run("augment", "graph.graphml", "--any", "2")
    assert "No link is needed" in out
    code, out, _ = run("augment", "grid.gml", "--any", "2", "--mu", "1.0", "--json")
    found = json.loads(out)
    assert found["mu"] >= 1.0
    assert found["count"] == len(found["links"])


def test_ledger(run):
    add = ("ledger", "add")
    code, out, _ = run(*add, "r1", "graph.graphml", "--sigma", "10", "--budget", "0.01", "--any", "2", "--me", "4")
    assert (code, out[:20]) == (0, "Recorded as number 1")
    code, out, _ = run("ledger", "check", "r2", "graph.graphml", "--sigma", "10")
    assert code == 0
    assert out.startswith("Accepted")
    code, out, _ = run("ledger", "check", "r2", "graph.graphml", "--sigma", "1", "--json")
    assert code == 1
    assert not json.loads(out)["accepted"]
    code, _, err = run(*add, "r2", "graph.graphml", "--sigma", "1")
    assert code == 1
    assert "above the budget" in err
    code, out, _ = run("ledger", "show")
    assert "r1" in out
    assert "of 0.01 against any 2" in out
    code, out, _ = run("ledger", "show", "--json")
    assert json.loads(out)["runs"][0]["run"] == "r1"
    code, out, _ = run(*add, "r9", "grid.gml", "--sigma", "1", "--ledger", "new.sqlite", "--anyway", "--json")
    assert code == 0
    assert json.loads(out)["epsilon"] is None


def test_a_ledger_is_told_whose_data_have_changed(run):
    add, check = ("ledger", "add"), ("ledger", "check")
    assert run(*add, "may", "graph.graphml", "--sums", "--me", "0", "--any", "0")[0] == 0
    code, out, _ = run(*check, "june", "graph.graphml", "--sums", "--cost-version", "2", "--json")
    found = json.loads(out)
    assert code == 1
    assert [(e["kind"], e["agents"], e["between"]) for e in found["exposures"]] == [
        ("change", ["0"], ["may", "june"])
    ]
    words = (*check, "june", "graph.graphml", "--sums", "--cost-version", "2")
    code, out, _ = run(*words, "--changed", "1")
    assert code == 0
    assert "Caution: told: the sum of what is different at 0 and 1 between run may and run june." in out
    assert run(*words, "--accept-change", "0")[0] == 0
    assert run(*words, "--accept-change", "1")[0] == 1
    code, _, err = run(*words, "--changed", "nobody")
    assert code == 2
    assert "nobody is said to have changed, and no agent of run" in err
    assert run(*add, *words[2:], "--accept-change", "0")[0] == 0
    assert "exposed: what changed at agent 0 between run may and run june" in run("ledger", "show")[1]


def test_secret_sums_have_certificates_and_a_place_in_the_ledger(run):
    code, out, _ = run("certify", "graph.graphml", "--sums", "--any", "2")
    assert code == 0
    assert "learns the sums over all other agents, and nothing else, however long it computes" in out
    code, out, _ = run("certify", "graph.graphml", "--sums", "--any", "2", "--json")
    found = json.loads(out)
    assert (found["perfect"], found["epsilon"], found["sigma"]) == (True, 0.0, None)
    code, out, _ = run("certify", "grid.gml", "--sums", "--any", "1", "--json")
    assert code == 1
    assert json.loads(out)["exposed_sums"]
    code, out, _ = run("certify", "grid.gml", "--sums", "--any", "1")
    assert "contribution" in out
    add = ("ledger", "add", "monday", "graph.graphml", "--sums", "--any", "2", "--budget", "1e-9")
    assert run(*add)[0] == 0
    code, out, _ = run("ledger", "show")
    assert "uniform" in out
    code, out, _ = run("ledger", "check", "tuesday", "graph.graphml", "--sums", "--json")
    assert (code, json.loads(out)["epsilon"]) == (0, 0.0)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("certify", "graph.graphml", "--any", "1"), 2, "give --sigma for Gaussian masks, or --sums"),
        (("certify", "graph.graphml", "--any", "1", "--sigma", "1", "--sums"), 2, "give --sigma"),
        (("certify", "graph.graphml", "--any", "1", "--sigma", "inf"), 2, "secret sums are --sums"),
        (("ledger", "add", "r", "graph.graphml", "--sums", "--masks", "q"), 2, "never used again"),
        (("ledger", "add", "r", "graph.graphml", "--sums", "--basis", "affine"), 2, "is about Gaussian masks"),
        (("ledger", "add", "r", "graph.graphml", "--sigma", "12", "--basis", "sums"), 2, "have no sigma"),
        (("ledger", "add", "r", "graph.graphml", "--sigma", "12", "--basis", "afine"), 2, "Did you mean 'affine'?"),
        (("certify", "nowhere.graphml", "--sigma", "1", "--any", "1"), 2, "cannot be read"),
        (("certify", "graph.graphml", "--sigma", "1", "--coalition", "3,99"), 2, "no agent is called 99"),
        (("certify", "graph.graphml", "--sigma", "0", "--any", "1"), 2, "sigma = 0.0 must be positive"),
        (("certify", "graph.graphml", "--sigma", "1", "--any", "9"), 2, "0 ≤ any ≤ 8"),
        (("certify", "graph.graphml", "--sigma", "1", "--coalition", "0,1,2,3,4,5,6,7,8,9"), 2, "0 honest agent"),
        (("certify", "graph.graphml", "--sigma", "1"), 2, "give either --coalition"),
        (("calibrate", "graph.graphml", "--any", "1"), 2, "one target"),
        (("calibrate", "graph.graphml", "--any", "1", "--epsilon", "1e-40"), 2, "largest σ"),
        (("design", "--agents", "4", "--any", "3", "--epsilon", "1", "--out", "n.gml"), 2, "0 ≤ any ≤ 2"),
        (("design", "--agents", "8", "--any", "1", "--epsilon", "1", "--out", "g.txt"), 2, "written as"),
        (("augment", "graph.graphml", "--any", "9"), 2, "1 ≤ any ≤ 8"),
        (("ledger", "show"), 2, "there is no ledger"),
        (("ledger", "add", "r", "graph.graphml", "--sigma", "1", "--budget", "-1"), 2, "budget = -1.0"),
        (("ledger", "show", "--ledger", "graph.graphml"), 2, "damaged or no ledger"),
    ],
)
def test_mistakes_get_one_sentence(run, words, code, message):
    before = sorted(path.name for path in Path().iterdir())
    found, out, err = run(*words)
    assert found == code
    assert out == ""
    assert err.startswith("tacit: ")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == before


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("certify g.edges --sigma 1", ("--coalition", "--any")),
        ("calibrate g.edges --epsilon 1", ("--coalition", "--any")),
        ("calibrate g.edges --any 1", ("--epsilon", "--guess", "--delta")),
        ("design --agents 9 --any 1", ("--epsilon", "--guess", "--delta")),
        ("audit problem.toml", ("--coalition", "--any")),
    ],
)
def test_what_is_missing_is_named_by_its_options(words, options, run, tmp_path):
    (tmp_path / "g.edges").write_text("a b\nb c\nc a\n", encoding="utf-8")
    code, _, err = run(*words.split())
    assert code == 2
    assert all(option in err for option in options), err
