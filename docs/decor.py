"""Run DECOR's own experiment again, and write its table into docs/compare.md: python docs/decor.py a9a.txt.

Sixteen agents hold a9a, one linear model of 123 levels and a constant, 5000 rounds on batches of 64, privacy for an
agent's whole data at δ = 1e-5; steps and clips are those of the authors' own scripts. What is printed is how far
the mean model's loss is above the best one. Without a file the records are made up.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.optimize import minimize

from tacit.baselines.correlated_noise import CorrelatedNoise, directions, pairing, published_mu
from tacit.certificates import TradeOff
from tacit.comparing.a9a import LabelledRows, a9a
from tacit.network import Network
from tacit.runtimes import Stacked

PAGE = Path(__file__).parent / "compare.md"
PART = re.compile(r"(<!-- decor -->)\n.*?<!-- end -->", re.DOTALL)
AGENTS, ROUNDS, BATCH, DELTA = 16, 5000, 64, 1e-5
EPSILONS = (3, 5, 10, 20, 40)
GRAPHS = {
    "complete": nx.complete_graph(AGENTS),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4, periodic=True)),
    "ring": nx.cycle_graph(AGENTS),
}
RUNS = (
    ("curator", "complete"), ("DECOR", "complete"), ("DECOR", "grid"), ("DECOR", "ring"),
    ("local noise", "complete"), ("local noise", "grid"), ("local noise", "ring"),
)  # fmt: skip


class Batches:
    """The gradient of the mean loss on a few records of every agent, drawn anew every time."""

    def __init__(self, rows: LabelledRows, seed: int) -> None:
        parts = [np.arange(len(rows.y))[k::AGENTS] for k in range(AGENTS)]
        order = np.random.default_rng(seed).permutation(len(rows.y))
        self.parts = [order[part] for part in parts]
        self.A, self.y = np.column_stack([rows.A, np.ones(len(rows.y))]), rows.y
        self.rng = np.random.default_rng(seed + 1)

    def grad(self, x):
        """Return all agents' gradients."""
        at = np.stack([part[self.rng.integers(0, len(part), BATCH)] for part in self.parts])
        A = self.A[at]
        miss = 1.0 / (1.0 + np.exp(-np.einsum("ibm,im->ib", A, x))) - self.y[at]
        return np.einsum("ib,ibm->im", miss, A) / BATCH

    def loss(self, x) -> float:
        """Return the mean loss of one model over all records."""
        score = self.A @ x
        return float(np.mean(np.logaddexp(0.0, score) - self.y * score))

    def best(self) -> float:
        """Return the least loss that there is."""

        def slope(x):
            return self.A.T @ (1.0 / (1.0 + np.exp(-self.A @ x)) - self.y) / len(self.y)

        return float(minimize(self.loss, np.zeros(self.A.shape[1]), jac=slope, method="L-BFGS-B",
                              options={"maxiter": 2000, "maxfun": 4000}).fun)  # fmt: skip


def settings(method: str, graph: str, epsilon: float) -> tuple[float, float]:
    """Return step and clip, as the authors chose them."""
    if method == "local noise":
        return (0.005, 0.01) if epsilon < 7 else (0.01, 0.01) if epsilon < 15 else (0.05, 0.01)
    if method == "DECOR" and graph != "complete":
        return (0.005, 0.1) if epsilon < 15 else (0.01, 0.1)
    return (0.05, 0.01) if epsilon < 10 else (0.01, 0.1)


def gap(rows: LabelledRows, method: str, graph: str, epsilon: float, least: float) -> float:
    """Run one cell of the table."""
    network, (step, clip) = Network(GRAPHS[graph]), settings(method, graph, epsilon)
    local = 2.0 * clip * np.sqrt(ROUNDS) / published_mu(epsilon, DELTA)
    own = local * {"local noise": 1.0, "curator": AGENTS**-0.5, "DECOR": 1.06 * AGENTS**-0.5}[method]
    pairwise = pairing(network, own=own, local=local) if method == "DECOR" else 0.0
    algorithm = CorrelatedNoise(
        step_size=step, clip=clip, pairwise=pairwise, own=own, reverse=directions(network)[0], seed=1
    )
    batches, peers = Batches(rows, 1), Stacked(network)
    state = algorithm.init(np.zeros((AGENTS, batches.A.shape[1])), batches)
    for _ in range(ROUNDS):
        state = algorithm.step(state, peers, batches)
    return batches.loss(state.x.mean(axis=0)) - least


def table(rows: LabelledRows) -> list[str]:
    """Return the whole table as Markdown."""
    least = Batches(rows, 1).best()
    lines = [
        f"{len(rows.y)} {rows.origin}; the least loss is {least:.4f}. Loss above it, after {ROUNDS} rounds:", "",
        "| noise | network | " + " | ".join(f"ε = {epsilon}" for epsilon in EPSILONS) + " |",
        "| --- | --- |" + " --- |" * len(EPSILONS),
    ]  # fmt: skip
    for method, graph in RUNS:
        cells = [f"{gap(rows, method, graph, epsilon, least):.4f}" for epsilon in EPSILONS]
        lines.append(f"| {method} | {graph} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    saved = [published_mu(epsilon, DELTA) / TradeOff.of_epsilon_delta(epsilon, DELTA).mu for epsilon in EPSILONS]
    return [*lines, "", "Exact accounting would need " + ", ".join(f"{share:.2f}" for share in saved)
            + " times this noise for the same ε."]  # fmt: skip


if __name__ == "__main__":
    lines = table(a9a(sys.argv[1] if len(sys.argv) > 1 else None))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PART.sub(lambda match: "\n".join([match[1], *lines, "<!-- end -->"]), page), encoding="utf-8")
    print(f"Wrote {PAGE.name}.")
