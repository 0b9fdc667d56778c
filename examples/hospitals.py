"""Five hospitals of very unequal size fit one model; their records stay at home.

One hospital has a single patient, one has only patients who relapsed. They standardise their measurements, fit a
logistic regression and read off standard errors: everything by sums over all five, which is all that any of them
sees. The result is compared with scikit-learn on the pooled records, and a ledger refuses the fit that would expose
somebody.

    python examples/hospitals.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import tacit
from tacit.learning import PrivateLogisticRegression, PrivateStandardScaler


def dealt_out() -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Return measurements, diagnoses, and whose patient each is."""
    data = load_breast_cancer()
    X, y = data.data[:, [0, 1, 4]], data.target
    hospital = np.full(len(y), "university", dtype=object)
    hospital[0] = "village"  # a single record
    hospital[1:40] = "north"
    hospital[40:90] = "coast"
    alike = np.flatnonzero((y == 0) & (hospital == "university"))[:15]
    hospital[alike] = "hospice"  # a single class
    return X, y, hospital, [str(name) for name in data.feature_names[[0, 1, 4]]]


def main() -> None:
    """Standardise, fit, compare, and say what was told."""
    X, y, hospital, names = dealt_out()
    parties = {name: (X[hospital == name], y[hospital == name]) for name in dict.fromkeys(hospital)}
    print("records:", ", ".join(f"{name} {len(labels)}" for name, (_, labels) in parties.items()))

    scaler = PrivateStandardScaler().fit_parties({name: rows for name, (rows, _) in parties.items()})
    print("means by secret sums:", dict(zip(names, scaler.mean_.round(4).tolist(), strict=True)))

    model = PrivateLogisticRegression(C=1.0, any=2).fit_parties(parties)
    pooled = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(X, y)
    print("\ncoefficients:        ", model.coef_[0])
    print("with all the records:", pooled.coef_[0])
    print(f"largest difference:   {np.abs(model.coef_ - pooled.coef_).max():.1e}")

    table = PrivateLogisticRegression(C=np.inf).fit_named(X, y, hospital, columns=names, target="benign").summary_
    print(f"\n{table}\n")
    print("What was told, and nothing else:")
    print(model.ledger_)
    print(model.certificate_.statement())

    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "village.ledger"
        PrivateLogisticRegression(ledger=book).fit_parties(parties)
        others = {name: records for name, records in parties.items() if name != "village"}
        try:
            PrivateLogisticRegression(ledger=book).fit_parties(others)
        except tacit.TacitError as refusal:
            print(f"\nThe same fit without the village: {str(refusal).partition(' is refused: ')[2]}")


if __name__ == "__main__":
    main()
