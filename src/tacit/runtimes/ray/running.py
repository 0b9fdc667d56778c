"""A job on a crew: cut it into blocks, let them begin, look, and put the answer together."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.costs import Family, stack
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.job import Job, Run
from tacit.runtimes.looking import Look
from tacit.runtimes.ray import Cluster
from tacit.runtimes.ray.crew import Crew
from tacit.runtimes.ray.partition import partitioned
from tacit.runtimes.ray.share import Share, shares_of
from tacit.runtimes.ray.worker import BlockEnd
from tacit.runtimes.stopping import Progress
from tacit.runtimes.traffic import Traffic


def run_on(
    cluster: Cluster, processors: int, job: Job, on_progress: Callable[[Progress], None] | None = None
) -> Run:
    """Run both phases on as many workers as were asked for, or as there are processors."""
    workers = min(cluster.workers or processors, len(job.network))
    shares = shares_of(job.network, partitioned(job.network, workers), job.weights)
    parts = [(share, costs_of(job, share)) for share in shares]
    watch, conclusion, done = job.watch(on_progress), None, 0
    with Crew(job, parts, checkpoint_seconds=cluster.checkpoint_seconds, clock=time.monotonic) as crew:
        del parts
        crew.begin()
        while conclusion is None:
            done = watch.next_check(done)
            conclusion = watch.look(done, Look.read(crew.until(done)))
        ends = crew.finish()
    findings = ends[0].findings
    doubt = Doubt.of(findings)
    return Run(
        x=_together(job, shares, ends), rounds=done, traffic=_all_traffic([end.traffic for end in ends]),
        verdict=conclusion.with_doubt(doubt), history=tuple(watch.history), doubt=doubt, noise=findings.noise,
    )  # fmt: skip


def costs_of(job: Job, share: Share) -> Any:
    """Return the costs of a block's agents as one object, with an agent axis even where there is one agent."""
    if isinstance(job.stack, Family) and job.stack.has_rows:
        return job.stack.only(share.agents)
    return stack([copy.copy(job.costs[agent]) for agent in share.agents])


def _together(job: Job, shares: list[Share], ends: list[BlockEnd]) -> Any:
    x = np.empty((len(job.network), len(job.x0)))
    for share, end in zip(shares, ends, strict=True):
        x[share.agents] = end.x
    return x


def _all_traffic(each: list[Traffic]) -> Traffic:
    return Traffic(
        exchanges=max(t.exchanges for t in each),
        messages=sum(t.messages for t in each),
        bytes=sum(t.bytes for t in each),
    )
