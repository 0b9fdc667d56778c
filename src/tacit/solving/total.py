"""The total of everybody's numbers, in secret: one sum, with the record of its run.

    x = Σ_i v_i        k numbers are told where every agent brings k

It runs wherever a problem runs, under the same masks, and there is nothing to minimise.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tacit.algorithms import Total
from tacit.costs import Affine, stack
from tacit.masks import Mechanism
from tacit.network import Network
from tacit.runtimes import Job, StoppingRule
from tacit.solving.answer import Answer
from tacit.solving.by_name import runtime_called
from tacit.solving.recorded import recorded
from tacit.solving.stamping import NO_MASKS, of_masks, of_network
from tacit.solving.telling import Telling, stamps_of
from tacit.typing import Array


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


def _telling(network: Network, numbers: int) -> Telling:
    """Return that one combination of everybody else's numbers is told for each."""
    hidden = numbers * (len(network) - 1)
    return Telling(noun="cost", hidden=hidden, numbers=numbers, rank=numbers, onlooker=str(network.agents[0]))
