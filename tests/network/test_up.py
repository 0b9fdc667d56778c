"""`tacit up` that is stopped: by Ctrl-C at a terminal, or by whoever started it. Nothing is left behind."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROBLEM = """
[graph]
generator = "complete_graph"
arguments = { n = 4 }

[costs]
family = "distance"
agents = { 0 = { point = [1.0] }, 1 = { point = [2.0] }, 2 = { point = [3.0] }, 3 = { point = [4.0] } }

[privacy]
level = "affine"
sigma = 1.0

[algorithm]
name = "gradient-tracking"
step_size = 1e-7
"""


def session_of(leader):
    """Return the processes of a session, the leader included, but not those that only wait to be collected."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            state, _, _, session = entry.joinpath("stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and int(session) == leader and state != "Z":
            found.append(int(entry.name))
    return found


class Up:
    """`tacit up` at a terminal of its own."""

    def __init__(self, folder):
        self.temporary = folder / ("a-long-name-" * 10)  # longer than a socket's name may be
        self.temporary.mkdir()
        (folder / "problem.toml").write_text(PROBLEM)
        self.screen, terminal = pty.openpty()
        self.said = folder / "said"
        with self.said.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", "from tacit.cli import main; main()", "up", "problem.toml"],
                cwd=folder,
                env={**os.environ, "TMPDIR": str(self.temporary)},
                stdin=terminal,
                stdout=terminal,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # pytest's workers ignore it
            )
        os.close(terminal)

    def all_at_work(self):
        assert self.process.poll() is None, self.said.read_text()
        return len(list(self.temporary.rglob("*.state"))) == 4 and len(session_of(self.process.pid)) >= 5

    def close(self):
        for each in session_of(self.process.pid):
            os.kill(each, signal.SIGKILL)
        self.process.wait()
        os.close(self.screen)


@pytest.fixture
def up(tmp_path):
    made = Up(tmp_path)
    yield made
    made.close()


def check_that_nothing_is_left(up, until):
    assert until(lambda: not session_of(up.process.pid), seconds=120), "processes are left"
    assert not list(up.temporary.rglob("*.key")), "keys are left"
    assert not list(up.temporary.glob("tacit-*")), "a folder is left"
    assert "Traceback" not in up.said.read_text()


def test_ctrl_c_stops_all_and_leaves_nothing(up, until):
    assert until(up.all_at_work, seconds=300)
    os.killpg(up.process.pid, signal.SIGINT)
    assert up.process.wait(timeout=120) in (1, 130)
    check_that_nothing_is_left(up, until)


@pytest.mark.network
def test_an_interrupt_of_the_parent_alone_stops_all_and_leaves_nothing(up, until):
    assert until(up.all_at_work, seconds=300)
    os.kill(up.process.pid, signal.SIGINT)
    assert up.process.wait(timeout=120) in (1, 130)
    check_that_nothing_is_left(up, until)


@pytest.mark.network
@pytest.mark.parametrize("to", [os.kill, os.killpg], ids=["the parent alone", "all"])
def test_a_termination_stops_all_and_leaves_nothing(up, until, to):
    assert until(up.all_at_work, seconds=300)
    to(up.process.pid, signal.SIGTERM)
    assert up.process.wait(timeout=120) == 130
    check_that_nothing_is_left(up, until)
