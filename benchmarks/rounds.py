"""A round of gradient tracking in tacit against the same loop written by hand in NumPy and SciPy.

The hand-written loop is what a careful researcher writes: stacked arrays, a CSR (or small dense) W,
`np.matvec` for the batched products, no logging, no stopping rule. tacit's time is that of whole runs
through its runtime, checks included, divided by the rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import networkx as nx
import numpy as np
from scipy.special import expit

from benchmarks.timing import side_by_side
from tacit.algorithms import GradientTracking
from tacit.costs import Family, Logistic, Quadratic
from tacit.network import Network, mixing_weights
from tacit.runtimes import Job, StoppingRule, stacked
from tacit.typing import Array

_ROWS = 20  # records per agent of the logistic costs
_TARGET = 1.3
STEP = 0.01


class Case(NamedTuple):
    """One size: the costs, and the loop by hand."""

    network: Network
    cost: Family
    rounds: int
    by_hand: Callable[[], Array]
    round_by_hand: Callable[[Array, Array, Array], tuple[Array, Array, Array]]


def main() -> None:
    """Print one line per size."""
    print(f"\nGradient tracking, microseconds a round (target: at most {_TARGET} × the hand-written loop)")
    print(f"{'costs':<11}{'n':>7}{'m':>5}{'tacit':>12}{'by hand':>12}{'ratio':>8}")
    for family in ("quadratic", "logistic"):
        for n in (10, 100, 1000, 10_000):
            for m in (10, 100):
                mine, theirs, ratio = _compare(family, n, m)
                verdict = "" if ratio <= _TARGET else "  over the target"
                print(f"{family:<11}{n:>7}{m:>5}{1e6 * mine:>12.1f}{1e6 * theirs:>12.1f}{ratio:>8.2f}{verdict}")


def case(family: str, n: int, m: int) -> Case:
    """Return agents with random costs on a 4-regular network."""
    rng = np.random.default_rng(0)
    network = Network(nx.random_regular_graph(4, n, seed=1))
    cost, by_hand_grad = (_quadratics if family == "quadratic" else _logistics)(rng, n, m)
    rounds = int(np.clip(3e8 / (n * m * (m if family == "quadratic" else 2 * _ROWS)), 10, 5000))
    W = mixing_weights(network, "lazy")
    if n <= 64:
        W = W.toarray()

    def one_round(x: Array, y: Array, g: Array) -> tuple[Array, Array, Array]:
        x = W @ (x - STEP * y)
        g_new = by_hand_grad(x)
        return x, W @ (y + g_new - g), g_new

    def by_hand() -> Array:
        x = np.zeros((n, m))
        y = g = by_hand_grad(x)
        for _ in range(rounds):
            x, y, g = one_round(x, y, g)
        return x

    return Case(network, cost, rounds, by_hand, one_round)


def _compare(family: str, n: int, m: int) -> tuple[float, float, float]:
    network, cost, rounds, by_hand, _ = case(family, n, m)
    job = Job(
        network=network,
        costs=(),
        stack=cost,
        x0=np.zeros(m),
        algorithm=GradientTracking(step_size=STEP),
        exact=True,
        weights="lazy",
        privacy=None,
        rule=StoppingRule(tolerance=1e-300, max_rounds=rounds),
    )
    reached = stacked.run(job).x
    np.testing.assert_allclose(reached, by_hand(), atol=1e-9)
    mine, theirs, ratio = side_by_side(lambda: stacked.run(job), by_hand)
    return mine / rounds, theirs / rounds, ratio


def _quadratics(rng: np.random.Generator, n: int, m: int) -> tuple[Family, Callable[[Array], Array]]:
    root = rng.standard_normal((m, m)) / np.sqrt(m)
    P = np.empty((n, m, m))
    P[:] = np.eye(m) + root @ root.T
    q = rng.standard_normal((n, m))
    one = Quadratic(P[0], q[0])
    cost = Quadratic.stacked([one] * n).with_affine(q)
    P = P.copy()
    return cost, lambda x: np.matvec(P, x) + q


def _logistics(rng: np.random.Generator, n: int, m: int) -> tuple[Family, Callable[[Array], Array]]:
    A = rng.standard_normal((n, _ROWS, m)) / np.sqrt(m)
    y = (rng.random((n, _ROWS)) < 0.5).astype(float)
    l2 = 0.1
    cost = Logistic.stacked([Logistic(a, b, l2=l2) for a, b in zip(A, y, strict=True)])
    Aty = np.vecmat(y, A)
    return cost, lambda x: np.vecmat(expit(np.matvec(A, x)), A) - Aty + l2 * x
