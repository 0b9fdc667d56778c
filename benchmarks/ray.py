"""Blocks of agents on Ray: what a round costs beyond its arithmetic, what two workers gain, and who holds how much.

    overhead    a round of a small problem on two workers less the same round stacked: messages, and nothing else
    gain        two workers at once, exchanging, against the same two blocks at once without any exchange
    memory      peak memory of every worker, beside that of the data of its block

`python -m benchmarks.ray` prints all three; `python -m benchmarks.ray 1000000 10` the last for so many agents and
unknowns. It needs the extra cluster, and says how busy the machine was. Times are those of the quickest stretch of
ten rounds, which a busy machine disturbs least.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import ray

from tacit.algorithms import GradientTracking
from tacit.costs import Quadratic
from tacit.network import Network
from tacit.runtimes import Cluster, Job, Progress, Runtime, StoppingRule, stacked
from tacit.runtimes.ray.cluster import connected
from tacit.runtimes.ray.partition import cut_size, partitioned
from tacit.runtimes.ray.running import costs_of
from tacit.runtimes.ray.share import shares_of

_STEP = 0.01
_MIB = 2.0**20


def job_of(network: Network, m: int, rounds: int) -> Job:
    rng, n = np.random.default_rng(0), len(network)
    factors = rng.standard_normal((n, m, m)) / np.sqrt(m)
    P = factors @ np.matrix_transpose(factors) + np.eye(m)
    return Job(
        network=network, costs=(), stack=Quadratic.of(P, rng.standard_normal((n, m))), x0=np.zeros(m),
        algorithm=GradientTracking(_STEP), exact=True, weights="lazy", privacy=None,
        rule=StoppingRule(tolerance=1e-300, max_rounds=rounds),
    )  # fmt: skip


def grid(n: int) -> Network:
    """Return about n agents on a torus, with four neighbours each: a network with good cuts."""
    side = round(n**0.5)
    agents = np.arange(side * side).reshape(side, side)
    beside = [np.column_stack([agents.ravel(), np.roll(agents, 1, axis=axis).ravel()]) for axis in (0, 1)]
    return Network.of_pairs(np.concatenate(beside))


def round_time(runtime: Runtime, job: Job) -> float:
    """Return the seconds of a round: the quickest stretch between two looks, look included."""
    looks: list[tuple[int, float]] = []

    def note(progress: Progress) -> None:
        looks.append((progress.check.round, time.perf_counter()))

    runtime(job, note)
    each = [(ended - began) / (last - first) for (first, began), (last, ended) in pairwise(looks)]
    return min(each)


@ray.remote(num_cpus=1)
class Alone:
    """One block's rounds with nobody to talk to: mixing within the block, and the gradient."""

    def __init__(self, share: Any, cost: Any) -> None:
        self._cost = cost
        inside = share.homes == share.number
        owners = np.searchsorted(share.agents, share.owners[inside])
        neighbours = np.searchsorted(share.agents, share.neighbours[inside])
        links = np.unique(np.sort(np.column_stack([owners, neighbours]), axis=1), axis=0)
        graph: Any = nx.Graph()
        graph.add_nodes_from(range(len(share.agents)))
        graph.add_edges_from(links.tolist())
        largest = max(nx.connected_components(graph), key=len)
        if len(largest) < len(graph):
            graph.add_edges_from((next(iter(largest)), node) for node in set(graph) - set(largest))
        self._peers = stacked.Stacked(Network(graph), "lazy")

    def go(self, rounds: int) -> tuple[float, float]:
        """Return the seconds of a round, on the clock and of the processor."""
        algorithm = GradientTracking(_STEP)
        state: Any = algorithm.init(np.zeros(self._cost.affine.shape), self._cost)
        start, busy = time.perf_counter(), time.process_time()
        for _ in range(rounds):
            state = algorithm.step(state, self._peers, self._cost)
        return (time.perf_counter() - start) / rounds, (time.process_time() - busy) / rounds


def overhead() -> None:
    job = job_of(grid(100), 10, 400)
    alone, blocks = round_time(stacked.run, job), round_time(Cluster(workers=2), job)
    print(f"overhead, n = 100, m = 10: {1e3 * blocks:.2f} ms a round on two workers, {1e3 * alone:.2f} ms stacked")


def gain(n: int, m: int, rounds: int) -> None:
    job = job_of(grid(n), m, rounds)
    homes = partitioned(job.network, 2)
    parts = [(share, costs_of(job, share)) for share in shares_of(job.network, homes, "lazy")]
    workers = [Alone.remote(share, cost) for share, cost in parts]
    ray.get([worker.go.remote(2) for worker in workers])
    each = [ray.get([worker.go.remote(10) for worker in workers]) for _ in range(rounds // 10)]
    without = min(max(clock for clock, _ in pair) for pair in each)
    busy_without = float(np.median([np.mean([busy for _, busy in pair]) for pair in each]))
    for worker in workers:
        ray.kill(worker)
    del parts
    while processor_seconds():  # until they are gone
        time.sleep(0.1)
    looks: list[tuple[int, float]] = []
    together = round_time(
        lambda job, on_progress: Cluster(workers=2)(
            job,
            lambda progress: (looks.append((progress.check.round, processor_seconds())), on_progress(progress))[1],
        ),
        job,
    )
    busy = (looks[-1][1] - looks[0][1]) / (looks[-1][0] - looks[0][0]) / 2
    print(
        f"gain, n = {len(job.network)}, m = {m}: cut {cut_size(job.network, homes)} of {len(job.network.links)} "
        f"links; on the clock {1e3 * together:.1f} ms a round together, {1e3 * without:.1f} ms without exchange: "
        f"{without / together:.2f} (target 0.8); of the processor {1e3 * busy:.1f} and {1e3 * busy_without:.1f} "
        f"ms: {busy_without / busy:.2f}",
        flush=True,
    )


def processor_seconds() -> float:
    """Return what the actors of this program have used of the processors so far."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if (stat.parent / "cmdline").read_bytes().startswith((b"ray::Worker", b"ray::Alone")):
                fields = stat.read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(n: int, m: int, workers: int) -> None:
    from tacit.runtimes.ray import crew

    ends: list[Any] = []
    finish = crew.Crew.finish

    def noted(self: Any) -> Any:
        ends.extend(finish(self))
        return ends

    job = job_of(grid(n), m, 20)
    crew.Crew.finish = noted  # type: ignore[method-assign]
    start = time.perf_counter()
    run = Cluster(workers=workers)(job)
    seconds = time.perf_counter() - start
    crew.Crew.finish = finish  # type: ignore[method-assign]
    data = len(job.network) * (m * m + m) * 8 / _MIB
    peaks = ", ".join(f"{end.peak / _MIB:.0f}" for end in ends)
    print(
        f"memory, n = {len(job.network)}, m = {m}, {workers} workers: costs {data:.0f} MiB in all, peak of each "
        f"worker {peaks} MiB; {run.rounds} rounds in {seconds:.1f} s with setting up",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    """Print one line for each question."""
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    if arguments:
        n, m = map(int, arguments)
        with connected(Cluster(workers=2)):
            memory(n, m, 2)
        return
    with connected(Cluster(workers=2)):
        overhead()
        gain(10_000, 32, 200)
        gain(100_000, 10, 100)
        memory(100_000, 10, 2)


if __name__ == "__main__":
    main(sys.argv[1:])
