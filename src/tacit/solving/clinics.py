"""A made-up problem to try things on: clinics of different sizes fit one logistic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.costs import Logistic
from tacit.later import later
from tacit.solving.problem import Problem
from tacit.typing import Array

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


def clinics(count: int = 20, *, features: int = 4, seed: int = 2026) -> Problem:
    """Return the made-up records of *count* clinics, each linked to four others; the last unknown is an intercept.

    *seed* is of the data and the links. Masks never come from it.
    """
    costs = [
        Logistic(records, diagnosed, l2=1.0 / count, intercept=True)
        for records, diagnosed in clinic_records(count, features=features, seed=seed)
    ]
    return Problem(nx.random_regular_graph(4, count, seed=1), costs)


def clinic_records(count: int = 20, *, features: int = 4, seed: int = 2026) -> list[tuple[Array, Array]]:
    """Return the made-up records of *count* clinics, and who was diagnosed."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(features + 1)
    made = []
    for _ in range(count):
        records = rng.standard_normal((int(rng.integers(15, 60)), features))
        chance = 1.0 / (1.0 + np.exp(-(records @ truth[:-1] + truth[-1])))
        made.append((records, (rng.random(len(records)) < chance).astype(float)))
    return made
