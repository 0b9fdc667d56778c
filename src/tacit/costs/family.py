"""One family of costs, for one agent or for many at once.

    h(x) = φ(x) + αᵀx        φ curved, α affine; constants are dropped

A family stores φ's data and α, and nothing else: least squares keeps A and α = −Aᵀb, not b. The
effective cost of eq. (5) is the same family with α̃ = α + a in the place of α, so whatever is
computed from it is a function of φ and α̃ alone, to the last bit.

Every array may carry a leading agent axis. One agent's cost and a thousand agents' costs are the
same class and the same code; `stacked` turns the first into the second.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.costs.batched import vecdot
from tacit.costs.columns import OF_RECORDS, Units, refuse_units
from tacit.costs.inner import newton_prox
from tacit.costs.sensitivity import RecordLimits, Sensitivity, unbounded
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.typing import Array

if TYPE_CHECKING:
    from tacit.costs.composite import Composite
    from tacit.costs.passes import Passes
    from tacit.costs.rough import Rough
    from tacit.costs.secrets import Labels, Secrets


HUGE = 1e100
"""Beyond every number that means something in any unit: squares of it would no longer be numbers."""


class Curvature(NamedTuple):
    """Two matrices that sandwich a Hessian everywhere: below ⪯ ∇²φ(x) ⪯ above."""

    below: Array
    above: Array


class Family(ABC):
    """h(x) = φ(x) + αᵀx. A subclass gives φ; this class adds the affine part."""

    affine_part: AffinePart
    """What α holds of this family, and what masks on it leave in the open."""

    splits_exactly: bool = True
    """False where φ and α come from one computation, and so part from each other only up to rounding."""

    factored: bool = False
    """True where `hess_along` keeps small curvatures: rows meet the basis before they are squared."""

    separable: bool = False
    """True where h(x) = Σ_k h_k(x_k): one function of each unknown."""

    affine: Array
    """α, (..., m)."""

    _lowest: Array | None = None
    facts: Array = np.zeros(0)
    """What a table of a regression needs besides, beginning with the number of records: (..., k). A constant of the
    records that gradients do not tell; nothing unless somebody means to have it added up."""

    kept: RecordLimits | None = None
    """The public limits that the records were clipped to; None where they are as they came."""

    _stacks: ClassVar[tuple[str, ...]]
    """Names of the arrays that gain the agent axis, and are padded with zeros to a common shape."""

    # what a family gives ---------------------------------------------------------------------

    @abstractmethod
    def curved_value(self, x: Array) -> Array:
        """Return φ(x), with φ(0) = 0."""

    @abstractmethod
    def curved_grad(self, x: Array) -> Array:
        """Return ∇φ(x)."""

    @abstractmethod
    def curved_hess(self, x: Array) -> Array:
        """Return ∇²φ(x)."""

    def curved_prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u φ(u) + |u − v|²/2t; by Newton's method unless a family knows better."""
        return newton_prox(self.curved_value, self.curved_grad, self.curved_hess, v, t)

    @property
    @abstractmethod
    def smoothness(self) -> Array:
        """Return the Lipschitz constant of ∇φ, (...)."""

    @property
    @abstractmethod
    def strong_convexity(self) -> Array:
        """Return the strong convexity of φ, (...); negative where φ is not convex."""

    @abstractmethod
    def total_curvature(self) -> Curvature:
        """Return the sandwich of Σ_i ∇²φ_i over the agents in this object, (m, m) each."""

    outside: bool = False
    """True where records stay outside of memory, and every evaluation is a pass over them."""

    # what every family then has --------------------------------------------------------------

    @property
    def dim(self) -> int:
        """m, the number of unknowns."""
        return int(self.affine.shape[-1])

    @property
    def is_rough(self) -> bool:
        """False: a family is differentiable; `Composite` adds what is not."""
        return False

    @property
    def secrets(self) -> Secrets | None:
        """What is secret in one agent's cost, by its shape alone; None where nothing is known of it."""
        return None

    def sensitivity(self, limits: RecordLimits) -> Sensitivity:
        """Return how far one record can move this cost where records keep *limits*, by public numbers alone."""
        raise unbounded()

    def clipped(self, limits: RecordLimits) -> Self:
        """Return the same cost of the same records, each within *limits*; nothing tells whether one was not."""
        raise unbounded()

    @property
    def held(self) -> Array | None:
        """Tell of every column of a design whether it is not zero here; None where there is no design."""
        return None

    @property
    def labels(self) -> Labels | None:
        """What is open about one agent's labels, where the affine part is made of them; None where it is not."""
        return None

    def value(self, x: Array) -> Array:
        """Return φ(x) + αᵀx."""
        return self.curved_value(x) + vecdot(self.affine, x)

    def grad(self, x: Array) -> Array:
        """Return ∇φ(x) + α."""
        return self.curved_grad(x) + self.affine

    def hess(self, x: Array) -> Array:
        """Return ∇²φ(x)."""
        return self.curved_hess(x)

    def hess_rows(self, x: Array, start: int, stop: int) -> Array:
        """Return some rows of ∇²φ(x), (..., stop − start, m)."""
        return self.hess(x)[..., start:stop, :]

    def look(self, x: Array, *, last: bool = False) -> Array:
        """Return φ, ∇φ and ∇²φ of one agent at x, as one vector: what one pass over its records finds.

        After a *last* look the records may be overwritten.
        """
        return np.concatenate([[self.curved_value(x)], self.curved_grad(x), self.curved_hess(x).ravel()])

    def of_rows(self, A: Array, y: Array, weight: Array | None, offset: Array | None) -> Self:
        """Return this cost without its penalty, of other records, which are known to fit."""
        raise CostError("this family of costs cannot read its records in batches; load them.")

    def over(self, passes: Passes) -> Family:
        """Return this cost, with its penalty and without its own records, of all records of *passes*."""
        from tacit.costs.in_batches import InBatches  # itself a Family

        return InBatches(self, passes)

    def total_hess(self, x: Array) -> Array:
        """Return Σ_i ∇²φ_i(x_i) over the agents in this object, (m, m)."""
        H = np.broadcast_to(self.hess(x), (*self.affine.shape, self.dim))
        return np.asarray(H.reshape(-1, self.dim, self.dim).sum(axis=0))

    def slope_right(self, x: Array) -> Array:
        """Return the derivative to the right, unknown by unknown: the gradient, and the upper slope at kinks."""
        return self.grad(x)

    @property
    def has_slopes(self) -> bool:
        """True: there is a gradient; `Composite` asks its rough term."""
        return True

    @property
    def adds_up(self) -> bool:
        """Whether the rough terms of several such costs add up to one; True where there is none."""
        return True

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ(∇φ(x) + α), for the columns of a public B, (m, q)."""
        return self.grad(x) @ B

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ∇²φ(x)B."""
        return np.asarray(B.T @ self.hess(x) @ B)

    @property
    def lowest(self) -> Array:
        """A number below h everywhere, (...); minus infinity where none is known.

        It is as private as a constant of h. Algorithms add it up where nothing else bounds what is left to gain.
        """
        return np.full(self.affine.shape[:-1], -np.inf) if self._lowest is None else self._lowest

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u h(u) + |u − v|²/2t: the affine part only moves v."""
        return self.curved_prox(v - t * self.affine, t)

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return v: there is no rough part."""
        return v

    def column_sums(self) -> Array:
        """Return the sums of the design's columns, where there is a design with an intercept."""
        raise refuse_units()

    def columns_held(self, columns: int) -> Array:
        """Return for each of the design's columns whether it is not zero in all records."""
        raise refuse_units()

    def column_squares(self, centre: Array) -> Array:
        """Return the sums of squares of the design's columns about their centres."""
        raise refuse_units()

    def in_units(self, units: Units) -> Self:
        """Return the same cost as a function of u, x = T u."""
        raise refuse_units()

    @property
    def penalty(self) -> Array:
        """l1 and l2 of the rough part ψ = Σ l1|x| + ½ Σ l2 x², one vector (..., 2m); zeros where there is none."""
        return np.zeros((*self.affine.shape[:-1], 2 * self.dim))

    @property
    def limits(self) -> Array:
        """The lower and the upper limits of x, one vector (..., 2m); infinite where there are none."""
        return np.repeat([-np.inf, np.inf], self.dim)

    def with_affine(self, affine: Array) -> Self:
        """Return the same φ with another α, eq. (5)."""
        if affine.shape != self.affine.shape:
            raise CostError(f"an affine coefficient of shape {affine.shape} for a cost of {self.affine.shape}.")
        effective = copy.copy(self)
        effective.affine, effective._lowest = affine, None  # the bound holds for the old α, and would tell of it
        for name in OF_RECORDS:
            effective.__dict__.pop(name, None)
        return effective

    def __add__(self, rough: Rough) -> Composite:
        """Return this cost with a rough term, as in `LeastSquares(A, b) + L1(0.1)`."""
        from tacit.costs.composite import Composite  # itself a Family
        from tacit.costs.rough import Rough

        if not isinstance(rough, Rough):
            raise CostError(f"a cost takes a rough term such as L1(0.1), not {type(rough).__name__}.")
        return Composite(self, rough)

    @classmethod
    def stacked(cls, members: Sequence[Self]) -> Self:
        """Return one object for all *members*, with a leading agent axis."""
        together = copy.copy(members[0])
        together.__dict__ = {}  # no cached value of one member may stand for all
        for name in ("affine", *members[0]._stacked_names(), *(["facts"] if members[0].facts.size else [])):
            whole = _padded([getattr(member, name) for member in members])
            setattr(together, name, whole)
            for member, row in zip(members, whole, strict=True):  # the same numbers, held once
                own = getattr(member, name)
                member.__dict__[name] = row[tuple(slice(k) for k in np.shape(own))] if np.ndim(own) else own
        together.kept = members[0].kept if len({member.kept for member in members}) == 1 else None
        together._lowest = np.stack([member.lowest for member in members])
        if any(member.outside for member in members):
            together.outside = True
        return together

    @property
    def has_rows(self) -> bool:
        """Whether a stack of such costs is its arrays and nothing else: then `only` takes some agents' rows."""
        return type(self).stacked.__func__ is Family.stacked.__func__  # type: ignore[attr-defined]

    def only(self, rows: NDArray[np.intp]) -> Self:
        """Return the costs of some of the agents in this object."""
        some = copy.copy(self)
        some.__dict__ = {}
        for name in ("affine", *self._stacked_names(), *(["facts"] if self.facts.size else [])):
            setattr(some, name, getattr(self, name)[rows])
        some.kept, some._lowest = self.kept, self.lowest[rows]
        if self.outside:
            some.outside = True
        return some

    def _stacked_names(self) -> tuple[str, ...]:
        """Return the arrays that this cost has, and that gain the agent axis."""
        return self._stacks

    def stacking_key(self) -> tuple[Any, ...]:
        """Return what costs must share to be stacked together."""
        return (type(self), self.dim)

    def __repr__(self) -> str:  # the data are private: never shown
        agents = "" if self.affine.ndim == 1 else f"agents={self.affine.shape[0]}, "
        return f"{type(self).__name__}({agents}m={self.dim})"


def _padded(arrays: list[Array]) -> Array:
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        return np.stack(arrays)
    common = tuple(np.max([array.shape for array in arrays], axis=0))
    together = np.zeros((len(arrays), *common), dtype=arrays[0].dtype)
    for row, array in zip(together, arrays, strict=True):
        row[tuple(slice(k) for k in array.shape)] = array
    return together


def finite(data: ArrayLike, name: str, *, ndim: int) -> Array:
    """Return *data* as a float64 array of *ndim* axes, or say what is wrong with it without showing it."""
    try:
        array = np.array(data, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CostError(f"{name} is not an array of numbers.") from error
    if array.ndim != ndim:
        axes = {0: "a number", 1: "a vector", 2: "a matrix"}[ndim]
        raise CostError(f"{name} has shape {array.shape} where {axes} is needed.")
    far = np.argwhere(np.abs(array) > HUGE)
    if len(far) and np.isfinite(array).all():
        where = ", ".join(str(int(k)) for k in far[0])
        raise CostError(
            f"{name} has {len(far)} value(s) beyond {HUGE:g}, the first at [{where}]; use larger units, or mend it."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = ", ".join(str(int(k)) for k in bad[0])
        raise CostError(
            f"{name} has {len(bad)} missing or infinite value(s), the first at [{where}]; "
            "fill or drop those records."
        )
    return array


def one_per_row(data: ArrayLike, name: str, A: Array) -> Array:
    """Return *data* as `finite` does: one number for every row of A."""
    array = finite(data, name, ndim=1)
    if len(array) != len(A):
        raise CostError(f"A has {len(A)} rows and {name} has {len(array)} entries; they must agree.")
    return array


def penalty(l2: ArrayLike, dim: int, *, intercept: bool = False) -> Array:
    """Return the weights of ½ Σ l2_k x_k² as a vector; an intercept, the last unknown, goes free."""
    try:
        weights = np.broadcast_to(np.asarray(l2, dtype=np.float64), (dim - intercept,)).copy()
    except (TypeError, ValueError) as error:
        raise CostError(f"l2 must be a number, or one for each of the {dim - intercept} column(s).") from error
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise CostError("l2 must be zero or positive.")
    return np.append(weights, 0.0) if intercept else weights
