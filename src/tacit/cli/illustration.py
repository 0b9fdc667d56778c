"""The paper's illustration on a terminal: both phases, step by step."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from tacit.solving.illustration import EXCHANGED, POINTS, against_the_third, agreed, effective_costs, masks


def replay(console: Console) -> None:
    """Print both phases step by step."""
    table = Table("agent", "x_i (private)", "sends", "mask a_i", "effective cost h̃_i(x), without constants")
    for (agent, point), a, cost in zip(POINTS.items(), masks(), effective_costs(), strict=True):
        sent = ", ".join(f"r_{i}{j} = {r}" for (i, j), r in sorted(EXCHANGED.items()) if i == agent)
        slope = f"(2·{point:g} {'−' if a > 0 else '+'} {abs(a):.1f})"
        table.add_row(str(agent), f"{point:g}", sent, f"{a:+.1f}", f"x² − {slope}x = x² {cost.affine[0]:+.1f}x")
    console.print(table)
    answer, certificate = agreed(), against_the_third()
    console.print(
        f"The masks add up to {abs(round(float(masks().sum()), 12)):g}. All three agree on x = {answer.x[0]:.9f}, "
        f"the mean of the x_i, {np.mean(list(POINTS.values())):g}.\n"
        f"Agent 3, with σ = 1, learns x₁ + x₂ and no more for sure: ε = 1/(4σ²·{certificate.components[0].mu:g}) = "
        f"{certificate.epsilon:g}, so that "
        "D_KL ≤ ½{(x₁ − x₁')² + (x₂ − x₂')²} between any two pairs with the same sum.",
        markup=False,
    )
