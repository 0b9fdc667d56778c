"""One agent's run with nothing known of its cost: every gradient is an unknown, and all else is linear in them.

An algorithm is run in many coordinates at once, [m as they are | unknown by unknown | all of them at once]. The
first m are the run with all unknowns zero; in the coordinate of an unknown nothing but that is one; in the last,
unknowns have arbitrary values, and what comes out must be the sum of the others: else the algorithm is not linear
in gradients.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple, NoReturn

import numpy as np

from tacit.auditing.attacks.made_up import MadeUp
from tacit.auditing.attacks.rehearsal import Enough, Opaque
from tacit.typing import Array

_UNKNOWNS = 160  # up to which a run is followed


class Query(NamedTuple):
    """A gradient that was asked for, and where it was taken."""

    gradient: Array
    point: Array


class Unknowns:
    """Numbers that nobody knows, each in a coordinate of its own."""

    def __init__(self, unknowns: int, seed: int) -> None:
        self.m = unknowns
        self.width = unknowns + _UNKNOWNS + 1
        self.weights = np.random.default_rng(seed).uniform(1.0, 2.0, _UNKNOWNS)
        self.used = 0

    def known(self, values: Array) -> Array:
        """Return numbers that are known."""
        out = np.zeros(self.width)
        out[: self.m] = values
        return out

    def like(self, x: Array, values: Array | None) -> Array:
        """Return numbers that are known, or unknowns where they are not, put together as x is."""
        if values is None:
            return np.concatenate([self.fresh() for _ in parts(x, self.width)])
        return np.concatenate([self.known(part) for part in parts(values, self.m)])

    def fresh(self) -> Array:
        """Return one more unknown."""
        if self.used == _UNKNOWNS:
            raise Enough
        out = np.zeros(self.width)
        out[self.m + self.used], out[-1] = 1.0, self.weights[self.used]
        self.used += 1
        return out


class Probe(MadeUp):
    """`Cost` of one agent of which nothing is known: ∇h(x) = C(x) + α, and C is the same at the same point."""

    def __init__(self, unknowns: Unknowns, *, rough: bool, curvature: Array | None = None) -> None:
        self._unknowns, self.is_rough, self._curvature = unknowns, rough, curvature
        self._own = self.affine = unknowns.fresh()
        """α, as it is and as it is said to be."""
        self.queries: list[Query] = []
        self._seen: dict[bytes, Array] = {}

    @property
    def dim(self) -> int:
        """All coordinates."""
        return self._unknowns.width

    @property
    def limits(self) -> Array:
        """No limits."""
        return np.repeat([-np.inf, np.inf], self.dim)

    def grad(self, x: Array) -> Array:
        """Return C(x) + α."""
        x = np.broadcast_to(x, self.dim) + 0.0  # a zero is a zero, whatever its sign
        curved = self._seen.get(x.tobytes())
        if curved is None:
            curved = self._seen[x.tobytes()] = self._unknowns.fresh()
            self.queries.append(Query(curved + self._own, x))
        return curved + self.affine

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return v − t(C + α), with the gradient at its end."""
        curved = self._unknowns.fresh()
        if self.is_rough:
            return curved
        out = np.asarray(v - np.asarray(t) * (curved + self.affine))
        self.queries.append(Query(curved + self._own, out))
        return out

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return v, or an unknown where costs have parts without a gradient."""
        return self._unknowns.fresh() if self.is_rough else v

    def with_affine(self, affine: Array) -> Probe:
        """Return the same cost, said to have another α."""
        other = copy(self)
        other.affine = np.broadcast_to(affine, self.dim)
        return other

    def value(self, x: Array) -> NoReturn:
        """Refuse."""
        raise Opaque("what is said depends on values of costs")

    def hess(self, x: Array) -> NoReturn:
        """Refuse."""
        raise Opaque("what is said depends on curvatures")

    @property
    def smoothness(self) -> Array:
        """The largest curvature, where it is open."""
        return self._eigenvalues()[-1]

    @property
    def strong_convexity(self) -> Array:
        """The smallest curvature, where it is open."""
        return self._eigenvalues()[0]

    @property
    def penalty(self) -> Array:
        """No penalty, unless there is one that nobody knows."""
        if self.is_rough:
            raise Opaque("what is said depends on penalties")
        return np.zeros(2 * self.dim)

    def _eigenvalues(self) -> Array:
        if self._curvature is None:
            raise Opaque("what is said depends on curvatures, which are not known")
        return np.asarray(np.linalg.eigvalsh(self._curvature), dtype=np.float64)


def parts(x: Array, width: int) -> Array:
    """Return the vectors of one width that x is put together of, one after the other, (k, width)."""
    if x.ndim != 1 or not x.size or x.size % width:
        raise Opaque("what is said is not made of vectors of as many numbers as there are unknowns")
    return x.reshape(-1, width)
