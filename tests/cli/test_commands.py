"""The commands as a user types them: output, exit codes, files."""

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import numpy as np

import tacit


def test_init_then_solve(run):
    code, out, _ = run("init")
    assert (code, out) == (0, "Wrote problem.toml. Next: tacit solve problem.toml\n")
    code, out, err = run("solve", "problem.toml")
    assert code == 0
    assert err == ""
    assert out.startswith("status:       converged.")
    assert "affine masks with σ = 1000 hide the linear coefficients q" in out
    assert "before a guess is right more than 51 % of the time" in out
    assert "\x1b" not in out, "plain text without a terminal"


def test_the_example_reaches_the_centralised_optimum(run):
    run("init", "here.toml")
    code, out, _ = run("solve", "here.toml", "--json")
    record = json.loads(out)
    assert code == 0
    assert record["private"] is True
    costs = tacit.load_problem("here.toml").problem.costs
    best = np.linalg.solve(sum(c.P for c in costs), -sum(c.affine for c in costs))
    np.testing.assert_allclose(record["x"], best, atol=1e-9)
    assert tacit.RunRecord.from_json(out).x == record["x"]


def test_init_never_overwrites_unasked(run):
    Path("problem.toml").write_text("mine")
    code, _, err = run("init")
    assert code == 2
    assert "already there" in err
    assert Path("problem.toml").read_text() == "mine"
    assert run("init", "--force")[0] == 0
    assert "[graph]" in Path("problem.toml").read_text()


def test_solve_takes_overrides_and_writes_the_record(run):
    run("init")
    code, out, _ = run(
        "solve", "problem.toml", "--sigma", "10", "--algorithm", "extra", "--runtime", "agents", "--out", "r.json"
    )
    assert code == 0
    record = tacit.RunRecord.from_json(Path("r.json").read_bytes())
    assert record.phase1.sigma == 10.0
    assert record.phase2.algorithm == "EXTRA"
    assert record.runtime == "agents"
    assert "on the agents runtime" in out


def test_a_record_is_never_written_over_another_or_into_nowhere(run):
    """A second run with fresh masks costs privacy: what cannot be written is said before the first."""
    run("init")
    Path("r.json").write_text("mine")
    for target, message in (("r.json", "already there"), ("no/where.json", "folder does not exist")):
        code, out, err = run("solve", "problem.toml", "--out", target)
        assert code == 2
        assert out == ""
        assert message in err
    assert Path("r.json").read_text() == "mine"


def test_not_converged_is_exit_code_one(run):
    run("init")
    code, out, _ = run("solve", "problem.toml", "--max-rounds", "3")
    assert code == 1
    assert "out of rounds" in out
    code, out, _ = run("solve", "problem.toml", "--algorithm", "dgd")
    assert code == 1
    assert "warning:" in out
    assert "inexact" in out


def test_solve_hides_whole_costs_on_demand(run):
    run("init")
    code, out, _ = run("solve", "problem.toml", "--sums")
    assert code == 0
    assert "secret sums, exact to" in out
    assert "Direct (quadratic costs: one sum says all, over a tree of depth 2), 1 round of sums in" in out
    assert "learns the sums over all other agents, and nothing else" in out
    code, out, _ = run("solve", "problem.toml", "--sums", "--json", "--runtime", "agents")
    record = json.loads(out)
    assert record["phase1"]["mechanism"] == "SumMasks"
    assert record["phase1"]["sigma"] is None
    code, _, err = run("solve", "problem.toml", "--protect", "whole")
    assert code == 2
    assert (
        "affine masks hide the linear coefficients q; in the open: the curvature P; whole costs were asked" in err
    )
    assert run("solve", "problem.toml", "--protect", "whole", "--sums")[0] == 0
    code, _, err = run("solve", "problem.toml", "--sums", "--no-tree")
    assert code == 2
    assert "spanning tree" in err
    code, _, err = run("solve", "problem.toml", "--sums", "--sigma", "3")
    assert code == 2
    assert "ask for one of the two" in err
    sums = Path("problem.toml").read_text().replace('level = "affine"', 'level = "sums"\nprotect = "whole"')
    Path("sums.toml").write_text(sums.replace("sigma = 1000.0", ""))
    code, _, err = run("solve", "sums.toml", "--sigma", "3")
    assert code == 2
    assert "which have no sigma" in err
    assert run("solve", "sums.toml", "--protect", "affine")[0] == 0
    code, _, err = run("solve", "problem.toml", "--algorithm", "newton")
    assert code == 2
    assert "'newton' with affine masks is refused" in err


def test_demo_says_everything_it_must(run):
    code, out, _ = run("demo")
    assert code == 0
    scenes = [
        out.index(scene) for scene in ("clinic 0 read of its", "The answer is that of the pooled", "paper's ill")
    ]
    assert scenes == sorted(scenes)
    read = [line for line in out[: scenes[1]].splitlines() if "exact" in line and "±" in line]
    assert len(read) == 4
    difference = float(re.search(r"largest difference of any coefficient is ([\d.e+-]+)\.", out)[1])
    assert difference < 1e-8
    words = re.sub(r"\s+", " ", out)
    hops = re.search(r"to ([\d.e+-]+), after (\d+) hops instead of (\d+) rounds", words)
    assert float(hops[1]) < 1e-7
    assert int(hops[2]) < int(hops[3])
    for fact in (
        "the labels y",
        "only the sum over",
        "secret sums",
        "whole costs",
        "however long it computes",
        "-0.1",
        "-0.7",
        "+0.8",
        "x = 3.000000000",
        "= 0.125",
    ):
        assert fact in words, fact


def test_help_reads_well(run):
    code, out, _ = run("--help")
    assert code == 0
    for command in ("demo", "init", "solve", "Exit codes"):
        assert command in out
    assert run("solve", "--help")[0] == 0
    assert run()[1].strip().startswith("Usage: tacit")
    assert run("--version") == (0, "tacit 0.1.0\n", "")
    code, _, err = run("sovle")
    assert code == 2
    assert "No such command" in err


def test_the_console_script_is_installed(tmp_path):
    script = Path(sys.executable).parent / "tacit"
    shown = subprocess.run(
        [script, "solve", "nowhere.toml"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert shown.returncode == 2
    assert (
        shown.stderr
        == "tacit: nowhere.toml: cannot be read (No such file or directory). `tacit init` writes an example.\n"
    )


def test_a_terminal_gets_colours_and_a_progress_bar(tmp_path):
    """A real pseudo-terminal: the bar goes to it, the panel follows."""
    script = str(Path(sys.executable).parent / "tacit")
    subprocess.run([script, "init"], cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / "problem.toml").read_text().replace("[stop]", "[stop]\n").replace("1e-9", "1e-13")
    (tmp_path / "problem.toml").write_text(text)
    leader, follower = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "120"}
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen(
        [script, "solve", "problem.toml", "--algorithm", "gradient-tracking"],
        stdout=follower, stderr=follower, cwd=tmp_path, env=environment,
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while select.select([leader], [], [], 30)[0]:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    assert child.wait(timeout=30) in (0, 1)
    os.close(leader)
    shown = seen.decode()
    assert "\x1b[" in shown
    assert "agents disagree by" in shown
    assert "╭" in shown
    assert "converged" in shown or "stalled" in shown
