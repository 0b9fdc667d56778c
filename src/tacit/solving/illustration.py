"""The three agents of Gupta & Chopra, Section IV, with the paper's own random numbers.

    r₁₂, r₂₁, r₂₃, r₃₂, r₃₁, r₁₃ = 0.1, 0.5, 0.7, 0.4, 0.3, 0.8   ⇒   a = (−0.1, −0.7, 0.8)

Corrected on the way: h̃₃ begins with x², not x³; constants such as x₁² are dropped, because an observer
could read x₁ from them; the undefined constant c of the divergence bound is 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.certificates import Certificate, certify
from tacit.costs import Quadratic
from tacit.later import later
from tacit.masks import mask
from tacit.network import Network
from tacit.runtimes import Stacked
from tacit.solving.answer import Answer
from tacit.solving.problem import Problem
from tacit.solving.solve import solve
from tacit.typing import Array

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

TRIANGLE = nx.Graph([(1, 2), (1, 3), (2, 3)])
EXCHANGED = {(1, 2): 0.1, (2, 1): 0.5, (2, 3): 0.7, (3, 2): 0.4, (3, 1): 0.3, (1, 3): 0.8}
POINTS = {1: 1.0, 2: 2.0, 3: 6.0}  # the paper leaves x₁, x₂, x₃ open


def masks() -> Array:
    """Return a₁, a₂, a₃ of eq. (4)."""
    r = np.array([[EXCHANGED[link]] for link in sorted(EXCHANGED)])
    return mask(r, Stacked(Network(TRIANGLE)))[:, 0]


def effective_costs() -> list[Quadratic]:
    """Return h̃_i = h_i + a_i x, eq. (5)."""
    costs = [Quadratic.distance([point]) for point in POINTS.values()]
    return [cost.with_affine(cost.affine + a) for cost, a in zip(costs, masks(), strict=True)]


def agreed() -> Answer:
    """Return what all three agree on, from effective costs alone."""
    return solve(Problem(TRIANGLE, effective_costs()))


def against_the_third() -> Certificate:
    """Return what is guaranteed against agent 3, with σ = 1."""
    return certify(Network(TRIANGLE), {3}, sigma=1.0)
