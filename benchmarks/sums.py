"""Secret sums: their throughput, and what they save against gossip.

The reference for the throughput is what a careless implementation does: zero-sum masks from NumPy's PCG64 normals,
exchanged, added up and summed in float64. It is not private, and its sum is not exact.
"""

from __future__ import annotations

import warnings
from itertools import pairwise

import networkx as nx
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import tacit
from benchmarks.timing import side_by_side
from tacit.masks import Keystreams, SumMasks, agent_keys, mask
from tacit.network import Network
from tacit.runtimes import Stacked

_TARGET = 0.4
_AGENTS, _ACCURACY = 20, 1e-8


def main() -> None:
    """Print both tables."""
    throughput()
    against_gossip()


def throughput() -> None:
    """One private sum of n vectors of m numbers."""
    print(f"\nA secret sum, milliseconds (target: at most {_TARGET} × PCG64 masks for m = 100 000)")
    print(f"{'n':>5}{'m':>9}{'words':>7}{'tacit':>10}{'PCG64':>10}{'ratio':>8}{'error':>10}{'theirs':>10}")
    for n in (10, 50):
        for m in (10, 1000, 100_000):
            for words in (1, 2):
                _one_size(n, m, words)


def _one_size(n: int, m: int, words: int) -> None:
    network = Network(nx.random_regular_graph(4, n, seed=1))
    peers, rng, masks = Stacked(network), np.random.default_rng(0), SumMasks(words=words)
    v = rng.standard_normal((n, m))
    source = Keystreams(agent_keys(n), network.degrees)
    secret = masks.hide(None, peers, source, network=network).peers

    def ours() -> np.ndarray:
        return secret.sum(v)

    def theirs() -> np.ndarray:
        return (v + mask(1e3 * rng.standard_normal((peers.links, m)), peers)).sum(axis=0)

    exact = v.sum(axis=0)
    errors = [float(np.abs(result() - exact).max()) for result in (ours, theirs)]
    mine, reference, ratio = side_by_side(ours, theirs)
    verdict = "  over the target" if m == 100_000 and words == 1 and ratio > _TARGET else ""
    times = f"{1e3 * mine:>10.2f}{1e3 * reference:>10.2f}{ratio:>8.2f}"
    print(f"{n:>5}{m:>9}{words:>7}{times}{errors[0]:>10.1e}{errors[1]:>10.1e}{verdict}")


def against_gossip() -> None:
    """Breast-cancer logistic regression over 20 agents: hops to 1e-8 of scikit-learn's coefficients."""
    X, y = _records()
    problem = breast_cancer(nx.random_regular_graph(4, _AGENTS, seed=1))
    pooled = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(X, y)
    best = np.append(pooled.coef_[0], pooled.intercept_)
    print(f"\nBreast cancer, {_AGENTS} agents, 4-regular: until all are within {_ACCURACY:g} of scikit-learn")
    print(f"{'masks':<12}{'algorithm':<20}{'rounds':>9}{'exchanges':>11}{'MiB':>9}{'largest error':>15}")
    runs = [("SumMasks", name) for name in ("newton", "lbfgs", "fista")]
    runs += [("AffineMasks", name) for name in ("admm", "nids", "extra", "gradient-tracking")]
    for masks, name in runs:
        privacy = tacit.SumMasks() if masks == "SumMasks" else tacit.AffineMasks(1e3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rounds, answer = _until(problem, privacy, name, best)
        phase2, off = answer.record.phase2, float(np.abs(answer.x - best).max())
        megabytes = phase2.bytes / 2**20
        print(f"{masks:<12}{name:<20}{rounds:>9}{phase2.exchanges:>11}{megabytes:>9.1f}{off:>15.1e}")


def breast_cancer(graph: nx.Graph) -> tacit.Problem:
    """Return the breast-cancer records, split among agents of very unequal size."""
    X, y = _records()
    cuts = [0, *np.unique((np.linspace(np.sqrt(3), np.sqrt(len(X)), len(graph)) ** 2).astype(int))]
    costs = [tacit.Logistic(X[a:b], y[a:b], l2=1 / len(graph), intercept=True) for a, b in pairwise(cuts)]
    return tacit.Problem(graph, costs)


def _records() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def _until(problem: tacit.Problem, privacy: object, name: str, best: np.ndarray) -> tuple[int, tacit.Answer]:
    """Return the fewest rounds, to a tenth, after which *name* is within the accuracy."""
    rounds = 4
    while True:
        answer = tacit.solve(problem, privacy=privacy, algorithm=name, max_rounds=rounds, tolerance=1e-12)
        if np.abs(answer.x - best).max() <= _ACCURACY or rounds > 200_000:
            return answer.record.phase2.rounds, answer
        rounds = max(rounds + 1, int(1.1 * rounds))
