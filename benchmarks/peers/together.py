"""`tacit up` with many agents: seconds from the command to the answer, and memory an agent has to itself.

Agents are forked from one process that has imported everything before, and share its pages until they write to
them. *Own* is what an agent shares with nobody, as the kernel counts it: the median over the agents, at the most
over the run. The *shared part* is what the process they were forked from holds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import networkx as nx

_TARGETS = {50: 25.0, 200: 25.0}  # seconds, by agents
_MEGABYTES = 25.0  # an agent has to itself, at most
_LOOK = 1.0  # seconds between two looks at the processes


def together() -> None:
    """Print what `tacit up` takes."""
    print("\ntacit up, 4-regular, quadratic costs in 3 unknowns, masks, until the answer is printed")
    print(f"{'agents':>7}{'seconds':>9}{'own, MB':>9}{'most, MB':>10}{'shared, MB':>12}{'in all, MB':>12}")
    for n, seconds in _TARGETS.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "problem.toml"
            file.write_text(_problem(n))
            took, own, most, shared, in_all = _run(file)
        over = "  over a target" if took > seconds or most > _MEGABYTES else ""
        print(f"{n:>7}{took:>9.1f}{own:>9.1f}{most:>10.1f}{shared:>12.1f}{in_all:>12.0f}{over}", flush=True)
    print(f"targets: {_TARGETS[200]:g} s and {_MEGABYTES:g} MB an agent")


def _problem(n: int) -> str:
    links = [[int(i), int(j)] for i, j in nx.random_regular_graph(4, n, seed=1).edges]
    costs = [f"{i} = {{ point = [{i % 7}.0, {i % 5}.0, 1.0] }}" for i in range(n)]
    return "\n".join(
        [
            f"[graph]\nlinks = {links}",
            '[costs]\nfamily = "distance"\n[costs.agents]',
            *costs,
            '[privacy]\nlevel = "affine"\nsigma = 1000.0',
        ]
    )


def _run(file: Path) -> tuple[float, float, float, float, float]:
    """Return seconds, the median and the largest of what agents own, what they share, and all together."""
    words = [sys.executable, "-P", "-m", "tacit", "up", str(file), "--quiet", "--json"]
    began = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603
    own = most = shared = in_all = 0.0
    while process.poll() is None:
        time.sleep(_LOOK)
        server = [_memory(pid) for pid in _children(process.pid) if _children(pid)]
        agents = [_memory(pid) for parent in _children(process.pid) for pid in _children(parent)]
        if agents:
            own, most = max(own, median(each.own for each in agents)), max(most, *(each.own for each in agents))
            shared = max([shared, *(each.resident for each in server)])
            in_all = max(in_all, sum(each.share for each in [_memory(process.pid), *server, *agents]))
    took = time.monotonic() - began
    assert process.stderr is not None
    with process.stderr:
        assert not process.returncode, process.stderr.read().decode()
    return took, own, most, shared, in_all


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # it has ended
        return []


class Memory(NamedTuple):
    """Of one process, in megabytes."""

    own: float
    share: float  # of what it has together with others, and all that is its own
    resident: float


def _memory(pid: int) -> Memory:
    """Return how much memory a process has."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return Memory(0.0, 0.0, 0.0)
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}
    return Memory(sizes["Private_Clean"] + sizes["Private_Dirty"], sizes["Pss"], sizes["Rss"])
