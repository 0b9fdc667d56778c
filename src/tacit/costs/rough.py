"""Terms without a gradient, given by their proximal map.

    L1            w·|x − c|₁                   soft threshold around c
    ElasticNet    l1·|x|₁ + ½ l2·|x|²          soft threshold, then shrink
    Box           0 on [lower, upper], else ∞  clip

Parikh & Boyd, *Proximal Algorithms*, Found. Trends Optim. 1(3), 2014, Chapter 6.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.columns import Units, refuse_units
from tacit.errors import CostError
from tacit.typing import Array


class Rough(ABC):
    """ψ(x): add it to a cost, as in `LeastSquares(A, b) + L1(0.1)`."""

    _stacks: ClassVar[tuple[str, ...]]

    @abstractmethod
    def value(self, x: Array) -> Array:
        """Return ψ(x), (...)."""

    @abstractmethod
    def prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u ψ(u) + |u − v|²/2t."""

    @property
    def strong_convexity(self) -> Array | float:
        """Return the strong convexity of ψ."""
        return 0.0

    @property
    def has_slopes(self) -> bool:
        """Whether `slope` is known, and finite everywhere."""
        return False

    @property
    def has_centre(self) -> bool:
        """Whether the term says where somebody would like x to be: no mask on α hides that."""
        return False

    @property
    def adds_up(self) -> bool:
        """Whether terms of this kind add up to one term, as `penalty` says it."""
        return False

    def slope(self, x: Array) -> Array:
        """Return the derivative of ψ to the right, unknown by unknown, (..., m): the upper one at a kink."""
        raise CostError("rough terms of this kind have no slope everywhere.")

    def penalty(self, dim: int) -> Array:
        """Return l1 and l2 of ψ = Σ l1|x| + ½ Σ l2 x² as one vector, (..., 2m): what agents can add up."""
        raise CostError(
            "rough terms of this kind do not add up to one term, so sums cannot carry them; use an algorithm that "
            "gossips, such as 'admm', or 'bracket' where unknowns are separate."
        )

    def limits(self, dim: int) -> Array:
        """Return the lower and the upper limits of x as one vector, (..., 2m)."""
        return np.repeat([-np.inf, np.inf], dim)

    def in_units(self, units: Units) -> Self:
        """Return the same term of u, x = T u, where columns have units."""
        raise refuse_units()

    @classmethod
    def stacked(cls, members: Sequence[Self], dim: int) -> Self:
        """Return one object for all *members*, with a leading agent axis."""
        together = object.__new__(cls)
        for name in cls._stacks:
            parts = [np.broadcast_to(getattr(member, name), (dim,)) for member in members]
            setattr(together, name, np.stack(parts))
        return together

    def __repr__(self) -> str:  # a centre is private: never shown
        return f"{type(self).__name__}()"


class L1(Rough):
    """w·|x − c|₁; weight and centre are numbers or vectors."""

    _stacks: ClassVar[tuple[str, ...]] = ("weight", "centre")

    def __init__(self, weight: ArrayLike, centre: ArrayLike = 0.0) -> None:
        self.weight = np.asarray(weight, dtype=np.float64)
        self.centre = np.asarray(centre, dtype=np.float64)
        if not (np.isfinite(self.weight).all() and (self.weight >= 0).all()):
            raise CostError("the weight of an L1 term must be zero or positive.")
        if not np.isfinite(self.centre).all():
            raise CostError("the centre of an L1 term has missing or infinite values.")

    def value(self, x: Array) -> Array:
        """Return w·|x − c|₁."""
        return np.asarray((self.weight * np.abs(x - self.centre)).sum(axis=-1))

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return c + soft(v − c, t·w)."""
        return self.centre + soft_threshold(v - self.centre, t * self.weight)

    def in_units(self, units: Units) -> Self:
        """Return w/s·|u|; an intercept has no weight."""
        if self.centre.any():
            raise refuse_units("an l1 term about a centre")
        return type(self)(_each(self.weight, units, 1))

    has_slopes = True

    @property
    def has_centre(self) -> bool:
        """Unless centres are zero."""
        return bool(self.centre.any())

    @property
    def adds_up(self) -> bool:
        """Unless centres differ from zero."""
        return not self.centre.any()

    def slope(self, x: Array) -> Array:
        """Return w on the right of the centre, −w on its left."""
        return np.asarray(np.where(x >= self.centre, self.weight, -self.weight))

    def penalty(self, dim: int) -> Array:
        """Return (w, 0); refuse a centre of its own."""
        if self.centre.any():
            raise CostError(
                "terms |x − c| with a centre of their own do not add up to one term, so sums cannot carry them; "
                "use an algorithm that gossips, such as 'admm'."
            )
        return _side_by_side(self.weight, 0.0, dim)


class ElasticNet(Rough):
    """l1·|x|₁ + ½ l2·|x|²."""

    _stacks: ClassVar[tuple[str, ...]] = ("l1", "l2")

    def __init__(self, l1: ArrayLike, l2: ArrayLike) -> None:
        self.l1, self.l2 = np.asarray(l1, dtype=np.float64), np.asarray(l2, dtype=np.float64)
        both = np.concatenate([self.l1.ravel(), self.l2.ravel()])
        if not (np.isfinite(both).all() and (both >= 0).all()):
            raise CostError("the weights of an elastic net must be zero or positive.")

    def value(self, x: Array) -> Array:
        """Return l1·|x|₁ + ½ l2·|x|²."""
        return np.asarray((self.l1 * np.abs(x) + 0.5 * self.l2 * x**2).sum(axis=-1))

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return soft(v, t·l1) / (1 + t·l2)."""
        return soft_threshold(v, t * self.l1) / (1.0 + t * self.l2)

    def in_units(self, units: Units) -> Self:
        """Return l1/s·|u| + ½ l2/s²·u²."""
        return type(self)(_each(self.l1, units, 1), _each(self.l2, units, 2))

    has_slopes = adds_up = True

    def slope(self, x: Array) -> Array:
        """Return ±l1 and l2·x."""
        return np.asarray(np.where(x >= 0, self.l1, -self.l1) + self.l2 * x)

    def penalty(self, dim: int) -> Array:
        """Return (l1, l2)."""
        return _side_by_side(self.l1, self.l2, dim)

    @property
    def strong_convexity(self) -> Array | float:
        """The smallest l2."""
        return self.l2.min(axis=-1) if self.l2.ndim else float(self.l2)


def _each(weight: Array, units: Units, power: int) -> Array:
    """Return weights of the columns over a power of their scales; what comes after the columns is an intercept."""
    p = len(units.scale)
    if weight.ndim == 0:
        return weight / units.scale**power
    return np.concatenate([weight[..., :p] / units.scale**power, weight[..., p:]], axis=-1)


class Box(Rough):
    """The constraint lower ≤ x ≤ upper."""

    _stacks: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        self.lower, self.upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        if np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise CostError("the limits of a box have missing values.")
        if not (self.lower <= self.upper).all():
            raise CostError("the box is empty: a lower limit exceeds its upper limit.")

    def value(self, x: Array) -> Array:
        """Return 0 inside and ∞ outside."""
        inside = ((x >= self.lower) & (x <= self.upper)).all(axis=-1)
        return np.where(inside, 0.0, np.inf)

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return the nearest point of the box."""
        return np.clip(v, self.lower, self.upper)

    adds_up = True

    def penalty(self, dim: int) -> Array:
        """Return zeros: a box has no price, only limits."""
        return np.zeros((*self.lower.shape[:-1], 2 * dim))

    def limits(self, dim: int) -> Array:
        """Return the box."""
        return _side_by_side(self.lower, self.upper, dim)


def _side_by_side(first: Array, second: Array | float, dim: int) -> Array:
    shape = (*np.broadcast_shapes(np.shape(first)[:-1], np.shape(second)[:-1]), dim)
    return np.concatenate([np.broadcast_to(first, shape), np.broadcast_to(second, shape)], axis=-1)


def soft_threshold(v: Array, threshold: Array | float) -> Array:
    """Return v moved towards zero by *threshold*, and zero where it is nearer than that."""
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0)
