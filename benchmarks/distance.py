"""Newton by secret sums over links of 50 ms: seconds from the moment when all have met to everybody's answer.

Everything between two agents passes a proxy that keeps it for 50 ms each way, as between two continents. A run then
takes as long as its longest chain of messages, and the fewest seconds are hops times 50 ms.
"""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import tempfile
import time
from contextlib import suppress
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path

import networkx as nx

from benchmarks.peers.processes import Times, run_all, tell
from benchmarks.sums import breast_cancer
from tacit.costs import Family
from tacit.federation import Manifest, join
from tacit.federation.local import manifest_of
from tacit.masks import SumMasks
from tacit.runtimes import Job, StoppingRule
from tacit.runtimes.peers.local import free_ports
from tacit.runtimes.transcript import farthest
from tacit.solving import choose

_DELAY = 0.05  # seconds that a byte takes from one agent to another
_AGENTS = 20


def main() -> None:
    """Print hops and seconds."""
    problem = breast_cancer(nx.random_regular_graph(4, _AGENTS, seed=1))
    masks = SumMasks()
    choice = choose(problem, "newton", privacy=masks)
    job = Job(
        network=problem.network, costs=problem.costs, stack=None, x0=problem.x0, algorithm=choice.algorithm,
        exact=choice.algorithm.exact, weights=choice.weights, privacy=masks,
        rule=StoppingRule(tolerance=1e-8, max_rounds=40),
    )  # fmt: skip
    radius, apart = job.network.tree.depth, farthest(job.network)
    print(
        f"\nNewton on breast cancer, {_AGENTS} agents, 4-regular, radius {radius}, links of {1e3 * _DELAY:.0f} ms"
    )
    sums, seconds = _run(job)
    hops = (2 * radius + 1) * sums + apart
    allowed = (2 * radius + 1) * sums + 3 * radius
    print(
        f"{sums} sums in {hops + job.network.tree.diameter} hops (target {allowed}); after all had met {hops} hops "
        f"in {seconds:.2f} s, {1e3 * seconds / hops:.1f} ms a hop"
    )


def _run(job: Job) -> tuple[int, float]:
    """Return how many sums were taken, and seconds from the last who had met the others to the last answer."""
    names = [f"agent-{i}" for i in range(len(job.network))]
    with tempfile.TemporaryDirectory(prefix="tacit-") as place:
        manifest = manifest_of(job, names, Path(place))
        outside = [int(manifest.members[name].address.rpartition(":")[2]) for name in names]
        inside = free_ports(len(names))
        proxy: BaseProcess = mp.get_context("spawn").Process(target=_delay, args=(outside, inside), daemon=True)
        proxy.start()
        try:
            given = [
                (manifest, name, cost, place, port)
                for name, cost, port in zip(names, job.costs, inside, strict=True)
            ]
            told = run_all("forkserver", _serve, given)
        finally:
            proxy.kill()
    last = max(agent.since_start + agent.seconds for agent in told)
    return told[0].rounds, last - max(agent.since_start for agent in told)


def _serve(manifest: Manifest, name: str, cost: Family, place: str, port: int, began: float, pipe: Pipe) -> None:
    """Be an agent behind the proxy."""
    agent = join(manifest, cost, me=name, key=Path(place) / f"{name}.key", folder=place, listen=("127.0.0.1", port))
    met: list[float] = []
    outcome = agent.run(on_commit=lambda: met.append(time.monotonic()))
    tell(pipe, outcome.rounds, Times(met[0], time.monotonic(), 0.0), began)


def _delay(outside: list[int], inside: list[int]) -> None:
    """Be the proxy of all agents: forward what comes to a port of the first list to one of the second, later."""
    asyncio.run(_forward_all(outside, inside))


async def _forward_all(outside: list[int], inside: list[int]) -> None:
    for near, far in zip(outside, inside, strict=True):

        async def linked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, far: int = far) -> None:
            try:
                there, back = await asyncio.open_connection("127.0.0.1", far)
            except OSError:  # it does not listen yet
                writer.close()
                return
            await asyncio.gather(_forward(reader, back), _forward(there, writer))

        await asyncio.start_server(linked, "127.0.0.1", near)
    await asyncio.Event().wait()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on every piece so long after it came."""
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            loop.call_later(_DELAY, writer.write, data)
    loop.call_later(_DELAY, writer.close)
