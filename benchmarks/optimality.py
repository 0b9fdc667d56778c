"""Rounds to a given accuracy against the lower bound for all methods that gossip.

Scaman, Bach, Bubeck, Lee, Massoulié (ICML 2017): no first-order method over a gossip matrix of normalised eigengap
γ reaches precision ε in fewer than Ω(√(κ/γ) ln 1/ε) exchanges. The theorem leaves its constant open; the table
takes it as 1.
"""

from __future__ import annotations

import math

import networkx as nx
import numpy as np

import tacit
from tacit.algorithms import ALGORITHMS, Landscape
from tacit.runtimes import Stacked

_KAPPA, _AGENTS, _UNKNOWNS, _ACCURACY, _TARGET = 2000.0, 20, 20, 1e-8, 3.0


def main() -> None:
    """Print one line per method."""
    problem, best = _ill_conditioned()
    landscape = Landscape(problem.stack, problem.network)
    spectrum = landscape.spectrum
    gap = (1.0 - spectrum.second) / (1.0 - spectrum.smallest)
    kappa = landscape.smoothness / landscape.strong_convexity
    bound = math.sqrt(kappa / gap) * math.log(1.0 / _ACCURACY)
    print(f"\nExchanges to {_ACCURACY:g} with κ = {kappa:.0f}, γ = {gap:.3f}, n = {_AGENTS}")
    print(f"lower bound √(κ/γ) ln(1/ε) = {bound:.0f} (target for OPAPC: at most {_TARGET:g} times that)")
    print(f"{'algorithm':<20}{'gradients':>11}{'exchanges':>11}{'ratio':>8}")
    for name in ("opapc", "nids", "extra", "gradient-tracking"):
        gradients, exchanges = _needed(problem, best, name)
        ratio = exchanges / bound
        verdict = "  over the target" if name == "opapc" and ratio > _TARGET else ""
        print(f"{name:<20}{gradients:>11}{exchanges:>11}{ratio:>8.2f}{verdict}")


def _ill_conditioned() -> tuple[tacit.Problem, np.ndarray]:
    """Return quadratics whose curvatures lie between 1 and κ, in the same directions for all."""
    rng = np.random.default_rng(0)
    curvature = np.geomspace(1.0, _KAPPA, _UNKNOWNS)
    costs = [
        tacit.Quadratic(np.diag(curvature), curvature * rng.standard_normal(_UNKNOWNS)) for _ in range(_AGENTS)
    ]
    problem = tacit.Problem(nx.random_regular_graph(4, _AGENTS, seed=1), costs)
    return problem, -problem.stack.affine.mean(axis=0) / curvature


def _needed(problem: tacit.Problem, best: np.ndarray, name: str) -> tuple[int, int]:
    """Return the gradients and exchanges after which the worst agent is within the accuracy of where it started."""
    kind = ALGORITHMS[name]
    algorithm = kind.tuned(Landscape(problem.stack, problem.network, kind.weights))
    peers = Stacked(problem.network, kind.weights)
    state = algorithm.init(np.zeros((_AGENTS, _UNKNOWNS)), problem.stack)
    start = float(np.linalg.norm(best))
    rounds = 0
    while np.linalg.norm(state.x - best, axis=1).max() > _ACCURACY * start and rounds < 500_000:
        state = algorithm.step(state, peers, problem.stack)
        rounds += 1
    return rounds, peers.traffic.exchanges
