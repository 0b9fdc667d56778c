"""Costs written in public functions.

    h(x) = g(x) + Σ_l θ_l φ_l(x)

The coefficients θ are private; g, if there is one, keeps its own affine part. An expansion need not be convex: the
sum of all costs must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.family import Curvature, Family, finite
from tacit.costs.functions import Function, Functions
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.typing import Array


class Expansion(Family):
    """Σ_l θ_l φ_l(x) over a basis such as `Monomials(dim, degree)`, plus *rest*, any smooth cost.

    >>> from tacit.costs import Monomials
    >>> h = Expansion(Monomials(dim=1, degree=4), [0.0, -1.0, 0.0, 0.0, 1.0])      # x⁴ − x
    >>> float(h.value(np.array([2.0])))
    14.0
    """

    affine_part = AffinePart(
        "nothing of the coefficients, which masks over their basis hide",
        open=("the coefficients of the expansion",),
        parts=(),
    )
    _stacks: ClassVar[tuple[str, ...]] = ("theta",)

    def __init__(self, basis: Functions, theta: ArrayLike, *, dim: int | None = None, rest: Family | None = None):
        theta = finite(theta, "theta", ndim=1)
        if len(theta) != len(basis.functions):
            raise CostError(f"{len(theta)} coefficient(s) for a basis of {len(basis.functions)} function(s).")
        m = basis.dim or dim or (rest.dim if rest else None)
        if m is None:
            raise CostError("say how many unknowns the functions take, as dim.")
        if rest is not None and (rest.is_rough or rest.dim != m):
            raise CostError(f"the rest of an expansion must be a smooth cost of {m} unknown(s).")
        self._join(basis.functions, theta, rest, np.zeros(m) if rest is None else rest.affine)

    def _join(self, functions: tuple[Function, ...], theta: Array, rest: Family | None, affine: Array) -> None:
        self.functions, self.theta, self.rest, self.affine = functions, theta, rest, affine
        self.splits_exactly = rest is None or rest.splits_exactly

    def with_theta(self, theta: Array) -> Self:
        """Return the same cost with other coefficients."""
        expansion = object.__new__(type(self))
        expansion._join(self.functions, theta, self.rest, self.affine)
        return expansion

    def with_affine(self, affine: Array) -> Self:
        """Return the same cost with another affine coefficient beside the basis."""
        rest = None if self.rest is None else self.rest.with_affine(affine)
        expansion = object.__new__(type(self))
        expansion._join(self.functions, self.theta, rest, affine)
        return expansion

    def curved_value(self, x: Array) -> Array:
        """Return g's curved part, and the expansion less its value at zero: a constant that is not masked."""
        origin = np.zeros(self.dim)
        parts = [self.theta[..., k] * (f.value(x) - f.value(origin)) for k, f in enumerate(self.functions)]
        return np.asarray(sum(parts)) + (0.0 if self.rest is None else self.rest.curved_value(x))

    def curved_grad(self, x: Array) -> Array:
        """Return Σ θ_l ∇φ_l(x), and g's curved part."""
        parts = [self.theta[..., k, None] * f.grad(x) for k, f in enumerate(self.functions)]
        return np.asarray(sum(parts)) + (0.0 if self.rest is None else self.rest.curved_grad(x))

    def curved_hess(self, x: Array) -> Array:
        """Return Σ θ_l ∇²φ_l(x), and g's."""
        parts = [self.theta[..., k, None, None] * f.hess(x) for k, f in enumerate(self.functions)]
        return np.asarray(sum(parts)) + (0.0 if self.rest is None else self.rest.curved_hess(x))

    @property
    def smoothness(self) -> Array:
        """Infinite: nothing is known of the functions."""
        return np.full(self.affine.shape[:-1], np.inf)

    @property
    def strong_convexity(self) -> Array:
        """Minus infinity: nothing is known of the functions."""
        return np.full(self.affine.shape[:-1], -np.inf)

    def total_curvature(self) -> Curvature:
        """Unknown: from minus to plus infinity."""
        identity = np.eye(self.dim)
        with np.errstate(invalid="ignore"):
            unknown = np.where(identity > 0, np.inf, 0.0)
        return Curvature(below=-unknown, above=unknown)

    @classmethod
    def stacked(cls, members: Sequence[Self]) -> Self:
        """Return one object for all *members*."""
        rests = [member.rest for member in members if member.rest is not None]
        rest = type(rests[0]).stacked(rests) if rests else None
        expansion = object.__new__(cls)
        theta, affine = np.stack([m.theta for m in members]), np.stack([m.affine for m in members])
        expansion._join(members[0].functions, theta, rest, affine)
        return expansion

    def stacking_key(self) -> tuple[Any, ...]:
        """Return the basis, and the kind of the rest."""
        rest = () if self.rest is None else self.rest.stacking_key()
        return (type(self), self.dim, self.functions, *rest)
