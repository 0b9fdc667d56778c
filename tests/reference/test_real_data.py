"""Real data split over twenty agents equal scikit-learn on the pooled data."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import tacit

AGENTS = 20
GRAPH = nx.random_regular_graph(4, AGENTS, seed=1)


def split(X, y):
    """Return unequal parts: the first agent has three records, the last many."""
    cuts = np.linspace(np.sqrt(3), np.sqrt(len(X)), AGENTS) ** 2
    edges = [0, *np.unique(cuts.astype(int))]
    return [(X[a:b], y[a:b]) for a, b in pairwise(edges)]


@pytest.mark.parametrize("sigma", [None, 1e3])
def test_ridge_on_diabetes(sigma):
    X, y = load_diabetes(return_X_y=True)
    parts = split(X, y)
    assert len(parts) == AGENTS
    costs = [tacit.LeastSquares(a, b, l2=1.0 / AGENTS, intercept=True) for a, b in parts]
    answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=sigma and tacit.AffineMasks(sigma, seed=1))
    pooled = Ridge(alpha=1.0, tol=1e-12).fit(X, y)
    assert answer.converged, answer.sentence
    np.testing.assert_allclose(answer.x, [*pooled.coef_, pooled.intercept_], rtol=1e-6)


@pytest.mark.parametrize("sigma", [pytest.param(None, marks=pytest.mark.large), 1e3])
def test_logistic_regression_on_breast_cancer(sigma):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    parts = split(X, y)
    costs = [tacit.Logistic(a, b, l2=1.0 / AGENTS, intercept=True) for a, b in parts]
    answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=sigma and tacit.AffineMasks(sigma, seed=1))
    pooled = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(X, y)
    assert answer.converged, answer.sentence
    np.testing.assert_allclose(answer.x, [*pooled.coef_[0], pooled.intercept_[0]], atol=1e-6)
