"""Problems to compare on, ready made; all data are made up, unless a file of a9a is named.

paper      the paper's triangle: three agents, one unknown, σ = 1
clinics    twenty clinics fit one logistic regression
dispatch   a grid's price: every agent answers with what it supplies less what it needs
decor      sixteen agents on a grid, logistic regression on a9a's rows, or on some like them
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np

from tacit.comparing.a9a import a9a
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


def decor(data: str | Path | None = None) -> Preset:
    """Return sixteen agents on a four by four torus, as in DECOR, with 120 records of a9a each, or some like them.

    Of the 123 levels there are the thirteen that split the records most evenly, and a constant.
    """
    rows, agents, records = a9a(data), 16, 120
    share = rows.A.mean(axis=0)
    columns = np.sort(np.argsort(np.abs(share - 0.5), kind="stable")[:13])
    costs = [
        Logistic(np.column_stack([A[:records, columns], np.ones(len(A[:records]))]), y[:records], l2=1.0 / agents)
        for A, y in rows.split(agents)
    ]
    return Preset(f"DECOR's setting, {rows.origin}", Problem(nx.grid_2d_graph(4, 4, periodic=True), costs), 1e3)


PRESETS: dict[str, Callable[[], Preset]] = {
    "paper": paper,
    "clinics": clinics,
    "dispatch": dispatch,
    "decor": decor,
}


def preset(name: str, *, data: str | Path | None = None) -> Preset:
    """Return the problem of that name; *data* is a file of a9a, for the one that has use for it."""
    if name not in PRESETS:
        raise InputError(f"no preset is called {name!r}; choose {', '.join(PRESETS)}.{did_you_mean(name, PRESETS)}")
    if data is None:
        return PRESETS[name]()
    if name != "decor":
        raise InputError(f"the preset {name} has data of its own; a file goes with decor.")
    return decor(data)
