"""Secure multi-party sums on the complete graph, by MPyC: every agent a process that shares with everybody.

Shamir's shares (Communications of the ACM 22(11), 1979) of degree ⌊(n − 1)/2⌋: fewer than half of the agents learn
nothing beyond what is opened, however long they compute. Every two agents must be linked.
"""

from __future__ import annotations

import json
import pickle
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.summing import closed_to, misfit, missing_package, summed_job
from tacit.errors import TacitError
from tacit.runtimes.traffic import Traffic
from tacit.solving import Problem

_MOST = 24  # processes on one machine
_PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class MultiParty:
    """Sums of shares; the same algorithm as with secret sums."""

    name: str = "multi-party sums"
    source: str = "MPyC"
    assumes: str = "the complete graph; fewer than half collude"

    def misses(self, problem: Problem) -> str | None:
        """Return what to install, or why it does not run here."""
        if len(problem.network) > _MOST:
            return f"{len(problem.network)} processes with all links between them are too many for one machine."
        return missing_package("mpyc", "compare") or misfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Start one process for every agent, and wait for the answer."""
        job, n = summed_job(problem), len(problem.network)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "answer.json"
            for i, cost in enumerate(problem.costs):
                own = replace(job, costs=[cost], stack=cost)
                (Path(folder) / str(i)).write_bytes(pickle.dumps(own))
            start, port = time.perf_counter(), _free_ports(n)
            command = [sys.executable, "-m", "tacit.baselines.mpyc_party"]
            parties = [
                subprocess.Popen(  # noqa: S603
                    [*command, str(Path(folder) / str(i)), str(out), f"-M{n}", f"-I{i}", f"-B{port}", "--no-log"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
                for i in range(n)
            ]  # fmt: skip
            try:
                for party in parties:
                    party.wait(timeout=_PATIENCE)
            except subprocess.TimeoutExpired as error:
                raise TacitError("the parties of MPyC did not end in time.") from error
            finally:
                for party in parties:
                    party.kill()
            seconds = time.perf_counter() - start
            if not out.exists():
                raise TacitError("the parties of MPyC ended without an answer.")
            answer = json.loads(out.read_text())
        pairs, sums = n * (n - 1), int(answer["sums"])
        return Demonstration(
            x=np.tile(np.array(answer["x"]), (n, 1)),
            rounds=int(answer["rounds"]),
            traffic=Traffic(exchanges=2 * sums, messages=2 * pairs * sums, bytes=n * int(answer["bytes"])),
            seconds=seconds,
            how=f"{type(job.algorithm).__name__}, {n} processes",
            overheard=[[closed_to(problem, job, who)] for who in listeners.coalitions],
            promises=[_pledge(who, n) for who in listeners.coalitions],
        )


def _pledge(who: Sequence[int], n: int) -> Pledge:
    if len(who) > (n - 1) // 2:
        return Pledge("none", f"none: {len(who)} of {n} are enough to open every share.")
    return Pledge("the sums alone", "nothing beyond the sums that are opened, however long they compute.")


def _free_ports(count: int) -> int:
    """Return the first of so many ports in a row that are free now."""
    for first in range(21_000, 60_000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise TacitError(f"no {count} free ports in a row on this machine.")
