"""The paper's mechanism: zero-sum masks on the affine parts.

    r_ij ~ N(0, σ²I)  for every neighbour j, sent to j
    a_i  = Σ_j (r_ji − r_ij)                               eq. (4)
    h̃_i  = h_i + a_iᵀx                                     eq. (5)

Σ a_i = 0, so the sum of the effective costs, and the optimum with it, is unchanged.
Gupta & Chopra, Section III.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np

from tacit.errors import MaskError
from tacit.lattice import Lattice, default_bound
from tacit.masks.gaussian import draw
from tacit.masks.randomness import Source
from tacit.network import Network
from tacit.typing import Array, Cost, Peers

AnyCost = TypeVar("AnyCost", bound=Cost)
LinkScales = tuple[tuple[Any, Any, float], ...]
_HUGE = 1e100
_SPREAD = 1e4  # of the links' scales: thinner masks would no longer be Gaussian on a common lattice


@dataclass(frozen=True, slots=True)
class AffineMasks:
    """Hide the affine part of every cost behind zero-sum Gaussian masks of deviation *sigma*.

    *bound* is a public limit on the affine coefficients, agreed by all agents before anything private is
    looked at (65 536, or sigma if that is larger, unless given). *seed* makes the masks reproducible for
    simulations: the run is then NOT PRIVATE, and says so. *link_scales* multiplies sigma link by link, as
    `allocate` returns it: pairs of agents and a factor, 1 where a link is not named.
    """

    sigma: float
    bound: float | None = None
    seed: int | None = None
    link_scales: LinkScales | Mapping[tuple[Any, Any], float] = ()

    def __post_init__(self) -> None:
        if isinstance(self.link_scales, Mapping):
            pairs = tuple((a, b, float(scale)) for (a, b), scale in self.link_scales.items())
            object.__setattr__(self, "link_scales", pairs)
        self.lattice(agents=2, links=1)  # refuse an impossible sigma where it is written

    @property
    def scale_of(self) -> dict[tuple[Any, Any], float]:
        """The links with a scale of their own."""
        return {(a, b): scale for a, b, scale in cast(LinkScales, self.link_scales)}

    def lattice(self, *, agents: int, links: int) -> Lattice:
        """Return the lattice for a network of that size, fine enough for its thinnest link."""
        if isinstance(self.sigma, bool) or not isinstance(self.sigma, Real) or not abs(self.sigma) < _HUGE:
            raise MaskError(f"sigma must be a positive number below {_HUGE:g}, not {type(self.sigma).__name__}.")
        scales = (1.0, *self.scale_of.values())
        if not all(isfinite(scale) and scale > 0 for scale in scales):
            raise MaskError("the scale of every link must be a positive number.")
        widest = self.sigma * max(scales)
        bound = default_bound(self.sigma) if self.bound is None else self.bound
        lattice = Lattice.fit(widest, bound=bound, agents=agents, links=links)
        if max(scales) > _SPREAD * min(scales):
            raise MaskError(
                f"a link scale of {min(scales):g} beside one of {max(scales):g} leaves it too thin a mask."
            )
        return lattice

    def row_scales(self, network: Network) -> Array | None:
        """Return every directed link's σ as a fraction of the lattice's, in the order in which agents own them."""
        given = {frozenset((a, b)): scale for (a, b), scale in self.scale_of.items()}
        if not given:
            return None
        links = [frozenset((network.agents[i], network.agents[j])) for i, j in network.links]
        strange = next((pair for pair in self.scale_of if frozenset(pair) not in set(links)), None)
        if strange is not None:
            raise MaskError(f"{strange[0]} and {strange[1]} are not linked, and have no scale of their own.")
        scales = np.array([given.get(link, 1.0) for link in links]) / max(1.0, *given.values())
        i, j = network.links.T
        order = np.lexsort((np.concatenate([j, i]), np.concatenate([i, j])))
        return np.concatenate([scales, scales])[order]

    def hide(
        self, cost: AnyCost, peers: Peers, source: Source, lattice: Lattice, scales: Array | None = None
    ) -> AnyCost:
        """Run phase 1 and return the effective cost; the masks are used here and kept nowhere."""
        r = draw(source, (peers.links, cost.dim), lattice, scales)
        return cost.with_affine(lattice.round(cost.affine) + mask(r, peers))


def mask(r: Array, peers: Peers) -> Array:
    """Return a_i = Σ_j (r_ji − r_ij), eq. (4): what came in less what went out."""
    return peers.total(peers.swap(r) - r)
