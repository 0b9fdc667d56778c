"""How long an audit takes, and the distinguishing game by itself. Targets are in seconds: a gate must be quick.

Times are those of this process, which a busy machine disturbs least.
"""

from __future__ import annotations

import time
import warnings

import networkx as nx
import numpy as np

import tacit
from tacit.auditing import Game, play
from tacit.auditing.recording.release import Keys

_TARGET, _COMPLETE = 60.0, 30.0
"""Of any audit, and of one of fifty agents who are all linked."""


def main() -> None:
    """Print two tables."""
    warnings.simplefilter("ignore")
    print("\nTwenty thousand games at μ = 2, σ = 1000, one corrupted agent")
    print(f"{'n':>6}{'degree':>8}{'certified':>11}{'AUC':>9}{'theory':>9}{'seconds':>9}{'target':>8}")
    for n, degree in ((20, 4), (64, 6), (200, 8), (1000, 8)):
        network = tacit.Network(nx.random_regular_graph(degree, n, seed=1))
        start = time.process_time()
        game = play(tacit.AffineMasks(1e3), network, [0], games=20_000, keys=Keys())
        seconds = time.process_time() - start
        assert isinstance(game, Game)
        figures = f"{game.bound:>11.3f}{game.auc:>9.4f}{game.auc_theory:>9.4f}"
        print(f"{n:>6}{degree:>8}{figures}{seconds:>9.2f}{_TARGET:>8.0f}{_over(seconds)}")

    print("\nThe whole audit of one problem, plain and masked")
    words = f"{'costs':<14}{'masks':<16}{'algorithm':<10}{'verdicts':>9}"
    print(f"{'n':>6}{'links':>7}  {words}{'seconds':>9}{'target':>8}")
    sparse, complete = nx.random_regular_graph(6, 50, seed=1), nx.complete_graph(50)
    for graph, kind, masks, target in (
        (sparse, "quadratic", tacit.AffineMasks(1e3), _TARGET),
        (sparse, "logistic", tacit.AffineMasks(1e3), _TARGET),
        (sparse, "quadratic", tacit.QuadraticMasks(1e3), _TARGET),
        (sparse, "logistic", tacit.SumMasks(), _TARGET),
        (complete, "quadratic", tacit.AffineMasks(1e3), _COMPLETE),
        (complete, "logistic", tacit.AffineMasks(1e3), _COMPLETE),
        (complete, "quadratic", tacit.QuadraticMasks(1e3), _COMPLETE),
        (complete, "logistic", tacit.SumMasks(), _COMPLETE),
        (nx.random_regular_graph(6, 200, seed=1), "logistic", tacit.AffineMasks(1e3), _TARGET),
    ):
        start = time.process_time()
        report = tacit.audit(_problem(graph, 5, kind), any=1, privacy=masks)
        seconds = time.process_time() - start
        done = sum(verdict.status != "skipped" for verdict in (*report.without_masks, *report.with_masks))
        size = f"{len(graph):>6}{graph.number_of_edges():>7}"
        words = f"{kind:<14}{report.mechanism:<16}{report.algorithm:<10}{done:>9}"
        red = "" if report.passed else "  RED"
        print(f"{size}  {words}{seconds:>9.1f}{target:>8.0f}{_over(seconds, target)}{red}", flush=True)


def _problem(graph: nx.Graph, m: int, kind: str) -> tacit.Problem:
    rng, n = np.random.default_rng(3), len(graph)
    if kind == "quadratic":
        A = rng.normal(size=(n, m + 2, m))
        return tacit.Problem(graph, [tacit.Quadratic(a.T @ a, rng.normal(size=m)) for a in A])
    A = rng.normal(size=(n, 12, m))
    y = rng.integers(0, 2, (n, 12))
    return tacit.Problem(graph, [tacit.Logistic(A[i], y[i], l2=0.1) for i in range(n)])


def _over(seconds: float, target: float = _TARGET) -> str:
    return "" if seconds <= target else "  over the target"
