"""Approaches that add up in secret by a library of their own: the algorithm is tacit's, the sum is theirs.

The algorithm is the one that secret sums would take (one sum for quadratic costs, Newton's method for others), and
its `sum` goes through the library. What members hear is what the same sums in the clear would tell them, less what
they cannot open: partial sums of others stay closed, unless a member holds the key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np

from tacit.auditing.attacked import truth_of
from tacit.auditing.knowledge.view import Exchange, View
from tacit.auditing.recording.watch import public_knowledge, watch
from tacit.baselines.approach import Demonstration, Listeners, Overhearing, Pledge
from tacit.errors import TacitError
from tacit.masks import SumMasks
from tacit.runtimes import Job, StoppingRule, stacked
from tacit.runtimes.linked_peers import Together
from tacit.runtimes.traffic import Traffic
from tacit.solving import Problem, prepare
from tacit.typing import Array, Numbers, Peers

_ROUNDS = 30


class SecretAdder(Protocol):
    """A library that adds up one vector of every agent."""

    traffic: Traffic
    resolution: float
    """By how much the last sum may be off, absolutely."""

    def add_up(self, vectors: Array) -> Array:
        """Return the sum over the agents of (n, w)."""


class Adding:
    """`Peers` of all agents at once whose sums are made by a library; gossip there is none."""

    def __init__(self, peers: Peers, adder: SecretAdder) -> None:
        self._peers, self._adder = peers, adder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._peers, name)

    @property
    def resolution(self) -> float:
        """The rounding that the library leaves in sums."""
        return self._adder.resolution

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Any:
        """Return the sum over the agents."""
        return self._adder.add_up(np.asarray(v, dtype=np.float64))


class Detour(NamedTuple):
    """A tap that hears nothing, and sends sums through a library."""

    adder: SecretAdder
    agents: tuple[int, ...] = ()

    def together(self, peers: Peers) -> Any:
        """Return peers that add up by the library."""
        return Adding(peers, self.adder)

    def apart(self, agent: int, peers: Together) -> Together:
        """Return the peers as they are."""
        return peers

    def heard(self, agent: int) -> None:
        """Return nothing."""

    def take(self, agent: int, heard: Any) -> None:
        """Take nothing over."""


def missing_package(package: str, extra: str) -> str | None:
    """Return how to have a library that is not installed; None if it is."""
    return None if find_spec(package) is not None else f"not installed: pip install 'tacit[{extra}]'."


def misfit(problem: Problem) -> str | None:
    """Return why no sums solve this problem; None if some do."""
    try:
        summed_job(problem)
    except TacitError as error:
        return str(error)
    return None


def summed_job(problem: Problem, *, tolerance: float = 1e-9) -> Job:
    """Return the run by sums, before anybody hides them."""
    job = prepare(problem, privacy=SumMasks()).job
    return replace(job, privacy=None, floor=0.0, rule=StoppingRule(tolerance=tolerance, max_rounds=_ROUNDS))


def summed(
    problem: Problem,
    adder: SecretAdder,
    listeners: Listeners,
    *,
    how: str,
    key_holder: int | None = None,
    tolerance: float = 1e-9,
    pledge: Callable[[Sequence[int]], Pledge],
) -> Demonstration:
    """Run with sums by *adder*; *key_holder* can open whatever it, or who colludes with it, is sent."""
    job = summed_job(problem, tolerance=tolerance)
    start = time.perf_counter()
    run = stacked.run(job, tap=Detour(adder))
    seconds = time.perf_counter() - start
    return Demonstration(
        x=run.x,
        rounds=run.rounds,
        traffic=adder.traffic,
        seconds=seconds,
        how=f"{type(job.algorithm).__name__}, {how}",
        overheard=[[closed_to(problem, job, who, key_holder)] for who in listeners.coalitions],
        promises=[pledge(who) for who in listeners.coalitions],
    )


def closed_to(problem: Problem, job: Job, who: Sequence[int], key_holder: int | None = None) -> Overhearing:
    """Return what *who* hears of sums that only the key holder can open, or nobody."""
    view = watch(job, who)
    if key_holder is None or key_holder not in who:
        view = msgspec.structs.replace(view, exchanges=[_closed(each, view, job) for each in view.exchanges])
    return Overhearing(view, public_knowledge(problem, job), truth_of(problem, job))


def _closed(exchange: Exchange, view: View, job: Job) -> Exchange:
    """Return the exchange without partial sums of others: a leaf knows what it put in itself."""
    if exchange.kind != "up":
        return exchange
    inner = set(job.network.tree.parents.tolist())
    own = np.isin(exchange.senders, view.coalition) & ~np.isin(exchange.senders, list(inner))
    return Exchange(
        kind="up", senders=exchange.senders[own], receivers=exchange.receivers[own], values=exchange.values[own]
    )


def key_holder_among(problem: Problem, coalitions: Sequence[Sequence[int]]) -> int:
    """Return who holds the key: one of the two who collude, and not the one who listens alone."""
    alone = set(coalitions[0]) if coalitions else set()
    pair = coalitions[-1] if len(coalitions) > 1 else ()
    others = [i for i in (*pair, *range(len(problem.network))) if i not in alone]
    return others[0]
