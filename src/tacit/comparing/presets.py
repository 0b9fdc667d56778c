"""Problems to compare on, ready made; all data are made up.

paper      the paper's triangle: three agents, one unknown, σ = 1
clinics    twenty clinics fit one logistic regression
dispatch   a grid's price: every agent answers with what it supplies less what it needs
decor      sixteen agents on a grid, logistic regression on rows like a9a's: binary features, few of them set
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import networkx as nx
import numpy as np

from tacit.costs import Logistic, Quadratic
from tacit.errors import InputError
from tacit.solving import Problem
from tacit.spelling import did_you_mean


class Preset(NamedTuple):
    """A problem, and the σ that suits it."""

    title: str
    problem: Problem
    sigma: float


def paper() -> Preset:
    """Return the illustration of the paper: h_i(x) = (x − x_i)², σ = 1."""
    costs = [Quadratic.distance([point]) for point in (1.0, 2.0, 6.0)]
    return Preset("The paper's triangle", Problem(nx.complete_graph(3), costs), 1.0)


def clinics() -> Preset:
    """Return twenty clinics with four measurements and a diagnosis a record, four neighbours each."""
    count, features = 20, 4
    rng = np.random.default_rng(11)
    truth = rng.standard_normal(features)
    costs = []
    for _ in range(count):
        measured = rng.standard_normal((int(rng.integers(15, 60)), features))
        chance = 1.0 / (1.0 + np.exp(-(measured @ truth)))
        costs.append(Logistic(measured, (rng.random(len(measured)) < chance).astype(float), l2=1.0 / count))
    return Preset("Twenty clinics", Problem(nx.random_regular_graph(4, count, seed=1), costs), 1e3)


def dispatch() -> Preset:
    """Return the price of a grid: twelve agents with plants of quadratic cost, and a demand in MW each.

    At a price λ an agent supplies (λ − b)/2a and needs d; the dual cost λ²/4a − λ(b/2a + d) is smallest where all
    supply meets all demand. What it hides is d.
    """
    rng = np.random.default_rng(5)
    a, b, demand = rng.uniform(0.02, 0.1, 12), rng.uniform(10.0, 30.0, 12), rng.uniform(20.0, 200.0, 12)
    costs = [
        Quadratic([[1.0 / (2.0 * ai)]], [-(bi / (2.0 * ai) + di)]) for ai, bi, di in zip(a, b, demand, strict=True)
    ]
    return Preset("The price of a grid", Problem(nx.circulant_graph(12, [1, 3]), costs), 1e4)


def decor() -> Preset:
    """Return sixteen agents on a four by four torus, as in DECOR, with a9a's kind of rows."""
    rng = np.random.default_rng(9)
    features, records = 14, 120
    truth = rng.standard_normal(features)
    often = rng.uniform(0.05, 0.6, features)
    costs = []
    for _ in range(16):
        A = np.column_stack([(rng.random((records, features - 1)) < often[1:]), np.ones(records)])
        chance = 1.0 / (1.0 + np.exp(-(A @ truth)))
        costs.append(Logistic(A, (rng.random(records) < chance).astype(float), l2=1.0 / 16))
    return Preset("DECOR's setting", Problem(nx.grid_2d_graph(4, 4, periodic=True), costs), 1e3)


PRESETS: dict[str, Callable[[], Preset]] = {
    "paper": paper,
    "clinics": clinics,
    "dispatch": dispatch,
    "decor": decor,
}


def preset(name: str) -> Preset:
    """Return the problem of that name."""
    if name not in PRESETS:
        raise InputError(f"no preset is called {name!r}; choose {', '.join(PRESETS)}.{did_you_mean(name, PRESETS)}")
    return PRESETS[name]()
