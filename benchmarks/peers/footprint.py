"""What whole runs of gradient tracking take: time, memory, the start."""

from __future__ import annotations

import dataclasses
from statistics import median

import networkx as nx

from benchmarks.peers.agents import exchanges, tacit_agents
from tacit.algorithms import GradientTracking
from tacit.network import Network

_MILLISECONDS, _MEGABYTES, _SECONDS = 5.0, 80.0, 5.0  # targets: a round, an agent's memory, the start of 10
_LARGE, _LARGE_MEGABYTES = 1_000_000, 600.0  # unknowns of a large run, and the target for it
_TURNS = 3


def footprint() -> None:
    """Print what whole runs take."""
    print("\nGradient tracking as shipped, m = 10, 4-regular: whole runs of real agents")
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
    large()


def large(rounds: int = 20) -> None:
    """Print the most memory that four agents with a million unknowns take."""
    job = exchanges(Network(nx.cycle_graph(4)), _LARGE, rounds)
    job = dataclasses.replace(job, algorithm=GradientTracking(step_size=0.01), weights="lazy")
    told = tacit_agents(job, method="spawn")
    pace = 1e3 * max(agent.seconds for agent in told) / rounds
    print(
        f"\nGradient tracking, ring of 4, m = {_LARGE:,}: {pace:.0f} ms a round, at most "
        f"{max(agent.peak for agent in told):.0f} MB an agent, {sum(agent.peak for agent in told):.0f} MB in all "
        f"(target: {_LARGE_MEGABYTES:g} MB)"
    )
