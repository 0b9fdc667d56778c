"""Linkability: whose costs are these? Matching the agents of two runs under other names.

The attacker holds beliefs about all agents of two runs with the same costs, under pseudonyms of their own, and
pairs them up so that matched beliefs are as near to each other as possible (an assignment problem). Without masks
beliefs are fingerprints. Behind masks they differ by noise of twice the variance, and a match is little more than a
guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tacit.auditing.attacks.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Linking:
    """Match agents by their beliefs."""

    name: str = "linkability"

    def __call__(self, first: Estimate, second: Estimate) -> NDArray[np.intp]:
        """Return, for every row of the first estimate, the row of the second that seems to be the same agent."""
        away = np.square(first.values[:, None] - second.values[None]).sum(axis=2)
        rows, columns = linear_sum_assignment(away)
        matched = np.empty(len(first.values), dtype=np.intp)
        matched[rows] = columns
        return matched
