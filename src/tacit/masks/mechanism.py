"""Phase 1 as phase 2 sees it: what a mechanism hides, whom it works with, and the two things it hands on.

A mechanism takes an agent's cost and peers and returns the cost and the peers that phase 2 may use. Gaussian masks
change the cost and leave the peers; secret sums leave the cost and change the peers. Written once for one agent and
for all agents at once.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from tacit.coverage import Coverage, MaskKind
from tacit.differential import DifferentialPrivacy
from tacit.lattice import Lattice
from tacit.masks.coefficients import AnyCost, Basis
from tacit.masks.pairing import Way
from tacit.masks.randomness import Source
from tacit.masks.terms import Terms
from tacit.network import Network
from tacit.typing import Array, Peers, Summand, Words

EVERY_ROW = slice(None)


class Hidden(NamedTuple):
    """What phase 2 works with."""

    cost: Any
    peers: Peers

    @property
    def zero_sum(self) -> Words | None:
        """The own masks, in whole steps, where those of all agents must add up to zero; None where none stay."""
        return None

    def among(self, peers: Peers) -> Hidden:
        """Return the same cost, and the same masks, with other peers."""
        return Hidden(self.cost, peers)


class Balanced(Hidden):
    """What phase 2 works with, beside the masks that must cancel: to be checked, and dropped."""

    def __new__(cls, cost: Any, peers: Peers, masks: Array, lattice: Lattice) -> Self:
        """Keep *masks* of a *lattice*."""
        made = super().__new__(cls, cost, peers)
        made._masks, made._lattice = masks, lattice
        return made

    _masks: Array
    _lattice: Lattice

    @property
    def zero_sum(self) -> Words:
        """The own masks, in whole steps: exact, as masks are multiples of the step and fewer than 2⁵³ of it."""
        return np.ldexp(self._masks, -self._lattice.exponent).astype(np.int64).view(np.uint64)

    def among(self, peers: Peers) -> Balanced:
        """Return the same cost, and the same masks, with other peers."""
        return Balanced(self.cost, peers, self._masks, self._lattice)


class Rounded:
    """`Peers` whose sums are of numbers that were rounded before they were masked."""

    def __init__(self, peers: Peers, resolution: float) -> None:
        self.degree, self.links, self.first, self.resolution = peers.degree, peers.links, peers.first, resolution
        self.mix, self.gather, self.swap = peers.mix, peers.gather, peers.swap
        self.total, self.sum = peers.total, peers.sum


class Manner(Protocol):
    """What a mechanism must know of an algorithm; classes of settings say it, and so do settings."""

    @property
    def handles_nonconvex(self) -> bool:
        """Tell whether single costs need not be convex."""

    @property
    def sums(self) -> tuple[Summand, ...]:
        """Return what it adds up over the network."""

    @property
    def bounded(self) -> bool:
        """Tell whether its sums are few and scaled to what one record can move."""


class Mechanism(Protocol):
    """Frozen settings, the same at every agent and open to all.

    Code decides by what these answer, and never by the class. What has a body here is an answer that a mechanism of
    your own may leave out, if it derives from this class; `tacit.masks.drawing` says what else follows from two of
    them.
    """

    @property
    @abstractmethod
    def kind(self) -> MaskKind:
        """Return which masks these are."""

    @property
    def basis(self) -> Basis | None:
        """Return the functions whose coefficients are masked, once for the whole run; None where none are."""
        return None

    @property
    def sigma(self) -> float | None:
        """Return the deviation of Gaussian masks on a function of scale 1; `terms` has that of the thinnest."""
        return None

    @property
    def bound(self) -> float | None:
        """Return the public limit on every number that is masked; None where `terms` chooses it."""
        return None

    @property
    def scale_of(self) -> dict[tuple[Any, Any], float]:
        """Return the links whose masks are wider or thinner, by so much."""
        return {}

    @property
    def fresh_each_sum(self) -> bool:
        """Tell whether nothing but sums is sent, each under masks of its own."""
        return False

    @property
    def words(self) -> int | None:
        """Return how many words of 64 bits carry a number of a secret sum; None where there are none."""
        return None

    @property
    def seed(self) -> int | None:
        """Return what makes the masks reproducible, and the run NOT PRIVATE; None for real masks."""
        return None

    @property
    def answer(self) -> DifferentialPrivacy | None:
        """Return what is promised of the answer itself; None where it is exact."""
        return None

    @property
    def pairing(self) -> Way:
        """Return how the ends of a link come to know its random terms."""
        return "both"

    @abstractmethod
    def coverage(self, cost: AnyCost) -> Coverage:
        """Return what is hidden of *cost*, or of every agent's cost, and what is left in the open."""

    @abstractmethod
    def refuses(self, algorithm: Manner, cost: AnyCost | None = None) -> str | None:
        """Return why *algorithm* would not protect what these masks are for, in a sentence; None if it does."""

    @abstractmethod
    def terms(self, network: Network, dim: int) -> Terms:
        """Return the numbers that follow for a network and so many unknowns."""

    def bends(self, network: Network, dim: int) -> float:
        """Return how much curvature the masks may add to a single cost, nearly surely."""
        return 0.0

    @abstractmethod
    def hide(self, cost: Any, peers: Peers, source: Source, *, network: Network, rows: slice = EVERY_ROW) -> Hidden:
        """Run phase 1. *rows* are the directed links that belong to whoever calls, of all the network's."""
