"""The paper's mechanism, over any public basis: zero-sum Gaussian masks, drawn once.

    h_i  = g_i + Σ_l θ_il φ_l                              θ_i: the coefficients to hide
    r_ij ~ N(0, σ²)  for every neighbour j, sent to j
    a_i  = Σ_j (r_ji − r_ij)                               eq. (4)
    h̃_i  = h_i + Σ_l a_il φ_l                              eq. (5)

Σ a_i = 0, so the sum of the effective costs, and the optimum with it, is unchanged. With φ_k = x_k this is Section
III of Gupta & Chopra (`AffineMasks`); with the quadratics it hides all of a quadratic cost (`QuadraticMasks`).

One mask serves the whole run. Whatever phase 2 says must therefore be a function of the effective costs, and what
lies outside the basis is open: affine masks leave differences of gradients as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.costs import CostStack, Family, Functions
from tacit.costs.stack import groups
from tacit.coverage import Coverage, MaskKind
from tacit.differential import DifferentialPrivacy, share_out
from tacit.errors import MaskError
from tacit.lattice import Lattice, default_bound, refuse_coarse
from tacit.listing import conjoined
from tacit.masks.blur import STEPS, Blur, Blurred
from tacit.masks.coefficients import AnyCost, Basis, Components, Linear, Quadratics
from tacit.masks.gaussian import draw, refuse_undrawn
from tacit.masks.mechanism import EVERY_ROW, Balanced, Hidden, Manner, Rounded
from tacit.masks.pairing import Way, pair, refuse_unknown
from tacit.masks.randomness import Source
from tacit.masks.shares import ShareKeys, draw_exactly, limits_of, whole_steps
from tacit.masks.terms import Terms
from tacit.network import Network
from tacit.typing import Array, Peers, Summand

ScaledLinks = tuple[tuple[Any, Any, float], ...]
_HUGE = 1e100
_SPREAD = 1e4  # of the links' scales: thinner masks would no longer be Gaussian on a common lattice


@dataclass(frozen=True, slots=True)
class GaussianMasks:
    """What masks over any basis share.

    They are σ, the public bound, the seed of simulations, scales of single links, and how the ends of a link come
    to know its random terms (`tacit.masks.pairing`).
    """

    sigma: float
    bound: float | None = None
    seed: int | None = None
    link_scales: ScaledLinks | Mapping[tuple[Any, Any], float] = ()
    pairing: Way = "both"
    answer: DifferentialPrivacy | None = None

    def __post_init__(self) -> None:
        if self.answer is not None and (self.basis.kind == "basis" or self.link_scales):
            raise MaskError(
                "answer goes with affine and quadratic masks, equally wide on every link: of others no sensitivity "
                "is known."
            )
        if isinstance(self.link_scales, Mapping):
            pairs = tuple((a, b, float(scale)) for (a, b), scale in self.link_scales.items())
            object.__setattr__(self, "link_scales", pairs)
        refuse_unknown(self.pairing)
        self.lattice(agents=2, links=1)  # refuse an impossible sigma where it is written

    @property
    def basis(self) -> Basis:
        """The public functions whose coefficients are hidden."""
        raise NotImplementedError

    @property
    def kind(self) -> MaskKind:
        """That of the basis."""
        return self.basis.kind

    @property
    def fresh_each_sum(self) -> bool:
        """False: they are drawn once."""
        return False

    @property
    def words(self) -> None:
        """None: numbers stay on a lattice."""

    @property
    def scale_of(self) -> dict[tuple[Any, Any], float]:
        """The links with a scale of their own."""
        return {(a, b): scale for a, b, scale in cast(ScaledLinks, self.link_scales)}

    def lattice(self, *, agents: int, links: int) -> Lattice:
        """Return the lattice for a network of that size, fine enough for its thinnest link."""
        if isinstance(self.sigma, bool) or not isinstance(self.sigma, Real) or not abs(self.sigma) < _HUGE:
            raise MaskError(f"sigma must be a positive number below {_HUGE:g}, not {self.sigma!r}.")
        scales = (1.0, *self.scale_of.values())
        if not all(isfinite(scale) and scale > 0 for scale in scales):
            raise MaskError("the scale of every link must be a positive number.")
        least, most = self.basis.extremes
        widest = self.sigma * max(scales) * most
        bound = default_bound(self.sigma) if self.bound is None else self.bound
        refuse_coarse(widest, bound=self.bound, agents=agents, links=links)
        lattice = Lattice.fit(widest, bound=bound, agents=agents, links=links)
        thinnest = self.sigma * min(scales) * least
        if widest > _SPREAD * thinnest or not lattice.carries(thinnest):
            raise MaskError(
                f"a scale of {min(scales) * least:g} beside one of {max(scales) * most:g} is too thin a mask."
            )
        return lattice

    def row_scales(self, network: Network) -> Array:
        """Return every directed link's σ as a fraction of the lattice's, in the order in which agents own them."""
        given = {frozenset((a, b)): scale for (a, b), scale in self.scale_of.items()}
        if not given:
            return np.ones(2 * len(network.links))
        links = [frozenset((network.agents[i], network.agents[j])) for i, j in network.links]
        unlinked = next((pair for pair in self.scale_of if frozenset(pair) not in set(links)), None)
        if unlinked is not None:
            raise MaskError(f"{unlinked[0]} and {unlinked[1]} are not linked, and have no scale of their own.")
        scales = np.array([given.get(link, 1.0) for link in links]) / max(1.0, *given.values())
        i, j = network.links.T
        order = np.lexsort((np.concatenate([j, i]), np.concatenate([i, j])))
        return np.concatenate([scales, scales])[order]

    def coverage(self, cost: AnyCost) -> Coverage:
        """Return what lies in the basis."""
        return self.basis.coverage(cost)

    def bends(self, network: Network, dim: int) -> float:
        """Return σ√(2d) times what the basis adds for σ = 1 along one link."""
        widest = self.sigma * max([1.0, *self.scale_of.values()])
        return widest * float(np.sqrt(2.0 * network.degrees.max())) * self.basis.bends(dim)

    def terms(self, network: Network, dim: int) -> Terms:
        """Return the lattice's numbers; masks this large leave some ulps of themselves in every gradient."""
        lattice = self.lattice(agents=len(network), links=len(network.links))
        widest = self.sigma * max([1.0, *self.scale_of.values()]) * self.basis.extremes[1]
        largest = 8.0 * widest * float(np.sqrt(2.0 * network.degrees.max()))
        return Terms(
            bound=lattice.bound,
            step=lattice.step,
            noise=16.0 * float(np.finfo(float).eps) * largest,
            sigma=self.sigma * self.basis.extremes[0],
            blur=STEPS * lattice.step,
            link_scales=cast(ScaledLinks, self.link_scales),
        )

    def refuses(self, algorithm: Manner, cost: AnyCost | None = None) -> str | None:
        """Refuse sums of what the basis leaves in the open, and methods that cannot follow the effective costs."""
        basis = self.basis
        open_parts = not (basis.covers_all if cost is None else basis.covers(cost))
        if algorithm.sums and open_parts:
            if Summand.HESSIANS in algorithm.sums:
                return (
                    f"it adds up {conjoined(algorithm.sums)}, and these masks leave curvature in the open: the "
                    "next agent in the tree reads a Hessian as it is; use secret sums, which hide what they add up."
                )
            return (
                f"it adds up {conjoined(algorithm.sums)} at many points, and one mask would serve all of them: "
                "their differences are in the open; use secret sums, whose masks are fresh for every sum."
            )
        if not algorithm.sums and basis.bends_costs and not algorithm.handles_nonconvex:
            return (
                "these masks make single costs bend downwards, and it needs each of them convex; use 'direct', "
                "'multi-consensus' or 'gradient-tracking'."
            )
        return None

    def hide(self, cost: Any, peers: Peers, source: Source, *, network: Network, rows: slice = EVERY_ROW) -> Hidden:
        """Run phase 1 and return the effective cost; the masks are used here and kept nowhere."""
        if self.answer is not None:
            return self._hide_with_shares(cost, peers, source, network, self.answer)
        lattice = self.lattice(agents=len(network), links=len(network.links))
        theta = lattice.round(self.basis.read(cost))
        by_link, by_function = self.row_scales(network)[rows], self.basis.scales(cost.dim)
        shape, most = (len(by_link), len(by_function)), self.basis.extremes[1]
        even = most == 1.0 and (by_link == 1.0).all() and (by_function == 1.0).all()
        uneven = None if even else by_link[:, None] * by_function / most
        links = pair(self.pairing, source, peers)
        terms = _net(*links.terms(lambda s: draw(s, shape, lattice, uneven)))
        refuse_undrawn(terms, peers, lattice)
        masks = peers.total(terms)
        del terms
        effective: Any = self.basis.fold(cost, theta + masks)
        inexact = self._inexact(cost)
        if inexact.any():
            effective = Blurred(effective, Blur.drawn(inexact, source, peers, lattice))
        return Balanced(effective, Rounded(peers, len(network) * lattice.step / 2.0), masks, lattice)

    def _hide_with_shares(
        self, cost: Any, peers: Peers, source: Source, network: Network, promise: DifferentialPrivacy
    ) -> Hidden:
        """Run phase 1 with masks that add up to noise: everybody's share, on top of masks that cancel.

        Masks are drawn as exactly as shares: what is promised holds for their law, far out as well. Coefficients
        beyond the bound are cut off there, and nobody complains.
        """
        lattice = self.lattice(agents=len(network), links=len(network.links))
        moved = _moved(cost, self.basis, promise)
        share = share_out(network, promise, sigma=self.sigma / moved).share
        if 32.0 * share * moved > lattice.bound:
            raise MaskError(
                f"bound = {lattice.bound:g} leaves no room for noise shares of {share * moved:.3g}; use a public "
                f"bound of at least {32.0 * share * moved:.3g}."
            )
        most = lattice.bound - 16.0 * share * moved
        scales = self.basis.scales(cost.dim) / self.basis.extremes[1]
        theta = lattice.round(np.clip(self.basis.read(cost), -most, most))
        links = pair(self.pairing, source, peers)
        wide = np.ceil(np.ldexp(self.sigma * scales, -lattice.exponent)).astype(np.int64)
        terms = _net(*links.terms(lambda s: lattice.step * draw_exactly(s, peers.links, wide)))
        refuse_undrawn(terms, peers, lattice)
        masks = peers.total(terms)
        keys = ShareKeys.drawn(len(np.atleast_2d(theta)), source, peers)
        steps = whole_steps(share, lattice.step, len(scales), moved=moved)
        words = np.ldexp(theta, -lattice.exponent).astype(np.int64).view(np.uint64)
        shares = keys.draw(b"coefficients", words, np.ceil(steps * scales).astype(np.int64))
        effective = self.basis.fold(cost, theta + masks + lattice.step * shares)
        return Balanced(effective, Rounded(peers, len(network) * lattice.step / 2.0), masks, lattice)

    def _inexact(self, cost: Any) -> NDArray[np.bool_]:
        """Tell of every agent whether its cost would tell what is hidden by its rounding."""
        if not isinstance(cost, Family | CostStack):
            return np.zeros(1, dtype=bool)  # a stranger's class folds masks in itself
        rough = np.zeros(cost.affine.shape[:-1] or (1,), dtype=bool)
        for group in groups(cost):
            coverage = self.basis.coverage(group.cost)
            rough[group.rows] = coverage.keeps_a_secret and not coverage.exact
        return rough


@dataclass(frozen=True, slots=True)
class AffineMasks(GaussianMasks):
    """Hide the affine part of every cost behind zero-sum Gaussian masks of deviation *sigma*.

    *bound* is a public limit on the affine coefficients, agreed by all agents before anything private is
    looked at (65 536, or sigma if that is larger, unless given). *seed* makes the masks reproducible for
    simulations: the run is then NOT PRIVATE, and says so. *link_scales* multiplies sigma link by link, as
    `allocate` returns it: pairs of agents and a factor, 1 where a link is not named.
    """

    @property
    def basis(self) -> Basis:
        """Linear functions."""
        return Linear()


@dataclass(frozen=True, slots=True)
class QuadraticMasks(GaussianMasks):
    """Hide whole quadratic costs, curvature and linear part, behind zero-sum Gaussian masks of deviation *sigma*.

    Distances between curvatures are measured in the Frobenius norm. *bound* limits the entries of P and q. The
    effective costs are not convex one by one: agree by 'direct' (one sum) or 'multi-consensus' (gossip).
    """

    @property
    def basis(self) -> Basis:
        """Quadratic and linear functions."""
        return Quadratics()


@dataclass(frozen=True, slots=True)
class BasisMasks(GaussianMasks):
    """Hide the coefficients of costs along any public functions, such as `Monomials(dim, degree)`."""

    functions: Functions | Basis = field(default_factory=Linear, kw_only=True)

    @property
    def basis(self) -> Basis:
        """The functions given."""
        return Components(self.functions) if isinstance(self.functions, Functions) else self.functions


def _moved(cost: Any, basis: Basis, promise: DifferentialPrivacy) -> float:
    """Return how far one label, or one record, can move the coefficients; refuse costs that were not clipped."""
    limits = limits_of(promise)
    parts = [group.cost for group in groups(cost)]
    if any(part.kept != limits for part in parts):
        raise MaskError("costs are clipped to the promise's limits before they are masked; solve does so.")
    bounds = [part.sensitivity(limits) for part in parts]
    return max(bound.label if basis.kind == "affine" else bound.whole for bound in bounds)


def mask(r: Array, peers: Peers) -> Array:
    """Return a_i = Σ_j (r_ji − r_ij), eq. (4): what came in less what went out."""
    return peers.total(peers.swap(r) - r)


def _net(went: Array, came: Array) -> Array:
    """Return what came less what went; neither is held any longer than that."""
    return came - went
