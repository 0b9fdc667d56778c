"""Public functions φ₁ … φ_p of x, in which costs may be written.

    Functions     any list of your own
    Monomials     products of powers up to a degree; degree 0 is the constant

An `Expansion` is a cost with coefficients in them; masks hide those (`tacit.BasisMasks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from tacit.errors import CostError
from tacit.typing import Array


class Function(NamedTuple):
    """One public function of x, with its derivatives."""

    value: Callable[[Array], Array]
    grad: Callable[[Array], Array]
    hess: Callable[[Array], Array]
    scale: float = 1.0
    """How large its coefficients are beside those of the others: masks on them are wider by as much."""


class Functions:
    """Any public functions."""

    dim: int | None = None
    """How many unknowns they take; None where they do not say."""
    is_curved: bool = True
    """Whether one of them may bend."""

    def __init__(self, functions: Sequence[Function]) -> None:
        if not functions or not all(0 < function.scale < np.inf for function in functions):
            raise CostError("a basis needs at least one function, and a positive scale for each.")
        self.functions = tuple(functions)

    def __eq__(self, other: object) -> bool:
        """Equal functions in the same order."""
        return isinstance(other, Functions) and self.functions == other.functions

    def __hash__(self) -> int:
        return hash(self.functions)

    def __repr__(self) -> str:
        return f"Functions(<{len(self.functions)} of them>)"

    @property
    def linear(self) -> tuple[int, ...] | None:
        """Where x₁ … x_m are among the functions; None where that is not known."""
        return None

    def is_constant(self, dim: int) -> bool:
        """Tell whether no function changes with x, as far as a few points tell."""
        points = (np.full(dim, 0.5), np.linspace(-1.0, 2.0, dim), np.linspace(3.0, 1.0, dim))
        return not any(np.any(function.grad(x)) for function in self.functions for x in points)


class Monomials(Functions):
    """All products x₁^e₁ … x_m^e_m with e₁ + … + e_m ≤ degree, the constant 1 included."""

    dim: int

    def __init__(self, dim: int, degree: int) -> None:
        if dim < 1 or degree < 0:
            raise CostError(f"monomials of {dim} unknown(s) up to degree {degree}: there are none.")
        self.dim, self.degree = dim, degree
        picks = [pick for k in range(degree + 1) for pick in combinations_with_replacement(range(dim), k)]
        self.exponents = tuple(tuple(pick.count(k) for k in range(dim)) for pick in picks)
        super().__init__([_monomial(e) for e in self.exponents])
        self.is_curved = degree > 1

    @property
    def linear(self) -> tuple[int, ...] | None:
        """From degree 1 on."""
        if self.degree < 1:
            return None
        return tuple(self.exponents.index(tuple(int(k == j) for k in range(self.dim))) for j in range(self.dim))


@cache
def _monomial(powers: tuple[int, ...]) -> Function:
    """Return x₁^e₁ … x_m^e_m: the same object for the same powers, so that equal bases are equal."""
    exponents, unit = np.array(powers, dtype=np.float64), np.eye(len(powers))

    def value(x: Array, less: Array | float = 0.0) -> Array:
        return np.asarray(np.prod(x ** np.maximum(exponents - less, 0.0), axis=-1))

    def grad(x: Array) -> Array:
        return np.stack([e * value(x, unit[k]) for k, e in enumerate(exponents)], axis=-1)

    def hess(x: Array) -> Array:
        rows = [
            np.stack([e * (f - (j == k)) * value(x, unit[j] + unit[k]) for k, f in enumerate(exponents)], axis=-1)
            for j, e in enumerate(exponents)
        ]
        return np.stack(rows, axis=-2)

    return Function(value, grad, hess)
