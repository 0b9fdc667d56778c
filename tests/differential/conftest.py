"""Problems for tests of private answers: made-up records over a small network."""

import networkx as nx
import numpy as np
import pytest

import tacit

WEIGHTS = np.array([0.6, -0.8, 0.3])


@pytest.fixture
def promise():
    return tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=2.0, labels=3.0, any=2)


@pytest.fixture
def records():
    """Ten agents' features and labels."""
    rng = np.random.default_rng(11)
    tables = []
    for _ in range(10):
        A = rng.normal(size=(300, 3))
        tables.append((A, A @ WEIGHTS + 0.1 * rng.normal(size=300)))
    return tables


@pytest.fixture
def graph():
    return nx.random_regular_graph(4, 10, seed=1)
