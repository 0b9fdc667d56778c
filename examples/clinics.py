"""Twenty clinics fit one logistic regression; their diagnoses stay at home.

Every clinic has between 15 and 60 records: four measurements and a diagnosis. Each makes a cost from its own
records, talks to four neighbours, and hides its affine part, which is where the diagnoses enter. The result is
compared with the regression that somebody with all the records would compute.

    python examples/clinics.py
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from scipy.optimize import minimize

import tacit

CLINICS, FEATURES, PENALTY = 20, 4, 1.0
SIGMA = 1e3


def made_up_records() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the measurements and diagnoses of each clinic."""
    rng = np.random.default_rng(11)
    truth = rng.standard_normal(FEATURES)
    records = []
    for _ in range(CLINICS):
        measured = rng.standard_normal((int(rng.integers(15, 60)), FEATURES))
        chance = 1.0 / (1.0 + np.exp(-(measured @ truth)))
        records.append((measured, (rng.random(len(measured)) < chance).astype(float)))
    return records


def pooled(records: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return what somebody with all the records would compute, by another method."""
    A = np.vstack([measured for measured, _ in records])
    y = np.concatenate([diagnosed for _, diagnosed in records])

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        z = A @ x
        value = np.logaddexp(0.0, z).sum() - y @ z + 0.5 * PENALTY * x @ x
        return float(value), A.T @ (1.0 / (1.0 + np.exp(-z)) - y) + PENALTY * x

    return minimize(loss, np.zeros(FEATURES), jac=True, method="BFGS", options={"gtol": 1e-6}).x


def main() -> None:
    """Fit, compare, and say what was hidden."""
    records = made_up_records()
    costs = [tacit.Logistic(measured, diagnosed, l2=PENALTY / CLINICS) for measured, diagnosed in records]
    problem = tacit.Problem(nx.random_regular_graph(4, CLINICS, seed=1), costs)
    answer = tacit.solve(problem, privacy=tacit.AffineMasks(SIGMA))

    print(answer.sentence)
    print("coefficients:        ", answer.x.round(6))
    print("with all the records:", pooled(records).round(6))
    print("hidden:              ", answer.record.phase1.hides)

    # One diagnosis turned round moves a clinic's coefficients by the length of that record's row.
    longest = max(float(np.linalg.norm(measured, axis=1).max()) for measured, _ in records)
    distance = np.sqrt(2.0) * longest  # two clinics turn one each, so that the sum stays
    for t in (1, 2, 3):
        right = answer.certificate(any=t).guess(distance)
        print(f"any {t} clinic(s) guess whether two diagnoses were turned: right {100 * right:.2f} % of the time")


if __name__ == "__main__":
    main()
