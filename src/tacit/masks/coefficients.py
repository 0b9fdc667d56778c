"""Coefficients along public functions: what masks hide of a cost, read from it and folded back.

    h(x) = g(x) + Σ_l θ_l φ_l(x)

    Linear        φ_k = x_k                          the paper: θ = α
    Quadratics    φ_jk = x_j x_k (½x_j² for j = k)   θ = (P, q): a quadratic cost is nothing else
    Components    any public `Functions`             θ of a cost that is written as an `Expansion` in them

A basis reads the coefficients of a cost and returns the same cost with others: that is all that a mask needs. Its
`scales` are the masks' deviations relative to σ. For quadratics they are 1 on the diagonal of P and 1/√2 beside it,
because each of those stands for two entries: equal changes in the Frobenius norm are then equally well hidden.
Every theorem about affine masks holds with θ in the place of α.

Function sharing (Gade & Vaidya, *Private optimization on networks*, ACC 2018) is the basis of monomials.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from tacit.costs import (
    Affine,
    Composite,
    CostStack,
    Expansion,
    Family,
    Functions,
    Quadratic,
    pack,
    packed_size,
    stack,
    unpack,
)
from tacit.costs.stack import groups
from tacit.coverage import Coverage, MaskKind, Part, together
from tacit.errors import CostError, InputError
from tacit.typing import Array

AnyCost = Family | CostStack


class Basis(ABC):
    """Public functions, as far as masks need to know them."""

    kind: MaskKind = "basis"
    """Which masks those over this basis are."""
    covers_all: bool = False
    """Whether the basis covers every cost that it accepts."""
    bends_costs: bool = True
    """Whether masks can take the convexity of a cost away."""
    one_per_unknown: bool = False
    """Whether every unknown has one coefficient and there are no others."""
    at_origin: bool = False
    """Whether the affine coefficient is the gradient at the origin, wherever a run starts."""
    extremes: tuple[float, float] = (1.0, 1.0)
    """The deviations of the least and of the most masked function relative to σ, in the norm that counts."""

    @abstractmethod
    def scales(self, dim: int) -> Array:
        """Return the masks' deviations relative to σ, (p,)."""

    @abstractmethod
    def read(self, cost: AnyCost) -> Array:
        """Return θ, (..., p)."""

    @abstractmethod
    def fold(self, cost: AnyCost, theta: Array) -> AnyCost:
        """Return the effective cost: the same, with these coefficients in the place of its own."""

    def alone(self, theta: Array, dim: int) -> AnyCost:
        """Return costs of *dim* unknowns that are nothing but these coefficients, one row for each agent."""
        raise InputError(f"the audit has no made-up costs for the basis {type(self).__name__}.")

    def blocks(self, dim: int) -> dict[str, NDArray[np.intp]]:
        """Return the coefficients that are of one sort, by its name; empty where all are."""
        return {}

    def coverage(self, cost: AnyCost) -> Coverage:
        """Return what masks over this basis hide of *cost*; of many agents' costs, what they hide of each."""
        return together(self._coverage(part) for part in _parts(cost))

    @abstractmethod
    def _coverage(self, cost: Family) -> Coverage:
        """Return what masks over this basis hide of a cost of one family."""

    @abstractmethod
    def covers(self, cost: AnyCost) -> bool:
        """Tell whether the coefficients are all there is to *cost*, rough terms aside: then masks hide it whole."""

    def bends(self, dim: int) -> float:
        """Return the spectral norm of the curvature that a mask of deviation 1 adds to a cost, nearly surely."""
        return 0.0

    def __eq__(self, other: object) -> bool:
        """Bases are values, as the settings that hold them are."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Linear(Basis):
    """φ_k(x) = x_k: the affine part."""

    kind = "affine"
    bends_costs = False
    one_per_unknown = True

    def scales(self, dim: int) -> Array:
        """Return ones."""
        return np.ones(dim)

    def read(self, cost: AnyCost) -> Array:
        """Return α."""
        return cost.affine

    def fold(self, cost: AnyCost, theta: Array) -> AnyCost:
        """Return the cost with another α, eq. (5)."""
        return cost.with_affine(theta)

    def alone(self, theta: Array, dim: int) -> AnyCost:
        """Return affine costs."""
        return Affine.of(theta.copy())

    def _coverage(self, cost: Family) -> Coverage:
        """Return what the family's affine part holds."""
        part = cost.affine_part
        return Coverage(
            kind=self.kind, parts=part.parts, hidden=(part.holds,), open=part.open, exact=cost.splits_exactly
        )

    def covers(self, cost: AnyCost) -> bool:
        """Only of a cost that is affine."""
        return all(isinstance(part, Affine) for part in _parts(cost))


class Quadratics(Basis):
    """½xᵀSx + aᵀx: the whole of a quadratic cost, as the upper triangle of S and then a."""

    kind = "quadratic"
    covers_all = True
    at_origin = True

    def scales(self, dim: int) -> Array:
        """Return 1 on the diagonal and for a, 1/√2 beside the diagonal."""
        square = np.full((dim, dim), np.sqrt(0.5))
        np.fill_diagonal(square, 1.0)
        return np.concatenate([pack(square), np.ones(dim)])

    def read(self, cost: AnyCost) -> Array:
        """Return (P, q)."""
        if not self.covers(cost):
            raise CostError(
                "quadratic masks hide quadratic costs, and one of these is none; use secret sums, which hide any "
                "cost, or affine masks for its affine part."
            )
        P = np.broadcast_to(cost.hess(np.zeros(cost.dim)), (*cost.affine.shape, cost.dim))
        return np.concatenate([pack(P), cost.affine], axis=-1)

    def fold(self, cost: AnyCost, theta: Array) -> AnyCost:
        """Return the quadratic cost of these coefficients, with the rough term of the old one."""
        if isinstance(cost, CostStack):
            return cost.regrouped(lambda part, rows: self._fold(part, theta[rows]))
        return self._fold(cost, theta)

    def _fold(self, cost: Family, theta: Array) -> Family:
        effective = self.alone(theta, cost.dim)
        return Composite.joined(effective, cost.rough) if isinstance(cost, Composite) else effective

    def alone(self, theta: Array, dim: int) -> Quadratic:
        """Return quadratic costs."""
        size = packed_size(dim)
        return Quadratic.of(unpack(theta[..., :size], dim), theta[..., size:])

    def blocks(self, dim: int) -> dict[str, NDArray[np.intp]]:
        """Return what stands on the diagonal of P, beside it, and in q."""
        rows, columns = np.triu_indices(dim)
        return {
            "diagonal": np.flatnonzero(rows == columns),
            "mixed": np.flatnonzero(rows != columns),
            "linear": len(rows) + np.arange(dim),
        }

    def _coverage(self, cost: Family) -> Coverage:
        """Return that all of it is hidden, but for a rough term."""
        part = cost.affine_part
        if not part.parts:  # what is secret is in the rough term, and the smooth part is zero
            return Coverage(kind=self.kind, parts=(), hidden=(part.holds,), open=part.open)
        whole = ("whole quadratic costs, curvature and linear coefficients",)
        if cost.is_rough:
            smooth: tuple[Part, ...] = ("affine", "labels", "curvature")
            return Coverage(kind=self.kind, parts=smooth, hidden=whole, open=("rough terms",))
        return Coverage(kind=self.kind, parts=("whole",), hidden=whole)

    def covers(self, cost: AnyCost) -> bool:
        """Of every quadratic cost."""
        return all(isinstance(_smooth(part), Quadratic | Affine) for part in _parts(cost))

    def bends(self, dim: int) -> float:
        """Return the norm of a symmetric Gaussian matrix, 2√m beside variances of ½, and its fluctuation."""
        return float(np.sqrt(2.0) * (np.sqrt(dim) + 3.0))


class Components(Basis):
    """Any public functions: the coefficients of costs that are written as an `Expansion` in them."""

    def __init__(self, functions: Functions) -> None:
        self.functions, self.bends_costs = functions, functions.is_curved
        scales = [function.scale for function in functions.functions]
        self.extremes = (min(scales), max(scales))

    def __repr__(self) -> str:
        return f"Components({self.functions!r})"

    def scales(self, dim: int) -> Array:
        """Return the functions' own."""
        return np.array([function.scale for function in self.functions.functions])

    def read(self, cost: AnyCost) -> Array:
        """Return the coefficients of an expansion in these functions; refuse any other cost.

        Where x₁ … x_m are among them, the affine part of the rest belongs to theirs: beside them it would be added
        to masked coefficients as it is, off their lattice, and its low bits would tell it.
        """
        if isinstance(cost, CostStack):
            return cost.spread(lambda group: self.read(group.cost), (cost.shape[0], len(self.functions.functions)))
        if not (isinstance(cost, Expansion) and cost.functions == self.functions.functions):
            raise CostError(
                "masks over these functions hide coefficients, and a cost has none in them; write it as "
                "an expansion in them."
            )
        if cost.rest is None or self.functions.linear is None:
            return cost.theta
        theta = cost.theta.copy()
        theta[..., self.functions.linear] += cost.affine
        return theta

    def fold(self, cost: AnyCost, theta: Array) -> AnyCost:
        """Return the expansion with these coefficients."""
        if isinstance(cost, CostStack):
            return cost.regrouped(lambda part, rows: self._fold(part, theta[rows]))
        return self._fold(cost, theta)

    def _fold(self, cost: Family, theta: Array) -> Family:
        if not isinstance(cost, Expansion):
            raise CostError("only an expansion has coefficients to fold masks into.")
        if self.functions.linear is not None:
            cost = cost.with_affine(np.zeros_like(cost.affine))
        return cost.with_theta(theta)

    def alone(self, theta: Array, dim: int) -> AnyCost:
        """Return expansions with no rest."""
        return stack([Expansion(self.functions, row, dim=dim) for row in theta])

    def _coverage(self, cost: Family) -> Coverage:
        """Return that the components along the functions are hidden, and whether that is all."""
        count = len(self.functions.functions)
        written = f"{count} public function{'s' * (count > 1)}"
        if self.covers(cost):
            return Coverage(kind=self.kind, parts=("whole",), hidden=(f"whole costs, written in {written}",))
        if self.functions.is_constant(cost.dim):  # a mask changes no gradient
            return Coverage(kind=self.kind, parts=(), hidden=("nothing but a constant",), open=("the rest",))
        hidden = (f"the components of each cost along {written}",)
        rest = cost.rest if isinstance(cost, Expansion) else None
        parts: tuple[Part, ...] = ("components",)
        if rest is not None and self.functions.linear is not None:
            parts = (*parts, *(part for part in rest.affine_part.parts if part != "whole"))
        exact = rest is None or rest.splits_exactly or not set(parts) & set(rest.affine_part.parts)
        return Coverage(kind=self.kind, parts=parts, hidden=hidden, open=("the rest",), exact=exact)

    def bends(self, dim: int) -> float:
        """Return infinity: nothing is known of the functions' curvature."""
        return np.inf if self.bends_costs else 0.0

    def covers(self, cost: AnyCost) -> bool:
        """Of expansions in these functions with nothing else in them."""
        return all(
            isinstance(part, Expansion) and part.functions == self.functions.functions and part.rest is None
            for part in _parts(cost)
        )


def _parts(cost: AnyCost) -> list[Family]:
    return [group.cost for group in groups(cost)]


def _smooth(cost: Family) -> Family:
    return cost.smooth if isinstance(cost, Composite) else cost
