"""The three agents of Gupta & Chopra, Section IV, with the paper's own random numbers.

    r₁₂, r₂₁, r₂₃, r₃₂, r₃₁, r₁₃ = 0.1, 0.5, 0.7, 0.4, 0.3, 0.8   ⇒   a = (−0.1, −0.7, 0.8)

Corrected on the way: h̃₃ begins with x², not x³; constants such as x₁² are dropped, because an observer
could read x₁ from them; the undefined constant c of the divergence bound is 2.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

from tacit.certificates import certify
from tacit.costs import Quadratic
from tacit.masks import mask
from tacit.network import Network
from tacit.runtimes import Stacked
from tacit.solving import Problem, solve
from tacit.typing import Array

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


def replay(console: Console) -> None:
    """Print both phases step by step."""
    table = Table("agent", "x_i (private)", "sends", "mask a_i", "effective cost h̃_i(x), without constants")
    for (agent, point), a, cost in zip(POINTS.items(), masks(), effective_costs(), strict=True):
        sent = ", ".join(f"r_{i}{j} = {r}" for (i, j), r in sorted(EXCHANGED.items()) if i == agent)
        slope = f"(2·{point:g} {'−' if a > 0 else '+'} {abs(a):.1f})"
        table.add_row(str(agent), f"{point:g}", sent, f"{a:+.1f}", f"x² − {slope}x = x² {cost.affine[0]:+.1f}x")
    console.print(table)
    answer = solve(Problem(TRIANGLE, effective_costs()))
    certificate = certify(Network(TRIANGLE), {3}, sigma=1.0)
    console.print(
        f"The masks add up to {abs(round(float(masks().sum()), 12)):g}. All three agree on x = {answer.x[0]:.9f}, "
        f"the mean of the x_i, {np.mean(list(POINTS.values())):g}.\n"
        f"Agent 3, with σ = 1, learns x₁ + x₂ and no more for sure: ε = 1/(4σ²·{certificate.components[0].mu:g}) = "
        f"{certificate.epsilon:g}, so that "
        "D_KL ≤ ½{(x₁ − x₁')² + (x₂ − x₂')²} between any two pairs with the same sum.",
        markup=False,
    )
