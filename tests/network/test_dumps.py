"""An agent that crashes leaves no picture of its memory, in which its records and its key are."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.runtimes.peers import dumps

CRASH = """
import ctypes, os, resource, sys
from tacit.runtimes.peers.dumps import switch_off_core_dumps
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
switch_off_core_dumps()
linux = sys.platform == "linux"
print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) if linux else 0, flush=True)
os.abort()
"""


def test_a_process_that_crashes_leaves_no_core_dump(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-P", "-c", CRASH], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as made:
        said = made.stdout.read()
        _, status = os.waitpid(made.pid, 0)
        made.returncode = -os.WTERMSIG(status)
    assert said == "(0, 0) 0\n"
    assert os.WTERMSIG(status) == signal.SIGABRT
    assert not os.WCOREDUMP(status)
    assert list(tmp_path.iterdir()) == []


def test_they_are_switched_off_before_an_agent_reads_anything(tmp_path, monkeypatch):
    class CalledError(Exception):
        pass

    def called():
        raise CalledError

    monkeypatch.setattr(dumps, "switch_off_core_dumps", called)
    nothing = [str(tmp_path / name) for name in ("federation.toml", "records.csv")]
    with pytest.raises(CalledError):
        CliRunner().invoke(
            app, ["agent", nothing[0], "--me", "north", "--data", nothing[1]], catch_exceptions=False
        )


@pytest.fixture
def dumping():
    """Allow core dumps here, as some systems do, and so in every process that is started."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    if before[1] == 0:
        pytest.skip("nobody here may allow core dumps")
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


@pytest.mark.network
@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="reads what the kernel says of processes")
def test_they_are_switched_off_in_the_processes_of_all_members(dumping, federation, until):
    """Forked from a process that allows them: as `tacit up` starts its agents."""
    *members, absent = federation(n=4).start()
    absent.kill()  # so that the others wait
    for member in members:
        assert until(lambda limits=Path(f"/proc/{member.process.pid}/limits"): _core_limits(limits) == ["0", "0"])


def _core_limits(limits):
    (line,) = [line for line in limits.read_text().splitlines() if line.startswith("Max core file size")]
    return line.split()[4:6]
