"""Any differentiable cost, given by Python functions.

    h(x) = φ(x) + αᵀ(x − x₀),   α = ∇h(x₀),   φ(x) = h(x) − h(x₀) − αᵀ(x − x₀)

The split is made at a public point x₀, so affine masks hide the gradient at that point. φ and α
come from the same function and part from each other only up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs.family import Curvature, Family, finite
from tacit.costs.inner import accelerated_prox
from tacit.coverage import AffinePart
from tacit.errors import CostError
from tacit.typing import Array

Formula = Callable[[Array], Any]


class CallableCost(Family):
    """A cost from functions of one agent's x, each taking an array of shape (m,).

    *grad* is needed unless JAX is installed and *value* is written in `jax.numpy`. *smoothness* is the
    Lipschitz constant of the gradient; *strong_convexity* is negative for a cost that is not convex.

    *affine* is α where you know it: *value* and *grad* are then of the rest alone, h(x) = φ(x) + αᵀx, and the two
    come apart to the last bit.
    """

    affine_part = AffinePart("the gradient at the public point x₀", open=("differences of gradients",))
    splits_exactly = False

    def __init__(
        self,
        dim: int,
        *,
        value: Formula | None = None,
        grad: Formula | None = None,
        hess: Formula | None = None,
        smoothness: float = np.inf,
        strong_convexity: float = 0.0,
        x0: ArrayLike | None = None,
        affine: ArrayLike | None = None,
    ) -> None:
        if grad is None:
            if value is None:
                raise CostError("a cost needs its gradient, or its value with JAX installed.")
            value, grad = _with_jax(value)
        self._value, self._grad, self._hess = value, grad, hess
        self.x0 = np.zeros(dim) if x0 is None else finite(x0, "x0", ndim=1)
        start = finite(grad(self.x0), "the gradient at x0", ndim=1)
        self.affine = start if affine is None else finite(affine, "affine", ndim=1)
        if not len(self.x0) == len(start) == len(self.affine) == dim:
            raise CostError(f"x0, the gradient and affine must have {dim} entries, as dim says.")
        self.splits_exactly = affine is not None
        self.origin = np.zeros(dim) if self.splits_exactly else start
        self._smoothness, self._strong_convexity = float(smoothness), float(strong_convexity)
        if not self._smoothness >= abs(self._strong_convexity):
            raise CostError(
                f"smoothness = {smoothness:g} is below |strong convexity| = {abs(strong_convexity):g}: "
                "no cost bends like that."
            )

    @property
    def has_hessian(self) -> bool:
        """Whether the Hessian was given."""
        return self._hess is not None

    @property
    def has_value(self) -> bool:
        """Whether the value was given."""
        return self._value is not None

    def curved_value(self, x: Array) -> Array:
        """Return h(x) − h(x₀) − ∇h(x₀)ᵀ(x − x₀): zero at x₀, so that no value tells the mask there."""
        if self._value is None:
            raise CostError("this cost was given without its value; give that too.")
        return np.asarray(self._value(x) - self._value(self.x0) - self.origin @ (x - self.x0))

    def curved_grad(self, x: Array) -> Array:
        """Return ∇h(x) − ∇h(x₀)."""
        return np.asarray(self._grad(x), dtype=np.float64) - self.origin

    def curved_hess(self, x: Array) -> Array:
        """Return ∇²h(x)."""
        if self._hess is None:
            raise CostError("this cost was given without its Hessian; give that too.")
        return np.asarray(self._hess(x), dtype=np.float64)

    def curved_prox(self, v: Array, t: Array | float) -> Array:
        """By Newton's method if there is a Hessian, else by accelerated gradient steps."""
        if self._hess is not None and self._value is not None:
            return super().curved_prox(v, t)
        if not np.isfinite(self._smoothness):
            raise CostError("a proximal step needs the Hessian and the value, or a finite smoothness.")
        return accelerated_prox(
            self.curved_grad, lambda u, _: u, self.smoothness, np.asarray(self._strong_convexity), v, t
        )

    @property
    def smoothness(self) -> Array:
        """As given."""
        return np.asarray(self._smoothness)

    @property
    def strong_convexity(self) -> Array:
        """As given."""
        return np.asarray(self._strong_convexity)

    def total_curvature(self) -> Curvature:
        """Between the two given constants."""
        identity = np.eye(self.dim)
        with np.errstate(invalid="ignore"):
            above = np.where(identity > 0, self._smoothness, 0.0)
        return Curvature(below=self._strong_convexity * identity, above=above)

    def stacking_key(self) -> tuple[Any, ...]:
        """Return what all families ask for, and whether α was given."""
        return (*super().stacking_key(), self.splits_exactly)

    @classmethod
    def stacked(cls, members: Sequence[Self]) -> Self:
        """Return one object that calls the members in turn: foreign code cannot be batched."""
        return cast(Self, _Callables(members))


class _Callables(CallableCost):
    """Several callable costs behind the interface of a stack."""

    def __init__(self, members: Sequence[CallableCost]) -> None:
        self.members = tuple(members)
        self.affine = np.stack([member.affine for member in members])
        self.splits_exactly = all(member.splits_exactly for member in members)

    def _each(self, name: str, x: Array, *more: Any) -> Array:
        t = np.broadcast_to(more[0], (len(self.members), 1)) if more else None
        x = np.broadcast_to(x, self.affine.shape)
        return np.stack(
            [
                getattr(member, name)(row) if t is None else getattr(member, name)(row, float(t[i, 0]))
                for i, (member, row) in enumerate(zip(self.members, x, strict=True))
            ]
        )

    def curved_value(self, x: Array) -> Array:
        return self._each("curved_value", x)

    def curved_grad(self, x: Array) -> Array:
        return self._each("curved_grad", x)

    def curved_hess(self, x: Array) -> Array:
        return self._each("curved_hess", x)

    def curved_prox(self, v: Array, t: Array | float) -> Array:
        return self._each("curved_prox", v, t)

    @property
    def smoothness(self) -> Array:
        return np.array([member.smoothness for member in self.members])

    @property
    def strong_convexity(self) -> Array:
        return np.array([member.strong_convexity for member in self.members])

    def total_curvature(self) -> Curvature:
        parts = [member.total_curvature() for member in self.members]
        below = np.sum([part.below for part in parts], axis=0)
        return Curvature(below=below, above=np.sum([part.above for part in parts], axis=0))


def _with_jax(value: Formula) -> tuple[Formula, Formula]:
    """Return *value* and its gradient in 64-bit arithmetic."""
    try:
        import jax
    except ImportError as error:
        raise CostError("a cost without grad= needs JAX for its gradient: pip install 'tacit[jax]'.") from error
    compiled, slope = jax.jit(value), jax.jit(jax.grad(value))

    def in_double(function: Formula) -> Formula:
        def call(x: Array) -> Array:
            with jax.enable_x64(True):
                return np.asarray(function(x), dtype=np.float64)

        return call

    return in_double(compiled), in_double(slope)
