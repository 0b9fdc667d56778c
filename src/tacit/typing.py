"""The protocols that everything else is written against.

An algorithm is written once, against `Cost` and `Peers`, and read in two ways:

* *together*: arrays carry a leading agent axis, `x` is (n, m), and one call serves all agents;
* *apart*: there is no agent axis, `x` is (m,), and each agent makes its own call.

Elementwise arithmetic, the cost and `Peers` are all that an algorithm may use, so it cannot tell
the two apart. Where all agents hold the same x, as in algorithms that are driven by sums, x is (m,) in both
readings, and a cost gives one row per agent for it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from enum import StrEnum
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Words = NDArray[np.uint64]
Rows = NDArray[np.bool_]
Indices = NDArray[np.intp]
Numbers = TypeVar("Numbers", Array, Words)


Response = Literal["logistic", "one sign", "two signs"]
"""How a record's slope can answer to its score: as p − y of a logistic cost, with one sign, or with both."""


class Summand(StrEnum):
    """What an algorithm may add up over the network."""

    VALUES = "values"
    GRADIENTS = "gradients"
    HESSIANS = "Hessians"
    NUMBERS = "numbers"
    """Whatever the agents bring: an errand, not an optimisation."""

    def size(self, unknowns: int) -> int:
        """Return how many numbers of a sum it is, for so many unknowns."""
        return {Summand.VALUES: 1, Summand.HESSIANS: unknowns * (unknowns + 1) // 2}.get(self, unknowns)


@runtime_checkable
class Cost(Protocol):
    """A private cost h(x) = φ(x) + αᵀx + ψ(x): curved, affine and rough part.

    φ is differentiable, ψ need not be (its `rough_prox` is the identity where there is none).
    """

    @property
    def affine(self) -> Array:
        """Return α, the coefficient that affine masks hide; shape (..., m)."""

    @property
    def dim(self) -> int:
        """Return m, the number of unknowns."""

    @property
    def smoothness(self) -> Array:
        """Return the Lipschitz constant of ∇φ, one per agent; inf where there is none."""

    @property
    def strong_convexity(self) -> Array:
        """Return the largest μ with h − μ/2·|x|² convex, one per agent; negative where h is not convex."""

    @property
    def is_rough(self) -> bool:
        """Tell whether there is a part ψ that has no gradient."""

    def value(self, x: Array) -> Array:
        """Return h(x) up to a constant that depends on nothing hidden; shape (...)."""

    def grad(self, x: Array) -> Array:
        """Return ∇φ(x) + α; shape (..., m)."""

    def hess(self, x: Array) -> Array:
        """Return ∇²φ(x); shape (..., m, m)."""

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u h(u) + |u − v|²/2t; t is one number or has shape (..., 1)."""

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u ψ(u) + |u − v|²/2t."""

    @property
    def penalty(self) -> Array:
        """Return l1 and l2 of ψ = Σ l1|x| + ½ Σ l2 x² as one vector (..., 2m), where ψ is of that kind."""

    @property
    def limits(self) -> Array:
        """Return the lower and the upper limits of x as one vector (..., 2m)."""

    def with_affine(self, affine: Array) -> Self:
        """Return the same cost with another affine coefficient: how masks are folded in, eq. (5)."""


@runtime_checkable
class CostAlong(Cost, Protocol):
    """A cost that also answers along the columns of a basis, and knows how low it can be.

    tacit's own families do. A cost of somebody's own class need not: `tacit.algorithms.along` projects its answers.
    """

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ(∇φ(x) + α) for the columns of a public B; shape (..., q)."""

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ∇²φ(x)B; shape (..., q, q)."""

    @property
    def factored(self) -> Any:
        """Tell whether `hess_along` keeps curvatures that are small beside those of B's entries one by one."""

    @property
    def lowest(self) -> Array:
        """Return a number below h everywhere, one per agent; minus infinity where none is known."""


class Peers(Protocol):
    """What an agent can do with its neighbours."""

    @property
    def degree(self) -> Array | int:
        """Return the number of neighbours; (n, 1) together, an integer apart."""

    @property
    def links(self) -> int:
        """Return how many directed links start here: rows of what `swap` takes."""

    @property
    def first(self) -> Rows:
        """Tell of every such link whether it starts at its first end: that with the smaller id."""

    @property
    def resolution(self) -> float:
        """Return to how much a sum is exact, beyond the rounding of floats; 0 where nothing else rounds."""

    def mix(self, x: Array) -> Array:
        """Return Σ_j w_ij x_j over the agent itself and its neighbours."""

    def gather(self, x: Array) -> Array:
        """Return Σ_j x_j over the neighbours alone."""

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> Numbers:
        """Send row (i, j) to neighbour j, and return what j sent back in its place.

        *more* says that this is the next piece of the same exchange: long rows go in pieces. *only* names the rows
        that are sent, one end of every link; those that nobody sends are zero. *known* is what the neighbours would
        send, where both ends of a link draw it from shared keys: then nothing is sent at all.
        """

    def total(self, r: Numbers) -> Numbers:
        """Add up the rows that each agent owns."""

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return Σ_i v_i over the whole network; without an agent axis in both readings.

        *add* is the addition, for numbers that do not add up like floats or words modulo 2⁶⁴.
        """


class Findings(NamedTuple):
    """What an algorithm may know beside x when it ends; None where it does not."""

    value: Array | None = None  # the sum of all costs at x
    hessian: Array | None = None  # and their summed Hessian, which standard errors are made of
    facts: Array | None = None  # what all agents' records are besides, added up
    loose: Array | None = None  # how much every unknown has to do with what no sum can tell, 0 to 1
    bound: Array | float = np.inf  # the most that is left to gain there; infinite where nothing bounds it
    fell: Array | float = 0.0  # by how much the sum of the costs has fallen
    noise: Array | None = None  # the deviation of every unknown from noise shares, where there are some
    errors: Array | None = None  # its standard error: from these, and from the chance that records are


@runtime_checkable
class Algorithm(Protocol):
    """Phase 2: frozen settings with two pure functions. `State` is a NamedTuple whose first field is x.

    Settings that derive from this class say what they add up, and of the rest what differs from here. Others
    declare `exact`, `handles_rough`, `handles_nonconvex`, `sums` and `weights` themselves, and need no more.
    """

    __slots__ = ()

    exact: ClassVar[bool] = True
    """Whether the limit is the optimum."""
    handles_rough: ClassVar[bool] = False
    """Whether costs may have parts without a gradient."""
    handles_nonconvex: ClassVar[bool] = False
    """Whether single costs need not be convex, as long as their sum is."""
    weights: ClassVar[str] = "metropolis"
    """The kind of mixing weights that it prefers."""
    window: ClassVar[int | None] = None
    """How many rounds show whether it converges; None for as many as usual."""
    adds_slopes: ClassVar[bool] = False
    """Whether it adds up slopes, at kinks too: rough terms need not add up, and the slopes at its end prove it."""

    bounded: ClassVar[bool] = False
    """Whether it takes a number of sums that is fixed beforehand, each scaled so that one record moves it by no
    more than its part of a promise: then noise in the sums keeps the promise."""

    @property
    def points_at_once(self) -> int:
        """Return how many points a sum of gradients is taken at, at most."""
        return 1

    @property
    @abstractmethod
    def sums(self) -> tuple[Summand, ...]:
        """Return what it adds up over the network; empty for an algorithm that gossips."""

    @classmethod
    def tuned(cls, landscape: Any) -> Self:
        """Return settings for the costs and the network of a `tacit.algorithms.Landscape`; refuse misfits."""
        return cls()

    def refuse(self, x: Array, cost: Cost) -> None:
        """Refuse a cost that no run could begin with: asked of an agent before it meets the others."""
        return

    @abstractmethod
    def init(self, x: Array, cost: Cost) -> Any:
        """Return the state before the first round, from the public starting point x."""

    @abstractmethod
    def step(self, state: Any, peers: Peers, cost: Cost) -> Any:
        """Return the state after one more round."""

    def error(self, state: Any) -> Array | None:
        """Return its own estimate of max |x − x*|: then every round is looked at, and that decides.

        The state's field of this name, where it has one; None elsewhere.
        """
        return getattr(state, "error", None)

    def findings(self, state: Any) -> Findings:
        """Return what the last state says beside x."""
        return Findings()

    def dual_growth(self, degree: float) -> float:
        """Return the most by which a dual variable grows in a round, where agents are within 1 of each other.

        Infinite where there are none, or where they start at the masks' scale.
        """
        return np.inf
