"""The total of everybody's numbers, in secret: one sum, with the record of its run.

    x = Σ_i v_i        k numbers are told where every agent brings k

It runs wherever a problem runs, under the same masks, and there is nothing to minimise. With a promise, every agent
brings one row for each of its records, none longer than the public limit, and the total has noise.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tacit.algorithms import NoisyTotal, Total
from tacit.costs import Affine, stack
from tacit.costs.record_totals import RecordTotals
from tacit.differential import DifferentialPrivacy, share_out
from tacit.masks import Mechanism, SumMasks, limits_of
from tacit.network import Network
from tacit.runtimes import Job, StoppingRule
from tacit.solving.answer import Answer
from tacit.solving.by_name import runtime_called
from tacit.solving.promised import guaranteed
from tacit.solving.recorded import recorded
from tacit.solving.stamping import NO_MASKS, of_masks, of_network
from tacit.solving.telling import Telling, stamps_of
from tacit.typing import Array

_BOUND = 2.0**32  # of an agent's noisy total, in units of what one record moves: the number of its records


def adding_up(network: Network, parts: Sequence[Array], *, privacy: Mechanism | None) -> Job:
    """Return the run that adds up one vector per agent, in the order of the network."""
    costs = [Affine(numbers) for numbers in parts]
    return Job(
        network=network,
        costs=costs,
        stack=stack(costs),
        x0=np.zeros(len(parts[0])),
        algorithm=Total(),
        exact=Total.exact,
        weights=Total.weights,
        privacy=privacy,
        rule=StoppingRule(),
    )


def total(network: Network, parts: Sequence[Array], *, privacy: Mechanism | None, runtime: str) -> Answer:
    """Return the answer whose x is the sum of one vector per agent, in the order of the network."""
    runs, job = runtime_called(runtime), adding_up(network, parts, privacy=privacy)
    tells = None if privacy is None or len(network) < 3 else _telling(network, len(job.x0))
    stamps = [NO_MASKS] if privacy is None else [*of_masks(privacy), *of_network(network)]
    start = time.perf_counter()
    run = runs(job, None)
    record = recorded(
        job,
        run,
        reason="a total, and nothing to minimise",
        runtime=runtime,
        seconds=time.perf_counter() - start,
        stamps=[*stamps, *(stamps_of(tells) if tells is not None else [])],
        cautions=[],
        tells=tells,
        hide=None,
    )
    return Answer(record, network)


def noisy_total(
    network: Network, rows: Sequence[Array], promise: DifferentialPrivacy, *, runtime: str = "stacked"
) -> Answer:
    """Return the answer whose x is the sum of all agents' rows, (N_i, p) each, with noise that keeps *promise*.

    Every agent shortens its own rows to the promise's clip, and nobody learns whether it did.
    """
    promise.refuse_few(len(network))
    limits, masks, sharing = limits_of(promise), SumMasks(bound=_BOUND, answer=promise), share_out(network, promise)
    costs = [RecordTotals(part).clipped(limits) for part in rows]
    algorithm = NoisyTotal(slope=limits.clip, noise=sharing.noise)
    job = Job(
        network=network,
        costs=costs,
        stack=stack(costs),
        x0=np.zeros(costs[0].dim),
        algorithm=algorithm,
        exact=True,
        weights=Total.weights,
        privacy=masks,
        rule=StoppingRule(),
    )
    start = time.perf_counter()
    run = runtime_called(runtime)(job, None)
    record = recorded(
        job,
        run,
        reason="a total with noise, and nothing to minimise",
        runtime=runtime,
        seconds=time.perf_counter() - start,
        stamps=[*of_masks(masks), *of_network(network)],
        cautions=[],
        tells=None,
        hide=None,
        guarantee=guaranteed(promise, sharing, "record", masks),
    )
    return Answer(record, network)


def _telling(network: Network, numbers: int) -> Telling:
    """Return that one combination of everybody else's numbers is told for each."""
    hidden = numbers * (len(network) - 1)
    return Telling(noun="cost", hidden=hidden, numbers=numbers, rank=numbers, onlooker=str(network.agents[0]))
