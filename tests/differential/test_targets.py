"""How good answers are at ε = 1, on records that scikit-learn carries, on made-up ones, and on a9a where it is given.

`TACIT_A9A=folder make test-large` measures on the files a9a and a9a.t of that folder, in the format of svmlight.
"""

import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import tacit

pytestmark = pytest.mark.large


def fitted(A, y, agents, promise, seed):
    """Return the weights that so many agents agree on."""
    parts = np.array_split(np.random.default_rng(seed).permutation(len(A)), agents)
    costs = [tacit.Logistic(A[part], y[part], intercept=True) for part in parts]
    problem = tacit.Problem(nx.random_regular_graph(6, agents, seed=seed), costs)
    return tacit.solve(problem, privacy=tacit.SumMasks(answer=promise)).x


def scores(x, A, y):
    """Return accuracy and area under the curve, in per cent."""
    z = np.column_stack([A, np.ones(len(A))]) @ x
    return 100.0 * ((z > 0) == y).mean(), 100.0 * roc_auc_score(y, z)


def test_breast_cancer_over_twenty_agents():
    """Features in public units: their published means and deviations."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y > 0
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=2, records=len(X))
    reached = []
    for seed in range(20):
        A, T, a, b = train_test_split(X, y, test_size=0.2, random_state=seed)
        reached.append(scores(fitted(A, a, 20, promise, seed), T, b))
    accuracy, area = np.mean(reached, axis=0)
    assert accuracy >= 93.5
    assert area >= 98.0


def made_up(records, seed):
    """Return records of a9a's shape: fourteen ones among 123 columns, and labels of a logistic model."""
    rng = np.random.default_rng(seed)
    groups = np.array_split(np.arange(123), 14)
    A = np.zeros((records, 123))
    for group in groups:
        chances = rng.dirichlet(np.full(len(group), 0.7))
        A[np.arange(records), rng.choice(group, size=records, p=chances)] = 1.0
    weights = rng.normal(size=123)
    return A, rng.random(records) < 1.0 / (1.0 + np.exp(1.5 - A @ weights))


def test_made_up_records_of_the_shape_of_a9a_over_fifty_agents():
    A, y = made_up(40_000, 4)
    A, T, y, b = A[:32_561], A[32_561:], y[:32_561], y[32_561:]
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=15**0.5, any=2, records=len(A))
    exact = LogisticRegression(max_iter=1000).fit(A, y)
    ideal = 100.0 * exact.score(T, b), 100.0 * roc_auc_score(b, exact.decision_function(T))
    reached = scores(fitted(A, y, 50, promise, 0), T, b)
    assert np.all(np.subtract(ideal, reached) < 1.0)


@pytest.mark.skipif("TACIT_A9A" not in os.environ, reason="TACIT_A9A names no folder with the files a9a and a9a.t")
def test_a9a_over_fifty_agents():
    (A, y), (T, b) = (
        load_svmlight_file(Path(os.environ["TACIT_A9A"]) / name, n_features=123) for name in ("a9a", "a9a.t")
    )
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=15**0.5, any=2, records=A.shape[0])
    reached = [scores(fitted(A.toarray(), y > 0, 50, promise, seed), T.toarray(), b > 0) for seed in range(3)]
    accuracy, area = np.mean(reached, axis=0)
    assert accuracy >= 84.7
    assert area >= 89.8
