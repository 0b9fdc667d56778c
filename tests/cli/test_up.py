"""`tacit up`: all agents as processes, one table, and nothing left behind when it is stopped."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from rich.console import Console

from tacit.cli.agents_table import AgentsTable
from tacit.runtimes import Check, Progress
from tacit.runtimes.peers import Report

ENDLESS = """
[graph]
links = [["north", "south"], ["south", "west"], ["west", "north"]]
[costs]
family = "distance"
[costs.agents]
north = { point = [1.0] }
south = { point = [2.0] }
west = { point = [6.0] }
[privacy]
level = "affine"
sigma = 10.0
[algorithm]
name = "dgd-diminishing"
[stop]
tolerance = 1e-15
max_rounds = 100000000
"""


def drawn(table):
    console = Console(width=100, file=io.StringIO())
    console.print(table)
    return console.file.getvalue()


def test_all_agents_are_in_one_table():
    table = AgentsTable("Agreeing")
    assert "starting" in drawn(table)
    for k in range(12):
        table.report(Report(f"agent-{k}", "running", round=7, links_up=3, links=4, bytes_out=2048, heard=1.0))
    table(Progress(Check(7, 0.1, 1e-3, None), 100, 0.5))
    page = drawn(table)
    assert "12 agents; agents disagree by 1e-03" in page
    assert page.index("agent-9") < page.index("agent-10")
    assert page.count("2.0 KiB") == 12


def test_of_many_agents_the_slowest_are_shown():
    table = AgentsTable("Agreeing")

    def waiting(k):
        return Report(f"agent-{k}", "waiting", round=100, awaited="agent-7")

    for k in range(50):
        table.report(waiting(k) if k != 7 else Report("agent-7", "running", round=99))
    page = drawn(table)
    assert "50 agents (49 waiting, 1 running); rounds 99 to 100" in page
    assert page.count("│ agent-") == 5
    assert "│ agent-7 " in page
    assert "waits for agent-7" in page


def test_agents_is_a_check_that_says_why(run):
    Path("p.toml").write_text(ENDLESS)
    code, _, err = run("up", "p.toml", "--agents", "5")
    assert code == 2
    assert "p.toml has 3 agents, not 5" in err
    assert "leave --agents out" in err


def running(token):
    """Return the processes whose environment holds the token."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and token.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.fixture
def endless(tmp_path):
    """Return a function that starts a run without end, and waits until all its agents are there."""
    (tmp_path / "p.toml").write_text(ENDLESS)
    with tempfile.TemporaryDirectory(prefix="t") as keys:  # a short path, as sockets need it

        def start(*command):
            started = subprocess.Popen(
                [Path(sys.executable).parent / "tacit", *command, "p.toml"], cwd=tmp_path, encoding="utf-8",
                env={**os.environ, "TMPDIR": keys, "TACIT_TEST_TOKEN": str(tmp_path)},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            while not list(Path(keys).glob("tacit-*/west-*.state")):
                assert started.poll() is None, started.communicate()
                time.sleep(0.05)
            assert len(running(f"TACIT_TEST_TOKEN={tmp_path}")) > 4, "the command, and a process for each agent"
            return started, Path(keys), lambda: _all_gone(f"TACIT_TEST_TOKEN={tmp_path}")

        yield start


def _all_gone(token):
    deadline = time.monotonic() + 10.0
    while running(token) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not running(token)


linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")


@linux
@pytest.mark.network
@pytest.mark.parametrize(
    ("number", "everybody"), [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False)]
)
@pytest.mark.parametrize("command", [("up",), ("solve", "--runtime", "peers")], ids=lambda words: words[0])
def test_a_signal_stops_all_processes_and_removes_the_keys(command, number, everybody, endless):
    """*everybody* is Ctrl-C on a terminal: the whole group gets it."""
    started, keys, all_gone = endless(*command)
    (os.killpg if everybody else os.kill)(started.pid, number)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err) == (130, "", "tacit: stopped.\n")
    assert all_gone()
    assert not list(keys.glob("tacit-*"))


@linux
@pytest.mark.network
def test_agents_end_when_their_parent_is_killed(endless):
    started, _, all_gone = endless("up")
    started.kill()
    started.communicate(timeout=30)
    assert all_gone()
