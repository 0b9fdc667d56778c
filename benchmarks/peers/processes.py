"""One process for each agent, started alike for tacit and for the references, and what each tells of its run."""

from __future__ import annotations

import multiprocessing as mp
import time
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, NamedTuple

WARM = 10
"""Rounds before the first that counts: they wait for everybody."""
_PATIENCE = 300.0  # seconds for a run before it counts as hung


class Times(NamedTuple):
    """When the first counted round began and the last ended, on the wall and in this process's CPU time."""

    first: float
    last: float
    cpu: float


class Told(NamedTuple):
    """What one process says of its run."""

    rounds: int
    seconds: float  # from the first round to the end of the last
    cpu: float  # of this process, meanwhile
    since_start: float  # from the start of the first process to this agent's first round
    megabytes: float  # resident at the end
    peak: float  # megabytes, at the most


def rate(told: list[Told]) -> float:
    """Return the rounds a second of the slowest agent."""
    return min(agent.rounds / agent.seconds for agent in told)


def milliseconds(told: list[Told]) -> float:
    """Return the CPU time of a round, of all agents together."""
    return 1e3 * sum(agent.cpu / agent.rounds for agent in told)


def tell(pipe: Pipe, rounds: int, times: Times, began: float) -> None:
    """Say how a run went."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {
        line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))
    }
    first, last, cpu = times
    pipe.send(Told(rounds, last - first, cpu, first - began, sizes["VmRSS"], sizes["VmHWM"]))


def run_all(method: str, target: Callable[..., None], given: list[tuple[Any, ...]]) -> list[Told]:
    """Run one process for each entry of *given*, and return what they tell."""
    maker = mp.get_context(method)
    if method == "forkserver":
        maker.set_forkserver_preload(["benchmarks.peers.throughput", "benchmarks.peers.footprint", "scipy.special"])
    processes, pipes = [], []
    began = time.monotonic()
    try:
        for each in given:
            pipe, theirs = maker.Pipe(duplex=False)
            process = maker.Process(target=target, args=(*each, began, theirs), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            pipes.append(pipe)
        told = [pipe.recv() if pipe.poll(_PATIENCE) else None for pipe in pipes]
        for process in processes:
            process.join(timeout=20.0)
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
    if None in told:
        raise TimeoutError(f"an agent of {target.__name__} did not end in {_PATIENCE:g} s")
    return told
