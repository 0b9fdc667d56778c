"""Six hospitals find out which of thirty measurements matter, and show each other nothing but sums.

Every hospital has between 40 and 90 patients with thirty measurements and one outcome; four of the measurements
matter. Each makes a lasso cost from its own records. Affine masks would hide the outcomes and leave AᵀA, the
measurements' correlations, in the open, so whole costs are asked for: the hospitals add up their AᵀA and Aᵀb in
secret, once, and each solves the same lasso. It is compared with the one that somebody with all the records would
compute by another method.

    python examples/lasso.py
"""

from __future__ import annotations

import networkx as nx
import numpy as np

import tacit

HOSPITALS, MEASUREMENTS, WEIGHT = 6, 30, 60.0
MATTER = {3: 1.5, 11: -2.0, 17: 0.8, 26: 1.0}


def made_up_records() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the measurements and outcomes of each hospital."""
    rng = np.random.default_rng(4)
    truth = np.zeros(MEASUREMENTS)
    truth[list(MATTER)] = list(MATTER.values())
    records = []
    for _ in range(HOSPITALS):
        measured = rng.standard_normal((int(rng.integers(40, 90)), MEASUREMENTS))
        records.append((measured, measured @ truth + rng.standard_normal(len(measured))))
    return records


def pooled(records: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return what somebody with all the records would compute, by coordinate descent."""
    A = np.vstack([measured for measured, _ in records])
    left = np.concatenate([outcome for _, outcome in records])  # what x does not explain yet
    x, squares = np.zeros(MEASUREMENTS), (A**2).sum(axis=0)
    for _ in range(200):
        for k in range(MEASUREMENTS):
            pull = A[:, k] @ left + squares[k] * x[k]
            new = np.sign(pull) * max(abs(pull) - WEIGHT, 0.0) / squares[k]
            left += A[:, k] * (x[k] - new)
            x[k] = new
    return x


def main() -> None:
    """Fit, compare, and say who learnt what."""
    records = made_up_records()
    costs = [tacit.LeastSquares(A, b) + tacit.L1(WEIGHT / HOSPITALS) for A, b in records]
    problem = tacit.Problem(nx.circulant_graph(HOSPITALS, [1, 2]), costs)
    answer = tacit.solve(problem, protect="whole")

    phase1, phase2 = answer.record.phase1, answer.record.phase2
    print(answer.sentence)
    print(f"{phase2.algorithm} ({phase2.reason}): {phase2.exchanges} hops, {phase2.bytes / 1024:.0f} KiB")
    print("matter:", ", ".join(f"{k} ({answer.x[k]:+.3f})" for k in np.flatnonzero(answer.x)))
    print(f"with all the records: the largest difference is {np.abs(answer.x - pooled(records)).max():.0e}")
    print(f"hidden: {phase1.hides}; every sum is exact to {phase1.sum_error:.0e}")

    for t in (1, 2, 3):
        print(answer.certificate(any=t).statement().partition(". ")[0] + ".")
    exposed = answer.certificate({1, 2, 4, 5}).exposed_agents
    print(f"Four can be too many: 1, 2, 4 and 5 cut {' and '.join(map(str, exposed))} apart and see their shares.")

    gossip = tacit.solve(problem, privacy=tacit.AffineMasks(sigma=1e4)).record
    said = f"{gossip.phase2.exchanges} hops, {gossip.phase2.bytes / 1024:.0f} KiB"
    print(f"Gossip with affine masks, for comparison: {said}; hidden: {gossip.phase1.hides}")


if __name__ == "__main__":
    main()
