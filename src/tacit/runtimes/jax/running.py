"""Both phases with JAX: the first on the host, the second on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.algorithms import name_of
from tacit.algorithms.declarations import answering
from tacit.errors import AlgorithmError, ProtectionError
from tacit.masks import Keystreams, agent_keys
from tacit.runtimes.doubt import Doubt
from tacit.runtimes.jax.devices import computing
from tacit.runtimes.job import Job, Run
from tacit.runtimes.looking import Look
from tacit.runtimes.stacked import Stacked
from tacit.runtimes.stopping import Progress
from tacit.runtimes.traffic import Traffic


def run(
    job: Job,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    platform: str | None = None,
    single: bool = False,
) -> Run:
    """Run both phases; refuse *single* precision under masks, and what cannot be compiled."""
    if single and job.privacy is not None:
        raise ProtectionError(
            "masks need float64: in float32 they neither cancel nor leave room for the numbers that they hide; use "
            "runtime 'jax', or no masks."
        )
    if job.algorithm.sums:
        raise AlgorithmError(
            f"{name_of(type(job.algorithm))} adds up over the network, which runtime 'jax' does not; use 'stacked'."
        )
    with computing(platform, single=single):
        return _run(job, on_progress)


def _run(job: Job, on_progress: Callable[[Progress], None] | None) -> Run:
    from tacit.runtimes.jax.mixing import Tables
    from tacit.runtimes.jax.rounds import Rounds

    network, traffic = job.network, Traffic()
    cost: Any = job.stack
    if job.privacy is not None:
        phase1 = Stacked(network, job.weights)
        source = Keystreams(agent_keys(len(network), seed=job.privacy.seed), network.degrees)
        cost = job.privacy.hide(cost, phase1, source, network=network).cost
        traffic = phase1.traffic
    watch, answers = job.watch(on_progress), answering(job.algorithm)
    x0 = np.tile(job.x0, (len(network), 1))
    rounds = Rounds(job.algorithm, x0, cost, Tables(network, job.weights), answers.error)
    conclusion = None
    while conclusion is None:
        due = watch.next_check(rounds.done if watch.history else 0)
        conclusion = watch.look(due, Look.read(rounds.until(due)))
    tally, links = rounds.tally, 2 * len(network.links)
    traffic.count(
        exchanges=tally.gossips,
        messages=tally.gossips * links,
        bytes=links * tally.bytes // len(network),
    )
    doubt = Doubt.of(job.findings(rounds.state))
    return Run(
        x=rounds.x, rounds=rounds.done, traffic=traffic, verdict=conclusion.with_doubt(doubt),
        history=tuple(watch.history), doubt=doubt,
    )  # fmt: skip
