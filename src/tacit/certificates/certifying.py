"""Certify: what is guaranteed against one coalition, or against every coalition of at most t agents.

    ε   = 1/(4σ² μ(L_H))                        one coalition C, G_H = G − C      Theorems 1 and 2
    ε_t = 1/(4σ² m_t),  m_t = min μ₂(G − C)     every |C| ≤ t                     Corollary 1, with its ε

If C is a vertex cut, the sum of the coefficients over each component of G_H is learnt exactly, an agent
alone in its component is fully exposed, and Theorem 2 holds inside each component.

Secret sums have uniform masks: they are the case σ = ∞, where ε = 0 inside every component and only cuts matter.

Only public parameters enter: the graph, σ, and who is corrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.certificates.certificate import Certificate, Component
from tacit.certificates.leakage import Leakage
from tacit.certificates.worst import Worst, worst_coalition_indices, worst_cut
from tacit.coverage import GENERAL, Coverage
from tacit.errors import InputError, MaskError, TacitError, VacuousError
from tacit.later import later
from tacit.network import Network, Topology, algebraic_connectivity
from tacit.typing import Array

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

_SPREAD = 1e4  # of the links' scales: beyond it eigenvalues drown in rounding
_EXTREME = 1e100

Sigma = float | Sequence[float]
LinkScales = Mapping[tuple[Any, Any], float]


def certify(
    graph: nx.Graph[Any] | Network,
    coalition: Iterable[Any] | None = None,
    *,
    any: int | None = None,
    sigma: Sigma,
    known: Iterable[Any] = (),
    link_scales: LinkScales | None = None,
    hide: float | None = None,
    quick: bool = False,
    deadline: float | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Certificate:
    """Return what is guaranteed against *coalition*, or against every coalition of at most *any* agents.

    *known* are honest agents whose costs *coalition* knows already: that leaves ε as it is, and makes the others'
    coefficients less uncertain.

    *sigma* is one number, or one per basis function; infinity stands for the uniform masks of secret sums.
    *link_scales* multiplies it link by link (1 where a link is not named). *hide* is how large a difference is to
    be hidden, in the units of the coefficients: the statement then says how often a guess between two worlds that
    far apart is right. *quick* settles for a bound, *deadline* for the bound that stands after so many seconds.

    >>> import networkx as nx
    >>> certify(nx.complete_graph(3), {2}, sigma=1.0).epsilon
    0.125
    """
    network, sigmas = Network(graph), _checked(sigma)
    scales = _scales(network, link_scales)
    if (coalition is None) == (any is None):
        raise InputError("name either a coalition or, as any, the size of every coalition to guard against.")
    if hide is not None and not (math.isfinite(hide) and hide > 0):
        raise InputError(f"hide = {hide} must be a positive number: how large a difference is to be hidden.")
    members, familiar = tuple(dict.fromkeys(coalition or ())), tuple(dict.fromkeys(known))
    if any is None:
        certificate = replace(_against_one(network, members, sigmas, scales), hide=hide)
        if not familiar:
            return certificate
        finite = tuple(1.0 if s == math.inf else s for s in sigmas)
        left = _law(network, members, finite, scales).knowing(familiar).deviations()
        if certificate.is_perfect:
            left = {agent: math.inf if deviation > 0 else 0.0 for agent, deviation in left.items()}
        return replace(certificate, uncertainty=left)
    if familiar:
        raise InputError("known agents go with one coalition, not with every coalition of a size.")
    if min(sigmas) == math.inf:
        worst = worst_cut(network, any)
    else:
        worst = worst_coalition_indices(
            network, any, scales=scales, quick=quick, deadline=deadline, on_progress=on_progress
        )
    return replace(_against_all(network, any, worst, sigmas, scales), hide=hide)


def worst_coalition(
    graph: nx.Graph[Any] | Network,
    any: int,
    *,
    link_scales: LinkScales | None = None,
    deadline: float | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> tuple[Any, ...] | None:
    """Return the coalition of at most *any* agents against which the masks protect least; None if time ran out.

    >>> import networkx as nx
    >>> worst_coalition(nx.path_graph(5), 1)
    (1,)
    """
    network = Network(graph)
    worst = worst_coalition_indices(
        network, any, scales=_scales(network, link_scales), deadline=deadline, on_progress=on_progress
    )
    return (
        tuple(network.agents[i] for i in worst.coalition) if worst.exact and worst.coalition is not None else None
    )


def leakage(
    graph: nx.Graph[Any] | Network,
    coalition: Iterable[Any] = (),
    *,
    sigma: Sigma,
    link_scales: LinkScales | None = None,
) -> Leakage:
    """Return the exact law of what *coalition* sees of the honest coefficients."""
    network, sigmas = Network(graph), _checked(sigma)
    if math.inf in sigmas:
        raise VacuousError("secret sums leak nothing but sums: certify says which.")
    return _law(network, tuple(dict.fromkeys(coalition)), sigmas, _scales(network, link_scales))


def _against_one(
    network: Network, coalition: tuple[Any, ...], sigmas: tuple[float, ...], scales: Array | None
) -> Certificate:
    honest, kept = _honest(network, coalition, scales)
    components = tuple(_component(honest, agents, sigmas, kept) for agents in honest.components)
    deviation = _deviation(sigmas, honest.scaled_laplacian(kept).diagonal())
    return Certificate(
        sigmas=sigmas,
        epsilon=max(c.epsilon for c in components),
        mu=min(c.mu for c in components) if len(components) == 1 else 0.0,
        coalition=coalition,
        components=components,
        uncertainty=dict(zip(honest.agents, deviation.tolist(), strict=True)),
        coverage=_coverage(sigmas),
    )


def _coverage(sigmas: tuple[float, ...]) -> Coverage:
    """Return what is known from σ alone, without a run: that masks hide affine parts, or sums hide all."""
    return GENERAL["sums" if min(sigmas) == math.inf else "affine"]


def _deviation(sigmas: tuple[float, ...], strength: Array) -> Array:
    """Return σ√(2·strength): zero without a masked link, for any σ."""
    covered = strength > 0
    return np.where(covered, min(sigmas) * np.sqrt(2.0 * np.where(covered, strength, 1.0)), 0.0)


def _against_all(
    network: Network, t: int, worst: Worst, sigmas: tuple[float, ...], scales: Array | None
) -> Certificate:
    known = worst.exact and worst.coalition is not None
    coalition = tuple(network.agents[i] for i in worst.coalition or ()) if known else None
    components: tuple[Component, ...] = ()
    mu = worst.mu
    if coalition is not None:
        against_worst = _against_one(network, coalition, sigmas, scales)
        components, mu = against_worst.components, min(mu, against_worst.mu)
        if worst.mu == 0.0 and mu > 0.0:  # a cut that is none must never pass for a guarantee
            raise TacitError("a coalition that should cut the graph does not; please report this graph.")
    strength = np.sort(_strengths(network, scales), axis=1)
    left = strength[:, : strength.shape[1] - t].sum(axis=1) if t < strength.shape[1] else np.zeros(len(network))
    deviation = _deviation(sigmas, left)
    return Certificate(
        sigmas=sigmas,
        epsilon=1.0 / (4.0 * min(sigmas) ** 2 * mu) if mu > 0 else math.inf,
        mu=mu,
        coalition=coalition,
        components=components,
        uncertainty=dict(zip(network.agents, deviation.tolist(), strict=True)),
        guards=t,
        method="exact" if worst.exact else "bound",
        without_privacy=tuple(a for a, d in zip(network.agents, network.degrees, strict=True) if d <= t)
        if t
        else (),
        coverage=_coverage(sigmas),
    )


def _strengths(network: Network, scales: Array | None) -> Array:
    """Return the squared scales of every agent's links, padded with zeros, (n, Δ)."""
    most = int(network.degrees.max())
    table = np.zeros((len(network), most))
    filled = np.zeros(len(network), dtype=int)
    squares = np.ones(len(network.links)) if scales is None else scales**2
    for (i, j), square in zip(network.links, squares, strict=True):
        for agent in (i, j):
            table[agent, filled[agent]] = square
            filled[agent] += 1
    return table


def _law(network: Network, coalition: tuple[Any, ...], sigmas: tuple[float, ...], scales: Array | None) -> Leakage:
    honest, kept = _honest(network, coalition, scales)
    return Leakage(honest.agents, honest.scaled_laplacian(kept).toarray(), sigmas)


def _honest(network: Network, coalition: tuple[Any, ...], scales: Array | None) -> tuple[Topology, Array | None]:
    """Return the honest graph, and the scales of the links that are left in it."""
    honest = network.without(coalition)
    if len(honest) < 2:
        raise VacuousError(
            f"{len(honest)} honest agent(s) left: a single agent's coefficient is the sum that no mechanism hides; "
            "certify against a smaller coalition."
        )
    if scales is None:
        return honest, None
    inside = np.isin(network.links, [network.index[a] for a in honest.agents]).all(axis=1)
    return honest, scales[inside]


def _component(
    honest: Topology, agents: tuple[Any, ...], sigmas: tuple[float, ...], scales: Array | None
) -> Component:
    piece = honest.only(agents)
    if len(agents) == 1:
        return Component(agents=agents, mu=0.0, epsilon=math.inf)
    inside = np.isin(honest.links, [honest.index[a] for a in agents]).all(axis=1)
    mu = algebraic_connectivity(piece.scaled_laplacian(None if scales is None else scales[inside]))
    return Component(agents=agents, mu=mu, epsilon=1.0 / (4.0 * min(sigmas) ** 2 * mu))


def _checked(sigma: Sigma) -> tuple[float, ...]:
    try:
        sigmas = tuple(np.atleast_1d(np.asarray(sigma, dtype=np.float64)).tolist())
    except (TypeError, ValueError) as error:
        raise MaskError("sigma must be a positive number, or one per basis function.") from error
    if not sigmas or not all(1.0 / _EXTREME < s < _EXTREME or s == math.inf for s in sigmas):
        raise MaskError(
            f"sigma = {sigma} must be positive, and neither tiny nor huge: without masks nothing is certified."
        )
    if math.inf in sigmas and len(set(sigmas)) > 1:
        raise MaskError(
            "sigma is finite for all basis functions, or infinite for all: secret sums hide everything."
        )
    return sigmas


def _scales(network: Network, link_scales: LinkScales | None) -> Array | None:
    """Return one factor per link, in the network's order."""
    if link_scales is None:
        return None
    given = {frozenset(link): float(scale) for link, scale in link_scales.items()}
    links = [frozenset((network.agents[i], network.agents[j])) for i, j in network.links]
    unknown = next((link for link in link_scales if frozenset(link) not in set(links)), None)
    if unknown is not None:
        raise InputError(f"{unknown[0]} and {unknown[1]} are not linked, and have no scale of their own.")
    scales = np.array([given.get(link, 1.0) for link in links])
    if not (np.isfinite(scales) & (scales > 0)).all():
        raise MaskError("the scale of every link must be positive.")
    if scales.max() > _SPREAD * scales.min():
        raise MaskError(f"the links' scales differ by more than a factor of {_SPREAD:g}: rounding would decide.")
    return scales
