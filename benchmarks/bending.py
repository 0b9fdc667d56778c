"""Masks on the curvature: exchanges of multi-consensus and of gradient tracking against σ."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np

import tacit

_AGENTS, _TARGET = 20, 5.0


def main() -> None:
    """Print one line per σ."""
    rng = np.random.default_rng(0)
    costs = [
        tacit.LeastSquares(rng.standard_normal((8, 10)), rng.standard_normal(8), l2=0.1) for _ in range(_AGENTS)
    ]
    problem = tacit.Problem(nx.random_regular_graph(4, _AGENTS, seed=1), costs)
    best = np.linalg.solve(problem.stack.total_curvature().below, -problem.stack.affine.sum(axis=0))
    print(
        f"\nExchanges under QuadraticMasks(σ) (target: multi-consensus grows at most {_TARGET:g} × from 1 to 10⁴)"
    )
    print(f"{'σ':>8}{'multi-consensus':>17}{'error':>10}{'gradient tracking at 1/L':>26}{'error':>10}")
    first = 0
    for sigma in (1.0, 10.0, 100.0, 1e3, 1e4):
        masks = tacit.QuadraticMasks(sigma)
        many = tacit.solve(problem, privacy=masks, tree=False)
        exchanges, off = many.record.phase2.exchanges, float(np.abs(many.x - best).max())
        first = first or exchanges
        verdict = "  over the target" if exchanges > _TARGET * first else ""
        line = f"{sigma:>8g}{exchanges:>17}{off:>10.1e}"
        print(line + _single(problem, masks, best) + verdict)


def _single(problem: tacit.Problem, masks: tacit.QuadraticMasks, best: np.ndarray) -> str:
    L = float(problem.stack.smoothness.max()) + masks.bends(problem.network, problem.dim)
    settings = tacit.algorithms.GradientTracking(step_size=1.0 / L)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = tacit.solve(problem, privacy=masks, algorithm=settings, max_rounds=200_000)
    said = str(answer.record.phase2.exchanges) + ("" if answer.converged else f" ({answer.status})")
    return f"{said:>26}{float(np.abs(answer.x - best).max()):>10.1e}"
