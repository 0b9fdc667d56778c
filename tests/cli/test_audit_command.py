"""`tacit audit` as users type it."""

import dataclasses
import json

import networkx as nx
import pytest

import tacit
from tacit.auditing import conduct


def test_an_audit_of_the_example_is_green(run):
    run("init")
    code, out, _ = run("audit", "problem.toml", "--coalition", "3", "--seed", "1", "--games", "4000")
    assert code == 0
    assert "Without masks, agent 3 would have read 5 of 5 other agents." in out
    assert "no attack beats the certificate" in out
    assert "-2, 4 exact" in out
    assert "distinguishing game" in out


def test_the_plain_algorithm_by_itself(run):
    run("init")
    code, out, _ = run("audit", "problem.toml", "--coalition", "3", "--no-masks")
    assert code == 0
    assert "5 of 5" in out
    assert "believed with masks" not in out
    assert "distinguishing game" not in out


def test_the_worst_coalition_and_json(run, tmp_path, experiments):
    experiments("law of the masks")
    run("init")
    words = ("--any", "1", "--games", "4000", "--seed", "1")
    code, out, _ = run("audit", "problem.toml", *words, "--json", "--out", "audit.json")
    assert code == 0
    report = json.loads(out)
    assert report["passed"] is True
    assert len(report["coalition"]) == 1
    assert report["game"]["bound"] <= report["game"]["mu"]
    assert report["plots"]["roc"]["false_alarms"][0] == 0.0
    assert json.loads((tmp_path / "audit.json").read_text())["game"] == report["game"]
    assert {row["agent"] for row in report["rows"]} == {str(k) for k in range(6)} - set(report["coalition"])


def test_a_red_audit_has_exit_code_1(run, monkeypatch, experiments):
    """Half of the σ that the file promises: the gate fails."""
    experiments("law of the masks")
    run("init")
    honest = tacit.AffineMasks.hide

    def thin(self, cost, peers, source, **more):
        return honest(dataclasses.replace(self, sigma=self.sigma / 2), cost, peers, source, **more)

    monkeypatch.setattr(tacit.AffineMasks, "hide", thin)
    code, out, _ = run("audit", "problem.toml", "--any", "1", "--games", "4000", "--seed", "1")
    assert code == 1
    assert out.startswith("RED: the certificate is beaten")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "give either --coalition"),
        (("--coalition", "3", "--any", "1"), "give either --coalition"),
        (("--coalition", ""), "nobody is in the coalition"),
        (("--any", "0"), "somebody must attack"),
        (("--coalition", "nobody"), "no agent is called nobody"),
        (("--coalition", "3", "--runtime", "cloud"), "no runtime is called 'cloud'"),
    ],
    ids=str,
)
def test_bad_input_has_exit_code_2(run, words, complaint):
    run("init")
    code, _, err = run("audit", "problem.toml", *words)
    assert code == 2
    assert complaint in err


def test_every_agent_apart_is_audited_too(run, experiments):
    experiments("law of the masks")  # the others do not see where the run was recorded
    run("init")
    words = ("audit", "problem.toml", "--coalition", "3", "--runtime", "agents", "--seed", "1", "--games", "2000")
    code, out, _ = run(*words)
    assert code == 0
    assert "5 of 5" in out


def test_progress_is_told_from_start_to_end(run, experiments):
    experiments("law of the masks", "mask reuse", "retries", "low-order bits")
    told = []
    problem = tacit.Problem(nx.complete_graph(5), [tacit.Quadratic.distance([float(k)]) for k in range(5)])
    conduct.audit(
        problem,
        [0],
        privacy=tacit.AffineMasks(10.0),
        games=2000,
        on_progress=lambda share, what: told.append(share),
    )
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 8


def test_the_first_words_about_a_run_that_is_not_private_say_so(run):
    bow_tie = nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)])
    problem = tacit.Problem(bow_tie, [tacit.Quadratic.distance([float(k)]) for k in range(5)])
    report = conduct.audit(problem, {0}, privacy=tacit.SumMasks(), games=100, seed=1)
    assert report.sentence().startswith("NOT PRIVATE (seed, cut)")
