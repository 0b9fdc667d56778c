"""Nine weather stations agree on one temperature, and two of their sensors are broken.

The mean minimises Σ (x − x_i)², and one broken sensor moves it as far as it likes. The median minimises
Σ |x − x_i| and does not care. Robustness has a price in privacy: a reading enters (x − x_i)² through its affine
part, which masks hide, while |x − x_i| has no affine part, and masks would hide nothing of it: tacit would warn, so
the median is found without them.

    python examples/median.py
"""

from __future__ import annotations

import networkx as nx
import numpy as np

import tacit

READINGS = np.array([14.2, 14.6, 13.9, 14.4, 14.1, 14.8, 14.3, 85.0, -40.0])


def main() -> None:
    """Solve for the mean and for the median on the same ring with chords."""
    graph = nx.circulant_graph(len(READINGS), [1, 2])
    masks = tacit.AffineMasks(sigma=1e3)

    mean = tacit.solve(tacit.Problem(graph, [tacit.Quadratic.distance([r]) for r in READINGS]), privacy=masks)
    print(f"mean    {mean.x[0]:8.4f}   expected {READINGS.mean():8.4f}   hidden: {mean.record.phase1.hides}")

    costs = [tacit.AbsoluteValue([r]) for r in READINGS]
    median = tacit.solve(tacit.Problem(graph, costs))
    print(
        f"median  {median.x[0]:8.4f}   expected {np.median(READINGS):8.4f}   hidden: {costs[0].affine_part.holds}"
    )

    both = mean.converged and median.converged
    print("Both converged." if both else f"{mean.sentence} {median.sentence}")


if __name__ == "__main__":
    main()
