"""Rounds a second of exchanges among processes on loopback, as shipped, next to three references in the same run.

A round is one exchange: every agent sends a vector of m numbers to every neighbour, and waits for theirs. All
agents are processes of their own, with the same certificates, and count from the moment when all are there.

    tacit     masked, every message written down before it is sent, durable, with looks at all agents: the default
    asyncio   streams over TLS 1.3: `streams`
    poll      a loop over `poll` and TLS sockets: `polling`
    gRPC      streams: `grpc_links`, where grpcio is installed

All take turns, so that a busy machine disturbs them alike; a ratio is the median over the turns. *CPU* is the time
of all processes a round, tacit's as a multiple of asyncio's.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from statistics import median

import networkx as nx

from benchmarks.peers.agents import exchanges, tacit_agents
from benchmarks.peers.grpc_links import grpc_streams
from benchmarks.peers.polling import polling
from benchmarks.peers.processes import Told, milliseconds, rate
from benchmarks.peers.references import reference
from benchmarks.peers.streams import streams
from tacit.network import Network
from tacit.runtimes import Job

_OF_ASYNCIO = {10: 0.5, 1000: 0.5, 100_000: 0.8}  # targets, by m: rounds a second, at least so many times asyncio's
_OF_GRPC = 2.5  # up to m = 1000
_TURNS = 5
_ROUNDS = {10: 1500, 1000: 1500, 100_000: 80}
_GRAPHS = {
    "ring of 4": nx.cycle_graph(4),
    "ring of 10": nx.cycle_graph(10),
    "4-regular, 10": nx.random_regular_graph(4, 10, seed=1),
}


def throughput(
    graphs: Sequence[str] = tuple(_GRAPHS), sizes: Sequence[int] = tuple(_ROUNDS), turns: int = _TURNS
) -> None:
    """Print the rounds a second of tacit and of the references, and their ratios."""
    print("\nExchanges among processes as shipped, rounds a second")
    print(f"targets: {_OF_ASYNCIO} of asyncio by m; {_OF_GRPC:g} × gRPC to m = 1000")
    print(
        f"{'links':<14}{'m':>7}{'tacit':>7}{'asyncio':>9}{'poll':>7}{'gRPC':>7}"
        f"{'of asyncio':>12}{'of poll':>9}{'of gRPC':>9}{'CPU':>7}"
    )
    for name in graphs:
        for m in sizes:
            print(_one_size(name, exchanges(Network(_GRAPHS[name]), m, _ROUNDS[m]), turns), flush=True)


def _one_size(name: str, job: Job, turns: int) -> str:
    m = len(job.x0)
    runs: dict[str, Callable[[], list[Told]]] = {
        "tacit": lambda: tacit_agents(job),
        "asyncio": lambda: reference(streams, job),
        "poll": lambda: reference(polling, job),
    }
    if m <= 1000 and importlib.util.find_spec("grpc") is not None:
        runs["gRPC"] = lambda: reference(grpc_streams, job)
    turned = [{each: run() for each, run in runs.items()} for _ in range(turns)]
    rates = {each: median(rate(turn[each]) for turn in turned) for each in runs}
    ratios = {each: median(rate(turn["tacit"]) / rate(turn[each]) for turn in turned) for each in runs}
    cpu = median(milliseconds(turn["tacit"]) / milliseconds(turn["asyncio"]) for turn in turned)
    line = f"{name:<14}{m:>7}{rates['tacit']:>7.0f}{rates['asyncio']:>9.0f}{rates['poll']:>7.0f}"
    line += f"{rates['gRPC']:>7.0f}" if "gRPC" in runs else f"{'–':>7}"
    line += f"{ratios['asyncio']:>12.2f}{ratios['poll']:>9.2f}"
    line += f"{ratios['gRPC']:>9.2f}" if "gRPC" in runs else f"{'–':>9}"
    short = ["asyncio"] * (ratios["asyncio"] < _OF_ASYNCIO[m]) + ["gRPC"] * (ratios.get("gRPC", 9.9) < _OF_GRPC)
    return line + f"{cpu:>7.1f}" + (f"  under the target ({', '.join(short)})" if short else "")
