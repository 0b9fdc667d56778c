"""Accuracy of private logistic regression: without noise, by a curator, by tacit, and by local noise.

python -m benchmarks private_answers

ε = 1, δ = 1e-6, two who collude. Breast cancer over 20 agents, mean of 20 splits; records of a9a's shape over 50,
mean of three runs; a9a itself where TACIT_A9A names a folder with the files a9a and a9a.t. The curator sees all
records and draws one noise; locally every agent's noise must suffice by itself. Both use the same sums as tacit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import tacit
from tacit.algorithms import NoisyNewton
from tacit.learning import like_a9a, load_a9a
from tacit.masks import limits_of

Fit = Callable[[Any, Any, int, tacit.DifferentialPrivacy, int], Any]


class Trusted:
    """Peers of one agent with all records: a sum is its own, with a noise that one drew for all."""

    def __init__(self, noise: float, rng: np.random.Generator) -> None:
        self._noise, self._rng = noise, rng

    def sum(self, v: Any, add: Any = np.add) -> Any:
        """Return v with noise."""
        return v + self._noise * self._rng.normal(size=np.shape(v))


def _central(A: Any, y: Any, promise: tacit.DifferentialPrivacy, times: float, seed: int) -> Any:
    cost = tacit.Logistic(A, y, intercept=True).clipped(limits_of(promise))
    moves = cost.sensitivity(limits_of(promise))
    noise = times / promise.mu
    algorithm = NoisyNewton(slope=moves.slope, bend=moves.bend, noise=noise, gradients=promise.sums)
    peers, state = Trusted(noise, np.random.default_rng(seed)), algorithm.init(np.zeros(cost.dim), cost)
    for _ in range(2 + promise.sums):
        state = algorithm.step(state, peers, cost)
    return state.x


def exact(A: Any, y: Any, agents: int, promise: tacit.DifferentialPrivacy, seed: int) -> Any:
    """Fit without noise."""
    model = LogisticRegression(max_iter=5000).fit(A, y)
    return np.append(model.coef_, model.intercept_)


def curator(A: Any, y: Any, agents: int, promise: tacit.DifferentialPrivacy, seed: int) -> Any:
    """Fit with the noise of somebody who sees all records."""
    return _central(A, y, promise, 1.0, seed)


def shared(A: Any, y: Any, agents: int, promise: tacit.DifferentialPrivacy, seed: int) -> Any:
    """Fit as agents do, with noise shares."""
    parts = np.array_split(np.random.default_rng(seed).permutation(len(A)), agents)
    costs = [tacit.Logistic(A[part], y[part], intercept=True) for part in parts]
    problem = tacit.Problem(nx.random_regular_graph(6, agents, seed=seed), costs)
    return tacit.solve(problem, privacy=tacit.SumMasks(answer=promise)).x


def local(A: Any, y: Any, agents: int, promise: tacit.DifferentialPrivacy, seed: int) -> Any:
    """Fit where every agent noises its own numbers."""
    return _central(A, y, promise, math.sqrt(agents), seed)


FITS: dict[str, Fit] = {"no noise": exact, "curator": curator, "tacit": shared, "local noise": local}


def scores(x: Any, A: Any, y: Any) -> tuple[float, float]:
    """Return accuracy and area under the curve, in per cent."""
    z = np.column_stack([A, np.ones(len(A))]) @ x
    return 100.0 * float(((z > 0) == y).mean()), 100.0 * float(roc_auc_score(y, z))


def breast_cancer(splits: int = 20) -> dict[str, tuple[float, float]]:
    """Return mean accuracy and AUC over 20 agents; features in units of their published means and deviations."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y > 0
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, any=2, records=len(X))
    reached: dict[str, list[tuple[float, float]]] = {name: [] for name in FITS}
    for seed in range(splits):
        A, T, a, b = train_test_split(X, y, test_size=0.2, random_state=seed)
        for name, fit in FITS.items():
            reached[name].append(scores(fit(A, a, 20, promise, seed), T, b))
    return {name: tuple(np.mean(each, axis=0)) for name, each in reached.items()}


def census(train: Any, test: Any, runs: int = 3) -> dict[str, tuple[float, float]]:
    """Return mean accuracy and AUC over 50 agents."""
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=math.sqrt(15.0), any=2, records=len(train.X))
    return {
        name: tuple(
            np.mean([scores(fit(train.X, train.y, 50, promise, seed), *test) for seed in range(runs)], axis=0)
        )
        for name, fit in FITS.items()
    }


def main() -> None:
    """Print all tables."""
    tables = {"breast cancer, 20 agents, 20 splits": breast_cancer()}
    made = like_a9a(40_000, seed=4)
    halves = [type(made)(made.X[part], made.y[part]) for part in (slice(32_561), slice(32_561, None))]
    tables["made up, of a9a's shape, 50 agents"] = census(*halves)
    if "TACIT_A9A" in os.environ:
        tables["a9a, 50 agents"] = census(*load_a9a(os.environ["TACIT_A9A"]))
    for title, rows in tables.items():
        print(f"{title}: accuracy and AUC, per cent")
        for name, (accuracy, area) in rows.items():
            print(f"  {name:<12} {accuracy:6.2f}  {area:6.2f}")
