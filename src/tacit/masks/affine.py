"""The paper's mechanism: zero-sum masks on the affine parts.

    r_ij ~ N(0, σ²I)  for every neighbour j, sent to j
    a_i  = Σ_j (r_ji − r_ij)                               eq. (4)
    h̃_i  = h_i + a_iᵀx                                     eq. (5)

Σ a_i = 0, so the sum of the effective costs, and the optimum with it, is unchanged.
Gupta & Chopra, Section III.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from tacit.errors import MaskError
from tacit.lattice import Lattice, default_bound
from tacit.masks.gaussian import draw
from tacit.masks.randomness import Source
from tacit.typing import Array, Cost, Peers

AnyCost = TypeVar("AnyCost", bound=Cost)


@dataclass(frozen=True, slots=True)
class AffineMasks:
    """Hide the affine part of every cost behind zero-sum Gaussian masks of deviation *sigma*.

    *bound* is a public limit on the affine coefficients, agreed by all agents before anything private is
    looked at (65 536, or sigma if that is larger, unless given). *seed* makes the masks reproducible for
    simulations: the run is then NOT PRIVATE, and says so.
    """

    sigma: float
    bound: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        self.lattice(agents=2, links=1)  # refuse an impossible sigma where it is written

    def lattice(self, *, agents: int, links: int) -> Lattice:
        """Return the lattice for a network of that size."""
        if isinstance(self.sigma, bool) or not isinstance(self.sigma, int | float):
            raise MaskError(f"sigma must be a positive number, not {type(self.sigma).__name__}.")
        bound = default_bound(self.sigma) if self.bound is None else self.bound
        return Lattice.fit(self.sigma, bound=bound, agents=agents, links=links)

    def hide(self, cost: AnyCost, peers: Peers, source: Source, lattice: Lattice) -> AnyCost:
        """Run phase 1 and return the effective cost; the masks are used here and kept nowhere."""
        r = draw(source, (peers.links, cost.dim), lattice)
        return cost.with_affine(lattice.round(cost.affine) + mask(r, peers))


def mask(r: Array, peers: Peers) -> Array:
    """Return a_i = Σ_j (r_ji − r_ij), eq. (4): what came in less what went out."""
    return peers.total(peers.swap(r) - r)
