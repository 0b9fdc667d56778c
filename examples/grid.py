"""Twelve buses of a power grid agree on their mean load, and some of them hang on a single line.

A bus with one line shares all its masks with one neighbour, who can take them off again: it has no privacy,
however large σ is. The same holds for the sum over a part of the grid that hangs on one bus. This says who is
concerned, which few links would help (they need not be power lines: any private channel will do), what σ has
to be after that, and then computes the mean load with it. The grid and the loads are made up.

    python examples/grid.py
"""

from __future__ import annotations

import networkx as nx
import numpy as np

import tacit

LINES = [
    *[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1), (2, 5)],  # the meshed part: a ring and a tie line
    *[(1, 7), (3, 8), (4, 9)],  # three pendant buses
    *[(6, 10), (10, 11), (10, 12)],  # a feeder with two ends
]
LOADS = {1: 31.0, 2: 12.5, 3: 44.0, 4: 27.5, 5: 18.0, 6: 9.0, 7: 6.5, 8: 15.0, 9: 3.5, 10: 21.0, 11: 7.5, 12: 10.5}
HIDDEN = 10.0  # MW: nobody shall notice that so much moved from one bus to another


def main() -> None:
    """Say who has no privacy, add links, choose σ, and compute the mean load."""
    grid = nx.Graph(LINES)

    before = tacit.certify(grid, any=1, sigma=1.0)
    print(f"exposed to their one neighbour, whatever σ is: buses {', '.join(map(str, before.without_privacy))}")
    for bus in sorted(nx.articulation_points(grid)):
        pieces = tacit.certify(grid, {bus}, sigma=1.0).exposed_sums
        small = [" + ".join(map(str, piece)) for piece in pieces if len(piece) < len(grid) / 2]
        print(f"  bus {bus:2} learns the load of {' and of '.join(small)}")
    try:
        tacit.calibrate(grid, any=1, guess=0.51)
    except tacit.TacitError as error:
        print(f"so a target is refused: {error}")

    more = tacit.augment(grid, any=1)
    proof = "no fewer suffice" if more.exact else f"at least {more.at_least} are needed"
    print(f"{len(more.links)} links help, and {proof}: {', '.join(f'{a} – {b}' for a, b in more.links)}")

    # The cost (x − load)² has the affine coefficient −2·load, and two buses change at once.
    distance = 2.0 * HIDDEN * np.sqrt(2.0)
    sigma = tacit.calibrate(more.graph, any=1, guess=0.51, hide=distance)
    print(f"after that σ = {sigma:.0f} hides {HIDDEN:g} MW: any one bus guesses right 51 % of the time at worst")

    costs = {bus: tacit.Quadratic.distance([load]) for bus, load in LOADS.items()}
    answer = tacit.solve(tacit.Problem(more.graph, costs), privacy=tacit.AffineMasks(sigma))
    print(f"mean load {answer.x[0]:.6f} MW, expected {np.mean(list(LOADS.values())):.6f}; {answer.sentence}")


if __name__ == "__main__":
    main()
