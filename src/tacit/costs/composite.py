"""A smooth cost plus a rough term.

    h(x) = φ(x) + αᵀx + ψ(x)

Algorithms take either side: `grad` and `rough_prox` (PG-EXTRA, NIDS), or `prox` of the whole (ADMM).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.affine import Affine
from tacit.costs.columns import Units
from tacit.costs.family import Curvature, Family, finite
from tacit.costs.inner import accelerated_prox
from tacit.costs.rough import L1, Rough
from tacit.costs.secrets import Labels, Secrets
from tacit.coverage import AffinePart, Part
from tacit.errors import CostError
from tacit.typing import Array


class Composite(Family):
    """smooth + rough. Written `smooth + rough` for short."""

    def __init__(self, smooth: Family, rough: Rough) -> None:
        if smooth.is_rough:
            raise CostError("a cost takes one rough term; an elastic net is two penalties in one.")
        self._join(smooth, rough)
        try:
            shape = rough.prox(np.zeros(smooth.dim), 1.0).shape
        except ValueError:
            shape = ()
        if shape != (smooth.dim,):
            raise CostError(f"the rough term does not fit a cost of {smooth.dim} unknown(s).")

    def _join(self, smooth: Family, rough: Rough) -> None:
        self.smooth, self.rough = smooth, rough
        self.affine = smooth.affine
        self.factored = smooth.factored
        self.affine_part = _beside_a_rough_term(smooth.affine_part, rough)
        self.splits_exactly = smooth.splits_exactly
        self.facts = smooth.facts

    def column_sums(self) -> Array:
        """Of the smooth part."""
        return self.smooth.column_sums()

    def columns_held(self, columns: int) -> Array:
        """Of the smooth part."""
        return self.smooth.columns_held(columns)

    def column_squares(self, centre: Array) -> Array:
        """Of the smooth part."""
        return self.smooth.column_squares(centre)

    def in_units(self, units: Units) -> Self:
        """Return the same cost of u: the rough term in those units, too."""
        return type(self).joined(self.smooth.in_units(units), self.rough.in_units(units))

    @property
    def is_rough(self) -> bool:
        """True."""
        return True

    @property
    def secrets(self) -> Secrets | None:
        """Of φ: penalties and limits are no secrets of a record."""
        return self.smooth.secrets

    @property
    def held(self) -> Array | None:
        """Of φ."""
        return self.smooth.held

    @property
    def labels(self) -> Labels | None:
        """Of φ."""
        return self.smooth.labels

    def value(self, x: Array) -> Array:
        """Return φ(x) + αᵀx + ψ(x)."""
        return self.smooth.value(x) + self.rough.value(x)

    def curved_value(self, x: Array) -> Array:
        """Return φ(x)."""
        return self.smooth.curved_value(x)

    def curved_grad(self, x: Array) -> Array:
        """Return ∇φ(x)."""
        return self.smooth.curved_grad(x)

    def curved_hess(self, x: Array) -> Array:
        """Return ∇²φ(x)."""
        return self.smooth.curved_hess(x)

    def hess_rows(self, x: Array, start: int, stop: int) -> Array:
        """Return some rows of ∇²φ(x)."""
        return self.smooth.hess_rows(x, start, stop)

    def total_hess(self, x: Array) -> Array:
        """Of φ."""
        return self.smooth.total_hess(x)

    def slope_right(self, x: Array) -> Array:
        """Return ∇φ(x) + α and the upper slope of ψ."""
        return self.grad(x) + self.rough.slope(x)

    @property
    def separable(self) -> bool:  # type: ignore[override]
        """As the smooth part is: rough terms are sums over the unknowns."""
        return self.smooth.separable

    @property
    def has_slopes(self) -> bool:
        """As the rough term has."""
        return self.rough.has_slopes

    @property
    def adds_up(self) -> bool:
        """As rough terms do."""
        return self.rough.adds_up

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ(∇φ(x) + α)."""
        return self.smooth.grad_along(x, B)

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ∇²φ(x)B."""
        return self.smooth.hess_along(x, B)

    @property
    def lowest(self) -> Array:
        """That of the smooth part: no rough term is negative."""
        return self.smooth.lowest

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u ψ(u) + |u − v|²/2t."""
        return self.rough.prox(v, t)

    @property
    def penalty(self) -> Array:
        """Of the rough term."""
        return self.rough.penalty(self.dim)

    @property
    def limits(self) -> Array:
        """Of the rough term."""
        return self.rough.limits(self.dim)

    def curved_prox(self, v: Array, t: Array | float) -> Array:
        """Return argmin_u φ(u) + ψ(u) + |u − v|²/2t; in closed form where φ = 0."""
        if isinstance(self.smooth, Affine):
            return self.rough.prox(v, t)
        if not np.isfinite(self.smoothness).all():
            raise CostError(
                "proximal steps of a rough term need a Lipschitz gradient beside it, which this cost has not; use "
                "secret sums and 'newton', or an l2 penalty."
            )
        return accelerated_prox(
            self.smooth.curved_grad, self.rough.prox, self.smoothness, self.smooth.strong_convexity, v, t
        )

    @property
    def smoothness(self) -> Array:
        """Of φ."""
        return self.smooth.smoothness

    @property
    def strong_convexity(self) -> Array:
        """Of φ and ψ together."""
        return self.smooth.strong_convexity + self.rough.strong_convexity

    def total_curvature(self) -> Curvature:
        """Of φ."""
        return self.smooth.total_curvature()

    def with_affine(self, affine: Array) -> Self:
        """Return the same cost with another α."""
        return type(self).joined(self.smooth.with_affine(affine), self.rough)

    @classmethod
    def joined(cls, smooth: Family, rough: Rough) -> Self:
        """Return the cost of one agent or of many at once, from parts that are known to fit."""
        together = object.__new__(cls)
        together._join(smooth, rough)
        return together

    @classmethod
    def stacked(cls, members: Sequence[Self]) -> Self:
        """Return one object for all *members*."""
        smooth, rough = members[0].smooth, members[0].rough
        return cls.joined(
            type(smooth).stacked([member.smooth for member in members]),
            type(rough).stacked([member.rough for member in members], smooth.dim),
        )

    def stacking_key(self) -> tuple[Any, ...]:
        """Return the kinds of the smooth part and of the rough term."""
        return (type(self), type(self.rough), *self.smooth.stacking_key())


class AbsoluteValue(Composite):
    """weight·|x − centre|₁, whose sum is least at the (weighted) median. Its centre is not affine."""

    def __init__(self, centre: ArrayLike, weight: ArrayLike = 1.0) -> None:
        centre = finite(centre, "centre", ndim=1)
        super().__init__(Affine(np.zeros(len(centre))), L1(weight, centre))

    def _join(self, smooth: Family, rough: Rough) -> None:
        super()._join(smooth, rough)
        self.affine_part = AffinePart(
            "nothing of the centre, because the affine part of this cost is zero", open=("the centre",), parts=()
        )


def _beside_a_rough_term(part: AffinePart, rough: Rough) -> AffinePart:
    """Return what is hidden where kinks are in the open: their places and weights, and nothing of α.

    Beside an affine part that was all there is, a centre is what the cost is about, and nothing of it is hidden.
    """
    if rough.has_centre and "whole" in part.parts:
        return AffinePart("nothing of the centre of the rough term", open=(*part.open, "the centre"), parts=())
    parts: tuple[Part, ...] = tuple("affine" if p == "whole" else p for p in part.parts)
    kinks = ("the rough term", "the centre of the rough term") if rough.has_centre else ("the rough term",)
    return AffinePart(part.holds, open=(*part.open, *kinks), parts=parts)
