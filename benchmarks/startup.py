"""What commands cost before they do anything: CPU of whole processes beside `python -c pass` and `import numpy`.

Seconds of CPU, user and system, the least of some turns: on a shared machine the least is what a command costs.
An agent is measured up to the moment at which it listens.
"""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np

from tacit.federation import Fitting, Plan, draw_up
from tacit.federation.cards import write_card
from tacit.federation.gathering import read_cards
from tacit.network import write_graph
from tacit.tables import draft, read_sheet

_TURNS = 7
_TACIT = [sys.executable, "-P", "-m", "tacit"]
_NUMPY, _AGENT = "python -c import numpy", "tacit agent, until it listens"
_COMMANDS = (
    "--version",
    "--help",
    "certify --help",
    "certify graph.graphml --sigma 10 --coalition 1",
    "certify graph.graphml --sigma 10 --any 1",
    "ledger new --ledger N.sqlite",
    "data draft north.csv",
    "solve problem.toml",
)
_TARGETS = {
    "tacit --version": 0.35,
    "tacit --help": 0.35,
    "tacit certify graph.graphml --sigma 10 --coalition 1": 0.8,
    "tacit certify graph.graphml --sigma 10 --any 1": 0.8,
    _AGENT: 0.8,
}


_MEGABYTES = 60.0  # of an agent that listens


def main() -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # installed, tacit is compiled once
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        _files(folder)
        costs = _least(folder)
        agents = [_listening(folder) for _ in range(_TURNS)]
    costs[_AGENT] = min(agent.cpu for agent in agents)
    print("\nCPU of whole processes")
    print(f"{'process':<55}{'CPU, s':>8}{'of numpy':>10}")
    for name, cost in costs.items():
        over = "  over the target" if cost > _TARGETS.get(name, math.inf) else ""
        print(f"{name:<55}{cost:>8.3f}{cost / costs[_NUMPY]:>10.2f}{over}")
    seconds, megabytes = min(agent.seconds for agent in agents), min(agent.megabytes for agent in agents)
    over = "  over the target" if megabytes > _MEGABYTES else ""
    print(f"{_AGENT}: {seconds:.2f} s on the wall, {megabytes:.0f} MB (target {_MEGABYTES:g}){over}")


def _least(folder: Path) -> dict[str, float]:
    """Return the least CPU of every process, taken in turns."""
    costs: dict[str, float] = {}
    for turn in range(_TURNS):
        measured = {"python -c pass": _cpu([sys.executable, "-c", "pass"], folder)}
        measured[_NUMPY] = _cpu([sys.executable, "-c", "import numpy"], folder)
        for words in _COMMANDS:
            measured[f"tacit {words}"] = _cpu([*_TACIT, *words.replace("N.", f"{turn}.").split()], folder)
        costs = {name: min(cost, costs.get(name, math.inf)) for name, cost in measured.items()}
    return costs


def _cpu(words: list[str], folder: Path) -> float:
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    with process.stderr:
        assert not process.returncode, process.stderr.read().decode()
    return usage.ru_utime + usage.ru_stime


class Listening(NamedTuple):
    """What an agent has taken by the time at which it listens."""

    cpu: float
    seconds: float
    megabytes: float


def _listening(folder: Path) -> Listening:
    port = _free_port()
    words = f"agent federation.toml --me north --data north.csv --listen 127.0.0.1:{port} --quiet".split()
    with tempfile.TemporaryDirectory() as state:
        began = time.monotonic()
        process = subprocess.Popen(  # noqa: S603
            [*_TACIT, *words, "--folder", state], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                break
            except OSError:
                time.sleep(0.005)
        seconds, megabytes = time.monotonic() - began, _resident(process.pid)
        assert process.returncode is None, "the agent ended before it listened"
        process.kill()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = -9
    return Listening(usage.ru_utime + usage.ru_stime, seconds, megabytes)


def _resident(pid: int) -> float:
    """Return a process's memory in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _files(folder: Path) -> None:
    write_graph(nx.random_regular_graph(4, 10, seed=1), folder / "graph.graphml")
    members = ("north", "south", "west")
    cards = [write_card(folder, name, f"127.0.0.1:{7300 + k}").card for k, name in enumerate(members)]
    rng = np.random.default_rng(0)
    rows = [f"{rng.integers(20, 80)},{rng.random():.2f},{rng.integers(0, 2)}" for _ in range(60)]
    (folder / "north.csv").write_text("\n".join(["age,dose,y", *rows, ""]), encoding="utf-8")
    like = draft(read_sheet(folder / "north.csv")).dictionary
    fitting = Fitting(cost="logistic", target="y", intercept=True, l2=1.0, records=50)
    manifest = draw_up(read_cards(cards), Plan(links=2, data=like, fitting=fitting))
    (folder / "federation.toml").write_bytes(manifest.to_toml())
    subprocess.run([*_TACIT, "init"], cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
