"""The guarantee against every coalition of at most t agents.

    ε_t = 1/(4σ² m_t),   m_t = min over |C| = t of μ₂(G − C)

The minimum over |C| ≤ t is attained at |C| = t. Small networks are searched whole. Beyond that the
bound μ₂(G − C) ≥ μ₂(G) − t stands in (interlacing; Fiedler 1973), and the certificate is labelled so.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations

import networkx as nx

from tacit.certificates.certificate import Certificate, certify
from tacit.errors import VacuousError
from tacit.network import Network

_COALITIONS = 20_000  # searched one by one up to here


def certify_any(network: Network, t: int, *, sigma: float) -> Certificate:
    """Return what is guaranteed against every coalition of at most *t* agents."""
    n = len(network)
    if not 0 <= t <= n - 2:
        raise VacuousError(
            f"any = {t} of {n} agents: a guarantee needs 0 ≤ any ≤ {n - 2}, so that two stay honest."
        )
    graph = network.graph
    if t and nx.node_connectivity(graph) <= t and graph.number_of_edges() < n * (n - 1) // 2:
        cut = certify(network, nx.minimum_node_cut(graph), sigma=sigma)
        return dataclasses.replace(cut, guards=t)
    if math.comb(n, t) <= _COALITIONS and n <= 300:
        worst = min(combinations(network.agents, t), key=lambda c: network.without(c).algebraic_connectivity)
        return dataclasses.replace(certify(network, worst, sigma=sigma), guards=t)
    mu_least = network.algebraic_connectivity - t
    everyone = certify(network, (), sigma=sigma)
    least_links = {
        a: sigma * math.sqrt(2.0 * max(d - t, 0)) for a, d in zip(network.agents, network.degrees, strict=True)
    }
    return dataclasses.replace(
        everyone,
        epsilon=1.0 / (4.0 * sigma**2 * mu_least) if mu_least > 0 else math.inf,
        uncertainty=least_links,
        guards=t,
        method="bound",
    )
