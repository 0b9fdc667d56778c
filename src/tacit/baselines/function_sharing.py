"""Function sharing: neighbours trade random functions, and every agent descends on its cost less what it gave away.

    ĥ_i = h_i + Σ_j (s_ji − s_ij)        s random functions, here linear ones with Gaussian coefficients
    x⁺  = W x − α_k ∇ĥ(x),  α_k → 0

The functions cancel in the sum. The paper's claim is one of possibility: whoever does not cut the network can not
tell the honest agents' costs from others with the same sum; how likely these are is left open, and is what tacit's
certificates add.

Gade, Vaidya, Private Optimization on Networks, ACC 2018, arXiv 1612.05236.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.gossiping import unfit
from tacit.baselines.staged import Staged, demonstrated
from tacit.errors import TacitError
from tacit.masks import BasisMasks
from tacit.runtimes import Job
from tacit.solving import Problem, prepare


@dataclass(frozen=True, slots=True)
class FunctionSharing:
    """Random polynomials that neighbours trade, as in the basis masks, and then DGD."""

    sigma: float = 1e3
    name: str = "function sharing"
    source: str = "Gade & Vaidya 2016–2018"
    assumes: str = "authenticated links; no server, any graph"

    def misses(self, problem: Problem) -> str | None:
        """Return why the method does not apply."""
        try:
            self._prepared(problem, None)
        except TacitError as error:
            return str(error)
        return unfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Share functions, and descend with steps that diminish."""

        def stage(k: int, who: Sequence[int]) -> Staged:
            job = self._prepared(problem, None if listeners.seed is None else listeners.seed + k)
            return Staged(job, job.algorithm, "linear functions, then DGD with diminishing steps")

        promises = [_pledge(problem, who) for who in listeners.coalitions]
        return demonstrated(problem, stage, listeners, promises=promises)

    def _prepared(self, problem: Problem, seed: int | None) -> Job:
        masks = BasisMasks(self.sigma, seed=seed)
        return prepare(problem, privacy=masks, algorithm="dgd-diminishing", max_rounds=5000).job


def _pledge(problem: Problem, who: Sequence[int]) -> Pledge:
    graph: nx.Graph[int] = nx.Graph(problem.network.links.tolist())
    graph.remove_nodes_from(who)
    if not nx.is_connected(graph):
        return Pledge("none", "none: these cut the network, and learn the sum of every part.")
    return Pledge("possibility", "other costs with the same sum remain possible; how likely they are is not said.")
