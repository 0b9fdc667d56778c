"""Totals over all agents, in secret: what everybody may know, and nobody's own part of it.

    argmin_x Σ_i (½|x|² − v_iᵀx) = Σ v_i / n

An average is the smallest problem that agents can solve together, so totals run wherever problems do, on every
runtime, and one secret sum is enough.
"""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import numpy as np

from tacit.costs import Quadratic
from tacit.masks import SumMasks
from tacit.solving import Answer, Problem, solve
from tacit.typing import Array

BOUND = 2.0**20
"""MW that no number of one agent exceeds: public, and beyond any grid."""


def secret_totals(graph: nx.Graph[Any], parts: Array, *, masked: bool, runtime: str) -> tuple[Array, Answer]:
    """Return Σ_i of the rows of *parts*, (n, k) in MW, and the run that added them up."""
    identity = np.eye(parts.shape[1])
    problem = Problem(graph, [Quadratic(identity, -row) for row in parts])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # agents with one neighbour: the statement names them
        answer = solve(
            problem, privacy=SumMasks(bound=BOUND) if masked else None, algorithm="direct", runtime=runtime
        )
    return len(parts) * answer.x, answer
