"""tacit's agents with their defaults: every message kept, durable, masked, with looks at all agents.

A round is one exchange of DGD on costs that take next to no arithmetic.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.processes import WARM, Times, Told, run_all, tell
from tacit.algorithms import DGD
from tacit.costs import Family
from tacit.costs.family import Curvature
from tacit.coverage import AffinePart
from tacit.federation import Manifest, join
from tacit.federation.local import manifest_of
from tacit.masks import AffineMasks
from tacit.network import Network
from tacit.runtimes import Job, StoppingRule
from tacit.typing import Array


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


class Timed:
    """An algorithm that notes when its first round that counts begins and when its last ends."""

    def __init__(self, algorithm: Any, rounds: int) -> None:
        self._algorithm, self.sums = algorithm, algorithm.sums
        self._first, self._last, self._done = min(WARM, rounds - 1), rounds, 0
        self._began = (0.0, 0.0)
        self.times = Times(0.0, 0.0, 0.0)

    @property
    def counted(self) -> int:
        """How many rounds count."""
        return self._last - self._first

    def init(self, x: Array, cost: object) -> Any:
        """Start."""
        return self._algorithm.init(x, cost)

    def step(self, state: Any, peers: object, cost: object) -> Any:
        """Run one round."""
        if self._done == self._first:
            self._began = time.monotonic(), time.process_time()
        state = self._algorithm.step(state, peers, cost)
        self._done += 1
        if self._done == self._last:
            first, cpu = self._began
            self.times = Times(first, time.monotonic(), time.process_time() - cpu)
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
        algorithm=DGD(step_size=1e-4),  # so small that all rounds are run
        exact=False,
        weights="metropolis",
        privacy=AffineMasks(10.0),
        rule=StoppingRule(tolerance=1e-300, max_rounds=rounds),
    )


def tacit_agents(job: Job, *, method: str = "forkserver") -> list[Told]:
    """Run tacit's agents."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        names = [f"agent-{i}" for i in range(len(job.network))]
        manifest = manifest_of(job, names, Path(folder))
        given = [(manifest, name, cost, folder) for name, cost in zip(names, job.costs, strict=True)]
        return run_all(method, _serve, given)


def _serve(manifest: Manifest, name: str, cost: Family, folder: str, began: float, pipe: Pipe) -> None:
    """Be one of tacit's agents."""
    agent = join(manifest, cost, me=name, key=Path(folder) / f"{name}.key", folder=folder)
    timed = Timed(agent.job.algorithm, agent.job.rule.max_rounds)
    agent.job = dataclasses.replace(agent.job, algorithm=timed)
    agent.run()
    tell(pipe, timed.counted, timed.times, began)
