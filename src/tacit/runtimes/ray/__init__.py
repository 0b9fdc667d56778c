"""Agents in blocks, one Ray actor each: simulations and training inside one house, beyond one machine.

    tacit.solve(problem, runtime="ray")                                        # the processors of this machine
    tacit.solve(problem, runtime=Cluster(workers=4, address="auto"))           # a cluster that runs

A block is a stack of agents, as `tacit.runtimes.stacked` has all of them; the algorithm texts and the costs are
those of every runtime. Where a block's agents have neighbours elsewhere, their rows travel from actor to actor, as
object references where they are long. Who may talk to whom is decided by nobody here: a cluster belongs to one
house. Between organisations there are peers.

    partition    which agents share a block: as few links as possible between blocks
    share        what one block has to know of the network
    mail         rows that have come for a block and wait to be taken
    block_peers  `Peers` of one block
    worker       the actor: both phases for one block
    crew         all actors: begin, go on, keep checkpoints, replace who was lost
    cluster      Ray itself: start it or find it, and end it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.errors import InputError
from tacit.runtimes.job import Job, Run
from tacit.runtimes.stopping import Progress

CHECKPOINT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where blocks run: on so many *workers*, on this machine or on the Ray cluster at *address*.

    *workers* is as many as there are processors, unless given; *address* is "auto" for the cluster that this
    machine belongs to, or host:port. States are kept every *checkpoint_seconds*, at the next look of the stopping
    rule: a run goes on from there where a worker is lost.
    """

    workers: int | None = None
    address: str | None = None
    checkpoint_seconds: float = CHECKPOINT_SECONDS

    def __post_init__(self) -> None:
        if self.workers is not None and not self.workers >= 1:
            raise InputError(f"workers = {self.workers} must be at least 1.")

    def __str__(self) -> str:
        return "ray"

    def __call__(self, job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
        """Run both phases there."""
        from tacit.runtimes.ray.cluster import connected  # Ray is heavy, and an extra

        with connected(self) as processors:
            from tacit.runtimes.ray.running import run_on

            return run_on(self, processors, job, on_progress)


def run(job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
    """Run both phases on the processors of this machine."""
    return Cluster()(job, on_progress)
