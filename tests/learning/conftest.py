"""Parties of very unequal size: one with a single record, one with a single class, one with nearly everything."""

import numpy as np
import pytest


def _parties(y, *, classes=False):
    groups = np.full(len(y), "most", dtype=object)
    groups[0] = "single record"
    groups[1:7] = "six records"
    groups[7:40] = "some"
    if classes:
        alike = np.flatnonzero((y == y[-1]) & (groups == "most"))[:12]
        groups[alike] = "single class"
        assert len(set(y[groups == "single class"])) == 1
    else:
        groups[40:52] = "few"
    assert (groups == "single record").sum() == 1
    assert (groups == "most").sum() > len(y) / 2
    return groups


@pytest.fixture
def unequal():
    """Return a function that deals rows out to five parties."""
    return _parties


@pytest.fixture
def counts():
    """Return a synthetic Poisson set: columns of very different sizes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) * [1.0, 10.0, 0.1, 30.0] + [0.0, 5.0, 1.0, -20.0]
    y = rng.poisson(np.exp(X @ [0.3, -0.05, 1.0, 0.01] + 0.2))
    return X, y.astype(float)
