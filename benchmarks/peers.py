"""Real agents over TLS: rounds a second, and what an agent costs.

A round is one exchange: every agent sends a vector of m numbers to every neighbour, and waits for theirs. All
agents are processes of their own on loopback, with the same certificates, and count from the moment when all are
there. The references send the same vectors over the same links:

    bare    asyncio streams over TLS 1.3, both sides authenticated; a length, then the bytes; nothing is kept

    gRPC    grpc.aio with mutual TLS; a bidirectional stream or a unary call a link, whichever is faster

tacit keeps every message in its file before it sends it, and can be killed at any time. *looks* is tacit with its
looks at all agents, which are sums over a tree and not exchanges; the ratios are those of exchanges alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib.util
import multiprocessing as mp
import os
import struct
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from tacit.algorithms import DGD, GradientTracking
from tacit.costs import Family
from tacit.costs.family import Curvature
from tacit.coverage import AffinePart
from tacit.federation import Manifest, join
from tacit.federation.local import manifest_of
from tacit.network import Network
from tacit.runtimes import Job, StoppingRule
from tacit.runtimes.peers.identity import context
from tacit.runtimes.stopping import Watch
from tacit.typing import Array

_OF_BARE, _OF_GRPC = 0.5, 2.0  # targets: rounds a second, at least so many times the reference's
_MILLISECONDS, _MEGABYTES, _SECONDS = 5.0, 80.0, 5.0  # targets: a round, an agent's memory, the start of 10
_TURNS = 3
_ROUNDS = {10: 500, 1000: 500, 100_000: 30}
_LENGTH = struct.Struct(">I")
_PATIENCE = 300.0  # seconds for a run before it counts as hung


def main() -> None:
    """Print both tables."""
    throughput()
    footprint()


def throughput() -> None:
    """Print the rounds a second of exchanges, next to the references'."""
    print(
        f"\nExchanges among processes, rounds a second (target: {_OF_BARE} × bare; {_OF_GRPC:g} × gRPC to m = 1000)"
    )
    print(
        f"{'links':<11}{'n':>3}{'m':>8}{'tacit':>9}{'looks':>9}{'bare':>9}{'gRPC':>9}{'of bare':>9}{'of gRPC':>9}"
    )
    for n in (4, 10):
        for name, graph in _graphs(n).items():
            for m in _ROUNDS:
                print(_one_size(name, Network(graph), m), flush=True)


def _graphs(n: int) -> dict[str, nx.Graph]:
    dense = {"complete": nx.complete_graph(n)} if n <= 5 else {"4-regular": nx.random_regular_graph(4, n, seed=1)}
    return {"ring": nx.cycle_graph(n), **dense}


def _one_size(name: str, network: Network, m: int) -> str:
    """Run all of them in turns, so that a busy machine disturbs them alike."""
    job = exchanges(network, m, _ROUNDS[m])
    runs: dict[str, Callable[[], float]] = {
        "tacit": lambda: _rate(tacit_agents(job, quiet=True)),
        "looks": lambda: _rate(tacit_agents(job)),
        "bare": lambda: _rate(reference(bare, job)),
    }
    compare = m <= 1000 and importlib.util.find_spec("grpc") is not None
    if compare:
        runs["streams"] = lambda: _rate(reference(grpc_streams, job))
        runs["unary"] = lambda: _rate(reference(grpc_unary, job))
    turns = [{each: run() for each, run in runs.items()} for _ in range(_TURNS)]
    rates = {each: median(turn[each] for turn in turns) for each in runs}
    grpc = max(("streams", "unary"), key=lambda each: rates.get(each, 0.0))
    of_bare = median(turn["tacit"] / turn["bare"] for turn in turns)
    of_grpc = median(turn["tacit"] / turn[grpc] for turn in turns) if compare else np.nan
    line = f"{name:<11}{len(network):>3}{m:>8}{rates['tacit']:>9.0f}{rates['looks']:>9.0f}{rates['bare']:>9.0f}"
    line += f"{rates[grpc]:>9.0f}" if compare else f"{'–':>9}"
    line += f"{of_bare:>9.2f}" + (f"{of_grpc:>9.2f}" if compare else f"{'–':>9}")
    short = [each for each, holds in (("bare", of_bare >= _OF_BARE), ("gRPC", not of_grpc < _OF_GRPC)) if not holds]
    return line + (f"  under the target ({', '.join(short)})" if short else "")


def footprint() -> None:
    """Print what whole runs of gradient tracking take: time, memory, the start."""
    print("\nGradient tracking with looks, m = 10, 4-regular: whole runs of real agents")
    print(f"{'n':>5}{'started by':>12}{'ms a round':>12}{'MB an agent':>13}{'start, s':>10}")
    for n, method, rounds in ((10, "forkserver", 500), (10, "spawn", 500), (50, "forkserver", 50)):
        network = Network(nx.random_regular_graph(4, n, seed=1))
        job = exchanges(network, 10, rounds)
        job = dataclasses.replace(job, algorithm=GradientTracking(step_size=0.01), weights="lazy")
        told = [tacit_agents(job, method=method) for _ in range(_TURNS if n == 10 else 1)]
        pace = median(1e3 * max(agent.seconds for agent in run) / rounds for run in told)
        memory = max(agent.megabytes for run in told for agent in run)
        start = median(max(agent.since_start for agent in run) for run in told)
        limits = ((pace, _MILLISECONDS), (memory, _MEGABYTES), (start, _SECONDS))
        over = n == 10 and any(value > limit for value, limit in limits)
        print(f"{n:>5}{method:>12}{pace:>12.2f}{memory:>13.1f}{start:>10.2f}{'  over a target' if over else ''}")
    print(f"targets for n = 10: {_MILLISECONDS:g} ms, {_MEGABYTES:g} MB, {_SECONDS:g} s; 50 agents: that they work")


# what every agent tells ------------------------------------------------------------------------------------


class Told(NamedTuple):
    """What one process says of its run."""

    rounds: int
    seconds: float  # from the first round to the end of the last
    since_start: float  # from the start of the first process to this agent's first round
    megabytes: float  # resident at the end


def _rate(told: list[Told]) -> float:
    """Return the rounds a second of the slowest agent."""
    return min(agent.rounds / agent.seconds for agent in told)


def _resident() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def _all(method: str, target: Callable[..., None], given: list[tuple[Any, ...]]) -> list[Told]:
    """Run one process for each entry of *given*, and return what they tell."""
    maker = mp.get_context(method)
    if method == "forkserver":
        maker.set_forkserver_preload(["benchmarks.peers"])
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


# tacit ---------------------------------------------------------------------------------------------------


class Diagonal(Family):
    """h(x) = ½ Σ d x² + qᵀx: next to no arithmetic."""

    affine_part = AffinePart("q", open=("d",))
    _stacks = ("_d",)

    def __init__(self, d: Array, q: Array) -> None:
        self._d, self.affine = d, q

    def curved_value(self, x: Array) -> Array:
        """Return ½ Σ d x²."""
        return 0.5 * (self._d * x * x).sum(axis=-1)

    def curved_grad(self, x: Array) -> Array:
        """Return d x."""
        return self._d * x

    def curved_hess(self, x: Array) -> Array:
        """Return the diagonal matrix of d."""
        return np.diag(self._d)

    @property
    def smoothness(self) -> Array:
        """Return the largest d."""
        return self._d.max(axis=-1)

    @property
    def strong_convexity(self) -> Array:
        """Return the smallest d."""
        return self._d.min(axis=-1)

    def total_curvature(self) -> Curvature:
        """Return diag d, twice."""
        return Curvature(np.diag(self._d), np.diag(self._d))


class LastLook(Watch):
    """A watch that looks once, at the end."""

    def next_check(self, done: int) -> int:
        """Return the last round."""
        return self.rule.max_rounds


class Quiet(Job):
    """A job whose agents look at each other once, at the end."""

    def watch(self, on_progress: object = None) -> Watch:
        """Return who judges this run."""
        return LastLook(self.rule, exact=self.exact)


class Timed:
    """An algorithm that notes when its first round begins and when its last ends."""

    def __init__(self, algorithm: Any) -> None:
        self._algorithm, self.sums, self.times = algorithm, algorithm.sums, []

    def init(self, x: Array, cost: object) -> Any:
        """Start."""
        return self._algorithm.init(x, cost)

    def step(self, state: Any, peers: object, cost: object) -> Any:
        """Run one round."""
        if not self.times:
            self.times = [time.monotonic(), 0.0]
        state = self._algorithm.step(state, peers, cost)
        self.times[1] = time.monotonic()
        return state


def exchanges(network: Network, m: int, rounds: int) -> Job:
    """Return a job of so many rounds with one exchange each."""
    rng = np.random.default_rng(0)
    d = rng.uniform(1.0, 2.0, (len(network), m))
    return Job(
        network=network,
        costs=[Diagonal(d[i], rng.standard_normal(m)) for i in range(len(network))],
        stack=None,
        x0=np.zeros(m),
        algorithm=DGD(step_size=0.01),
        exact=False,
        weights="metropolis",
        privacy=None,
        rule=StoppingRule(tolerance=1e-300, max_rounds=rounds),
    )


def tacit_agents(job: Job, *, quiet: bool = False, method: str = "forkserver") -> list[Told]:
    """Run tacit's agents; *quiet* without looks but the last."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        names = [f"agent-{i}" for i in range(len(job.network))]
        manifest = manifest_of(job, names, Path(folder))
        given = [(manifest, name, cost, folder, quiet) for name, cost in zip(names, job.costs, strict=True)]
        return _all(method, _serve, given)


def _serve(manifest: Manifest, name: str, cost: Family, folder: str, quiet: bool, began: float, pipe: Pipe) -> None:
    """Be one of tacit's agents."""
    agent = join(manifest, cost, me=name, key=Path(folder) / f"{name}.key", folder=folder, durable=False)
    timed = Timed(agent.job.algorithm)
    fields = {each.name: getattr(agent.job, each.name) for each in dataclasses.fields(agent.job)}
    agent.job = (Quiet if quiet else Job)(**{**fields, "algorithm": timed})
    outcome = agent.run()
    first, last = timed.times
    pipe.send(Told(outcome.rounds, last - first, first - began, _resident()))


# the references ------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """What one agent of a reference knows."""

    me: str
    names: list[str]
    neighbours: list[str]
    ports: dict[str, int]
    certificates: dict[str, str]
    folder: Path
    vector: bytes
    rounds: int

    def dials(self, name: str) -> bool:
        """Whether this agent dials that one: of every two the later does."""
        return self.names.index(name) < self.names.index(self.me)


def reference(kind: Callable[[Place], Any], job: Job) -> list[Told]:
    """Run one of the references on a job's links, with vectors of the same length."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        names = [f"agent-{i}" for i in range(len(job.network))]
        members = manifest_of(job, names, Path(folder)).members
        ports = {name: int(member.address.rpartition(":")[2]) for name, member in members.items()}
        certificates = {name: member.certificate for name, member in members.items()}
        given = []
        for i, name in enumerate(names):
            neighbours = [names[j] for j in job.network.neighbours(i)]
            vector = job.costs[i].affine.tobytes()
            rounds = job.rule.max_rounds
            place = Place(name, names, neighbours, ports, certificates, Path(folder), vector, rounds)
            given.append((kind, place))
        return _all("forkserver", _refer, given)


def _refer(kind: Callable[[Place], Any], place: Place, began: float, pipe: Pipe) -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    first, last = asyncio.run(kind(place))
    pipe.send(Told(place.rounds, last - first, first - began, _resident()))


async def _timed(exchange: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Return when so many rounds begin and end, after a few that wait for everybody."""
    for _ in range(10):
        await exchange()
    first = time.monotonic()
    for _ in range(rounds):
        await exchange()
    return first, time.monotonic()


async def _again(connect: Callable[[], Any]) -> Any:
    """Dial until somebody answers."""
    while True:
        try:
            return await connect()
        except OSError:
            await asyncio.sleep(0.05)


async def bare(place: Place) -> tuple[float, float]:
    """Exchange over asyncio's streams."""
    links: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
    complete = asyncio.Event()
    key, certificate = place.folder / f"{place.me}.key", place.folder / f"{place.me}.crt"
    trusted = [place.certificates[name] for name in place.neighbours]

    def linked(name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        links[name] = reader, writer
        if len(links) == len(place.neighbours):
            complete.set()

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        linked((await reader.readline()).decode().strip(), reader, writer)

    server = await asyncio.start_server(
        accepted, "127.0.0.1", place.ports[place.me], ssl=context(key, certificate, trusted, server=True)
    )
    for name in filter(place.dials, place.neighbours):
        client = context(key, certificate, trusted, server=False)

        async def connect(name: str = name, client: Any = client) -> Any:
            return await asyncio.open_connection("127.0.0.1", place.ports[name], ssl=client)

        reader, writer = await _again(connect)
        writer.write(f"{place.me}\n".encode())
        linked(name, reader, writer)
    await complete.wait()
    frame = _LENGTH.pack(len(place.vector)) + place.vector
    both = list(links.values())

    async def exchange() -> None:
        for _, writer in both:
            writer.write(frame)
        for reader, _ in both:
            (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
            await reader.readexactly(length)

    times = await _timed(exchange, place.rounds)
    for _, writer in both:
        with contextlib.suppress(OSError):
            await writer.drain()
    await asyncio.sleep(0.5)
    server.close()
    return times


async def grpc_streams(place: Place) -> tuple[float, float]:
    """Exchange over one bidirectional stream a link."""
    import grpc

    links: dict[str, Any] = {}
    complete, over = asyncio.Event(), asyncio.Event()

    def linked(name: str, stream: Any) -> None:
        links[name] = stream
        if len(links) == len(place.neighbours):
            complete.set()

    async def accepted(_: Any, stream: Any) -> None:
        linked((await stream.read()).decode(), stream)
        await over.wait()

    server = await _grpc_server(place, grpc.stream_stream_rpc_method_handler(accepted))
    channels = []
    for name in filter(place.dials, place.neighbours):
        channels.append(await _grpc_channel(place, name))
        stream = channels[-1].stream_stream("/peers/exchange")()
        await stream.write(place.me.encode())
        linked(name, stream)
    await complete.wait()
    streams = list(links.values())

    async def exchange() -> None:
        for stream in streams:
            await stream.write(place.vector)
        for stream in streams:
            await stream.read()

    return await _grpc_end(await _timed(exchange, place.rounds), over, channels, server)


async def grpc_unary(place: Place) -> tuple[float, float]:
    """Exchange by one call a link and round, whose answer is the other's vector of the same round."""
    import grpc

    accepts = [name for name in place.neighbours if not place.dials(name)]
    mine = {name: asyncio.Semaphore(0) for name in accepts}  # rounds in which the own vector is there
    came = {name: asyncio.Semaphore(0) for name in accepts}  # rounds in which theirs is

    async def called(request: bytes, _: Any) -> bytes:
        name = f"agent-{request[0]}"
        came[name].release()
        await mine[name].acquire()
        return place.vector

    server = await _grpc_server(place, grpc.unary_unary_rpc_method_handler(called))
    channels = [await _grpc_channel(place, name) for name in filter(place.dials, place.neighbours)]
    calls = [channel.unary_unary("/peers/exchange") for channel in channels]
    request = bytes([place.names.index(place.me)]) + place.vector

    async def exchange() -> None:
        for name in accepts:
            mine[name].release()
        pending = [call(request) for call in calls]
        for call in pending:
            await call
        for name in accepts:
            await came[name].acquire()

    return await _grpc_end(await _timed(exchange, place.rounds), asyncio.Event(), channels, server)


async def _grpc_server(place: Place, handler: Any) -> Any:
    import grpc

    trusted = "\n".join(place.certificates[name] for name in place.neighbours).encode()
    key = (place.folder / f"{place.me}.key").read_bytes()
    pair = (key, place.certificates[place.me].encode())
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("peers", {"exchange": handler}),))
    credentials = grpc.ssl_server_credentials([pair], trusted, require_client_auth=True)
    server.add_secure_port(f"127.0.0.1:{place.ports[place.me]}", credentials)
    await server.start()
    return server


async def _grpc_channel(place: Place, name: str) -> Any:
    import grpc

    key = (place.folder / f"{place.me}.key").read_bytes()
    credentials = grpc.ssl_channel_credentials(
        place.certificates[name].encode(), key, place.certificates[place.me].encode()
    )
    options = [
        ("grpc.ssl_target_name_override", name),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 200),
    ]
    channel = grpc.aio.secure_channel(f"127.0.0.1:{place.ports[name]}", credentials, options)
    await channel.channel_ready()
    return channel


async def _grpc_end(times: tuple[float, float], over: asyncio.Event, channels: list[Any], server: Any) -> Any:
    await asyncio.sleep(0.5)  # a neighbour may still be reading
    over.set()
    for channel in channels:
        await channel.close()
    await server.stop(None)
    return times
