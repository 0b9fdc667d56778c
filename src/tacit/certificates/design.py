"""A graph and its σ from a target: the best of some random regular graphs.

Among graphs with the same number of links, random d-regular ones keep μ₂ near d − 2√(d − 1) whatever n is
(Friedman 2008), and t ≤ 1 + √(d − 1) corrupted agents barely lower it. Best connectivity alone is not enough:
circulant (Harary) graphs are optimally connected, and their μ₂ decays with n. So some thirty graphs are drawn,
ranked by their certified bound, and the best few are searched exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.certificates.calibrate import calibrated
from tacit.certificates.certificate import Certificate
from tacit.certificates.worst import worst_coalition_indices
from tacit.errors import InputError, VacuousError
from tacit.network import Network, well_connected
from tacit.showing import Shown

if TYPE_CHECKING:
    import networkx as nx

_SEARCHED = 400  # agents up to which the final certificate is exact
_FINALISTS = 3
_SECONDS = 60.0  # that a larger graph is searched


@dataclass(frozen=True, slots=True)
class Design(Shown):
    """A communication graph, its σ, and what both guarantee together."""

    graph: nx.Graph[Any] = field(repr=False)
    sigma: float
    certificate: Certificate

    def __str__(self) -> str:
        size = f"{len(self.graph)} agents, {self.graph.number_of_edges()} links"
        return f"{size}, σ = {self.sigma:g}. {self.certificate}"


def design(
    *,
    agents: int,
    any: int,
    epsilon: float | None = None,
    delta: float | None = None,
    guess: float | None = None,
    hide: float = 1.0,
    links: int | None = None,
    draws: int = 30,
    seed: int | None = None,
    bound: float | None = None,
    resolution: float | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Design:
    """Return a graph on which every coalition of at most *any* stays within the target, with the smallest σ found.

    *links* is the number per agent, at least any + 1 and 2·any + 2 unless given. *seed* repeats a design: graphs
    are public, so a seed harms nothing. The target is that of `calibrate`.
    """
    degree = _degree(agents, any, links)
    if draws < 1:
        raise InputError(f"draws = {draws} must be at least 1: the number of graphs to compare.")
    ranked: list[tuple[float, int, Network]] = []
    for draw in range(draws):
        number = None if seed is None else 1_000_003 * seed + draw
        network = Network(well_connected(agents, degree, draws=1, seed=number))
        worst = worst_coalition_indices(network, any, quick=True)
        ranked.append((worst.mu, draw, network))
        if on_progress is not None:
            on_progress(0.8 * (draw + 1) / draws)
    ranked.sort(key=lambda entry: (-entry[0], entry[1]))
    large = agents > _SEARCHED
    finalists = ranked[: 1 if large else _FINALISTS]
    deadline = _SECONDS if large else None
    certificates = [
        calibrated(
            network,
            any=any,
            epsilon=epsilon,
            delta=delta,
            guess=guess,
            hide=hide,
            bound=bound,
            resolution=resolution,
            deadline=deadline,
        )
        for _, _, network in finalists
    ]
    best = min(range(len(finalists)), key=lambda k: certificates[k].sigma)
    if on_progress is not None:
        on_progress(1.0)
    return Design(finalists[best][2].graph, certificates[best].sigma, certificates[best])


def _degree(agents: int, t: int, links: int | None) -> int:
    if not 0 <= t <= agents - 2:
        raise VacuousError(f"any = {t} of {agents} agents: a guarantee needs 0 ≤ any ≤ {agents - 2}.")
    degree = min(2 * t + 2, agents - 1) if links is None else links
    if not t < degree < agents:
        raise InputError(f"links = {degree} per agent must be more than any = {t} and less than agents = {agents}.")
    if agents * degree % 2:
        if links is not None:
            raise InputError(
                f"{agents} agents cannot all have {links} links: the product must be even; use {links + 1}."
            )
        degree = degree + 1 if degree + 1 < agents else degree - 1
    return degree
