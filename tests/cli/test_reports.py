"""`--html FILE`: a report beside what a command prints, and nothing lost where it cannot be written."""

import html as entities
from pathlib import Path

import networkx as nx
import pytest


@pytest.fixture
def path(tmp_path):
    nx.write_edgelist(nx.path_graph(5), tmp_path / "path.edges", data=False)
    nx.write_edgelist(nx.circulant_graph(8, [1, 2]), tmp_path / "ring.edges", data=False)


COMMANDS = {
    "certify": ("certify ring.edges --sigma 10 --any 1", 0),
    "certify a cut": ("certify path.edges --sigma 10 --any 1", 1),
    "calibrate": ("calibrate ring.edges --any 1 --hide 5 --guess 0.55", 0),
    "design": ("design --agents 8 --any 1 --hide 5 --guess 0.55 --draws 2 --seed 1", 0),
    "augment": ("augment path.edges --any 1", 0),
    "solve": ("solve problem.toml --quiet", 0),
    "audit": ("audit problem.toml --coalition 0 --games 2000 --seed 1 --quiet", 0),
    "dispatch": ("dispatch case9 --quiet", 0),
}


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_writes_a_report_that_says_what_it_prints(name, run):
    words, code = COMMANDS[name]
    run("init")
    ended, out, err = run(*words.split(), "--html", "report.html")
    assert (ended, "report.html is written." in err) == (code, True), err
    shown = entities.unescape(Path("report.html").read_text("utf-8"))
    assert "fetches nothing" in shown
    if name.startswith("certify"):
        assert out.splitlines()[0] in shown, "the same statement"
    if name == "certify a cut":
        assert "links that would help" in shown


@pytest.mark.network
def test_up_draws_the_links_of_its_agents(run):
    run("init")
    code, _, err = run("up", "problem.toml", "--quiet", "--html", "report.html")
    assert code == 0, err
    shown = entities.unescape(Path("report.html").read_text("utf-8"))
    assert "Links over time" in shown
    assert "links came up and stayed up" in shown


def test_fit_writes_a_report(run):
    for name, rows in {"north": 40, "south": 40, "west": 40}.items():
        lines = [f"{k % 7},{(k * k + len(name)) % 5 + k % 7}" for k in range(rows)]
        Path(f"{name}.csv").write_text("\n".join(["dose,effect", *lines]), encoding="utf-8")
    files = [f"{name}.csv" for name in ("north", "south", "west")]
    code, out, err = run("fit", *files, "--target", "effect", "--html", "report.html")
    assert code == 0, err
    assert "report.html is written." in err
    assert "dose" in Path("report.html").read_text("utf-8")
    assert "dose" in out


@pytest.mark.usefixtures("path")
def test_a_file_that_is_there_is_refused_before_any_work(run):
    Path("report.html").write_text("mine", encoding="utf-8")
    code, out, err = run("certify", "ring.edges", "--sigma", "10", "--any", "1", "--html", "report.html")
    assert (code, out) == (2, "")
    assert "already there" in err
    assert Path("report.html").read_text("utf-8") == "mine"


@pytest.mark.usefixtures("path")
def test_without_the_extra_a_report_is_refused_before_any_work(run, monkeypatch):
    from tacit.cli import reports

    monkeypatch.setattr(reports, "find_spec", lambda name: None)
    code, out, err = run("certify", "ring.edges", "--sigma", "10", "--any", "1", "--html", "report.html")
    assert (code, out) == (2, "")
    assert err == "tacit: reports need plotly: pip install 'tacit[report]'.\n"
    assert run("certify", "ring.edges", "--sigma", "10", "--any", "1")[0] == 0
