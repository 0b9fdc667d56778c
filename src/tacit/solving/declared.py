"""What a run between organisations will tell, from what its manifest declares: nobody's records are needed.

Every member holds at least so many records, of so many columns: costs of that shape are invented, and asked what a
run on them would tell. More records than declared tell less of each.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from tacit.algorithms import AnyAlgorithm
from tacit.masks import Mechanism
from tacit.network import Network
from tacit.solving.cost_files import invented
from tacit.solving.problem import Problem
from tacit.solving.sections import Costs
from tacit.solving.solve import prepare
from tacit.solving.telling import Telling
from tacit.stamps import Stamp


class Declared(NamedTuple):
    """How much a declared run tells, and whoever has to know that."""

    tells: Telling | None
    stamps: list[Stamp]


def declared(
    network: Network,
    section: Costs,
    *,
    records: int,
    unknowns: int,
    privacy: Mechanism,
    algorithm: AnyAlgorithm,
    x0: np.ndarray | None = None,
) -> Declared:
    """Return what a run tells in which every member holds at least so many *records*."""
    costs = invented(section, network.agents, records=records, unknowns=unknowns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = prepare(Problem(network, costs, x0=x0), privacy=privacy, algorithm=algorithm)
    stamps = [stamp for stamp in prepared.stamps if stamp.reason == "answer tells"]
    return Declared(prepared.tells, stamps)
