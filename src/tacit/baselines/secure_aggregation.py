"""Secure aggregation with a server: the SecAgg+ of Flower, every sum of it really run.

    client i → server:   q(v_i) + PRG(b_i) + Σ_j ± PRG(s_ij)   modulo 2³²   s_ij by keys that the server passed on
    clients → server:    enough shares of every b_i, and of the keys of whoever is gone

A server that follows the protocol learns the sum alone, unless two thirds of a client's neighbours help it. Nothing
tells a client who the others are: a server that makes them up reads it, and that is run, too. Numbers are rounded
to fit into 32 bits; Flower 1.41 draws a pair's mask from 32 bits of seed.

Bonawitz et al., CCS 2017; Bell, Bonawitz, Gascón, Lepoint, Raykova, Secure Single-Server Aggregation with
(Poly)Logarithmic Overhead, CCS 2020.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import networkx as nx
import numpy as np

from tacit.auditing.knowledge.view import Exchange
from tacit.baselines.approach import Demonstration, Listeners, Overhearing, Pledge
from tacit.baselines.summing import closed_to, key_holder_among, misfit, summed, summed_job
from tacit.errors import TacitError
from tacit.runtimes.traffic import Traffic
from tacit.solving import Problem
from tacit.typing import Array

FLOWER_PYTHON = "TACIT_FLOWER_PYTHON"
_SUMS = Path(__file__).with_name("flower_sums.py")
_STAGES = 4  # of a sum: keys, shares, masked vectors, shares again; out and back each
_MADE_UP = 4  # clients whom a lying server invents around the one that it reads
_READ = 1e-4  # of the largest number, as what it read may be off
_DRAWS = 5  # of masks, for the attacks: each is a whole sum by Flower
_TOLERANCE = 1e-6
_ALONE = Pledge("the sums alone", "nothing beyond the sums, for whoever does not meet the server.")


def flower_python() -> str | None:
    """Return the Python that has Flower: the one that the environment names, or this one; None where none has."""
    return os.environ.get(FLOWER_PYTHON) or (sys.executable if find_spec("flwr") is not None else None)


@dataclass
class FlowerAdder:
    """Sums by Flower's server and clients, in a process that lives as long as the adder is entered."""

    python: str
    traffic: Traffic = field(default_factory=Traffic)
    resolution: float = 0.0
    masked: list[Array] = field(default_factory=list, repr=False)
    """What the server received from every client in every sum, as numbers."""
    _process: subprocess.Popen[str] | None = None

    def __enter__(self) -> FlowerAdder:
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [self.python, str(_SUMS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True,
            )  # fmt: skip
        except OSError as error:
            raise TacitError(f"{self.python} does not start, and {FLOWER_PYTHON} names it.") from error
        try:
            self._line()
        except TacitError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with suppress(BrokenPipeError):
                self._process.communicate()

    def add_up(self, vectors: Array) -> Array:
        """Return the sum over the clients."""
        answer, masked = self._asked(vectors)
        self.traffic.count(messages=answer["messages"], bytes=answer["bytes"], exchanges=2 * _STAGES)
        self.masked.append(masked)
        self.resolution = float(np.sqrt(len(vectors))) * answer["step"]
        return np.array(answer["total"])

    def received(self, vectors: Array) -> Array:
        """Return what the server receives of these vectors in a sum of its own, which counts for nothing else."""
        return self._asked(vectors)[1]

    def read(self, vector: Array) -> Array:
        """Return what a server learns of one client if it invents all the others, who put in nothing."""
        answer, _ = self._asked(np.vstack([vector, np.zeros((_MADE_UP, len(vector)))]))
        return np.array(answer["total"])

    def _asked(self, vectors: Array) -> tuple[dict[str, Any], Array]:
        """Return Flower's answer; the public limit on numbers is twice what they turn out to be."""
        limit = 2.0 * float(np.abs(vectors).max()) or 1.0
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps({"vectors": vectors.tolist(), "limit": limit}) + "\n")
                self._process.stdin.flush()
        answer = json.loads(self._line())
        return answer, np.array(answer["masked"]) * answer["step"] - limit

    def _line(self) -> str:
        output = self._process.stdout if self._process is not None else None
        line = output.readline() if output is not None else ""
        if not line:
            raise TacitError(f"Flower's process ended without an answer; has {self.python} flwr 1.41 or newer?")
        return line


@dataclass(frozen=True, slots=True)
class SecureAggregation:
    """Sums by a server that sees masked numbers; the same algorithm as with secret sums."""

    name: str = "secure aggregation"
    source: str = "SecAgg+ of Flower"
    assumes: str = "a server that follows the protocol; at least a third of a client's neighbours honest"

    def misses(self, problem: Problem) -> str | None:
        """Return what to install, or why no sums solve the problem."""
        if flower_python() is None:
            return (
                "not installed: pip install 'tacit[flower]', here or in an environment whose Python "
                f"{FLOWER_PYTHON} names."
            )
        return misfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Add up by Flower; of the two who collude one runs the server, and in the end it lies."""
        server = key_holder_among(problem, listeners.coalitions)
        star = Problem(_star(len(problem.network), server), problem.costs, x0=problem.x0)
        job = summed_job(star, tolerance=_TOLERANCE)
        first_sum = closed_to(star, job, [server], server).view.only("up")[0]
        vectors = np.zeros((len(problem.network), first_sum.values.shape[1]))
        vectors[first_sum.senders] = first_sum.values
        with FlowerAdder(flower_python() or "") as adder:
            shown = summed(
                star, adder, listeners, how="SecAgg+, 32 bits", key_holder=server, tolerance=_TOLERANCE,
                pledge=lambda who: _ALONE,
            )  # fmt: skip
            draws = [adder.masked, *([adder.received(vectors)] for _ in range(min(listeners.repeats, _DRAWS) - 1))]
            missed = [float(np.abs(adder.read(row) - row).max()) for row in first_sum.values]
        read = sum(each < _READ * float(np.abs(vectors).max()) for each in missed)
        with_server = Pledge(
            "the sums alone",
            "the sums alone for the server, which one of these two runs, while it follows the protocol; one "
            f"that invented the other clients read {read} of {len(missed)}.",
        )
        return replace(
            shown,
            overheard=[[_masked(plain[0], draw) for draw in draws] if server in who else plain
                       for plain, who in zip(shown.overheard, listeners.coalitions, strict=True)],
            promises=[with_server if server in who else _ALONE for who in listeners.coalitions],
        )  # fmt: skip


def _star(agents: int, centre: int) -> nx.Graph[int]:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(agents))
    graph.add_edges_from((centre, i) for i in range(agents) if i != centre)
    return graph


def _masked(overheard: Overhearing, sums: Sequence[Array]) -> Overhearing:
    """Return what a coalition with the server heard in so many sums: the clients' numbers as they came, masked."""
    exchanges: list[Exchange] = []
    left = iter(sums)
    for each in overheard.view.exchanges:
        if each.kind == "up":
            numbers = next(left, None)
            if numbers is None:
                break
            each = msgspec.structs.replace(each, values=numbers[each.senders])
        exchanges.append(each)
    return overheard._replace(view=msgspec.structs.replace(overheard.view, exchanges=exchanges))
