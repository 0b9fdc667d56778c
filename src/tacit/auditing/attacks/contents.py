"""What an algorithm adds up: which numbers of a sum are gradients, and at which points.

All agents of an algorithm by sums are at the same point, and everybody knows the totals: so anybody can follow the
run from sum to sum, with a cost that answers whatever it likes. Where a number of the next sum moves with the
gradient that the cost returned, and with nothing else, it tells that gradient:

    summands = c + M G    c from G = 0, the columns of M one by one, rows that move with values or Hessians left out
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from tacit.auditing.attacks.made_up import MadeUp
from tacit.auditing.attacks.rehearsal import Enough, Opaque, run_until_enough
from tacit.typing import Algorithm, Array, Numbers, Rows

_NUMBERS = 4096  # of gradients, up to which every one is moved by itself


@dataclass(frozen=True)
class Contents:
    """Where the gradients are in a sum."""

    points: Array
    """Where they are taken, (k, m)."""
    rows: Array
    """What makes them of the numbers that an agent adds up, (k·m, width)."""
    constant: Array
    """What is to be taken off those numbers before, (width,)."""

    def gradients(self, numbers: Array) -> list[tuple[Array, Array]]:
        """Return every gradient that an agent's numbers tell, with its point."""
        values = (self.rows @ (numbers[: len(self.constant)] - self.constant)).reshape(self.points.shape)
        return list(zip(self.points, values, strict=True))

    def nearest(self, numbers: Array, point: Array) -> Array:
        """Return the gradient that is taken nearest to a point."""
        at = np.abs(self.points - point).max(axis=1).argmin()
        return self.gradients(numbers)[at][1]


def contents_of(algorithm: Algorithm, start: Array, totals: Sequence[Array], *, width: int) -> Contents | None:
    """Return what is in the sum after those with these totals; None where it holds no whole gradient."""
    plain = _follow(algorithm, start, totals, None, seed=0)
    if plain.summands is None or plain.summands.size != width or not plain.points:
        return None
    shape = (len(plain.points), len(start))
    count = shape[0] * shape[1]
    if count > _NUMBERS:
        raise Opaque("too many gradients are added up at once")

    def summands(gradients: Array, seed: int = 0) -> Array:
        followed = _follow(algorithm, start, totals, gradients.reshape(shape), seed=seed)
        if not np.array_equal(followed.points, plain.points):
            raise Opaque("where gradients are taken follows from the gradients before them")
        return followed.numbers

    base = summands(np.zeros(count))
    M = np.stack([summands(unit) - base for unit in np.eye(count)], axis=1)
    some = np.random.default_rng(3).normal(size=count)
    linear = np.isclose(summands(some), base + M @ some, rtol=1e-9, atol=1e-9)
    clean = (base == summands(np.zeros(count), seed=1)) & linear
    inverse, determined = _inverse(M * clean[:, None])
    whole = determined.reshape(shape).all(axis=1)
    if not whole.any():
        return None
    rows = inverse.reshape(*shape, width)[whole].reshape(-1, width)
    return Contents(np.stack(plain.points)[whole], rows, np.where(clean, base, 0.0))


def _inverse(M: Array) -> tuple[Array, Rows]:
    """Return what makes the unknowns of the numbers, and which of them are determined."""
    single = np.flatnonzero((M != 0).sum(axis=1) == 1)
    which = (M[single] != 0).argmax(axis=1)
    values, first = np.unique(which, return_index=True)
    if len(values) == M.shape[1]:  # every unknown is there by itself
        by_itself = np.zeros(M.T.shape)
        by_itself[values, single[first]] = 1.0 / M[single[first], values]
        return by_itself, np.ones(len(values), dtype=bool)
    inverse = np.asarray(np.linalg.pinv(M), dtype=np.float64)
    return inverse, np.abs(inverse @ M - np.eye(M.shape[1])).max(axis=1) < 1e-9


def points_of(algorithm: Algorithm, start: Array) -> list[Array]:
    """Return where an algorithm takes gradients before anything but its start is known."""
    return _follow(algorithm, start, (), None, seed=0).points


class Follower(MadeUp):
    """`Cost` of one agent that answers as it likes, and `Peers` that know the totals."""

    resolution = 0.0
    is_rough = False

    def __init__(self, unknowns: int, totals: Sequence[Array], gradients: Array | None, seed: int) -> None:
        self.dim = unknowns
        self.points: list[Array] = []
        self.summands: Array | None = None
        self._totals, self._gradients, self._rng = list(totals), gradients, np.random.default_rng(seed)
        self._own = self.affine = self._rng.normal(size=unknowns)
        """α, as it is and as it is said to be."""
        self.degree = self.links = 1
        self.first: Rows = np.ones(1, dtype=bool)

    @property
    def numbers(self) -> Array:
        """What the agent adds up."""
        if self.summands is None:
            raise Opaque("what is added up follows from the gradients before it")
        return self.summands

    def grad(self, x: Array) -> Array:
        """Return the next of the gradients given; points that were asked for before have the same."""
        x = np.broadcast_to(np.asarray(x, dtype=np.float64), self.dim)
        at = next((k for k, point in enumerate(self.points) if np.array_equal(point, x)), len(self.points))
        if at == len(self.points):
            self.points.append(x.copy())
        if self._gradients is None:
            return self._rng.normal(size=self.dim)
        if at >= len(self._gradients):
            raise Opaque("where gradients are taken follows from the gradients before them")
        return np.asarray(self._gradients[at] + (self.affine - self._own))

    def value(self, x: Array) -> Array:
        """Return any number."""
        return np.asarray(self._rng.uniform(1.0, 2.0))

    def hess(self, x: Array) -> Array:
        """Return any curvature."""
        return np.diag(self._rng.uniform(1.0, 2.0, self.dim))

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return any point."""
        return v + self._rng.normal(size=self.dim)

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return any point."""
        return v + self._rng.normal(size=self.dim)

    def with_affine(self, affine: Array) -> Follower:
        """Return the same cost, said to have another α."""
        other = copy(self)
        other.affine = np.asarray(affine, dtype=np.float64)
        return other

    @property
    def smoothness(self) -> Array:
        """Any number."""
        return np.asarray(self._rng.uniform(1.0, 2.0))

    @property
    def strong_convexity(self) -> Array:
        """Any number."""
        return np.asarray(self._rng.uniform(0.5, 1.0))

    @property
    def penalty(self) -> Array:
        """Any penalty."""
        return self._rng.uniform(0.0, 1.0, 2 * self.dim)

    @property
    def limits(self) -> Array:
        """No limits."""
        return np.repeat([-np.inf, np.inf], self.dim)

    def sum(self, v: Numbers, add: Callable[[Numbers, Numbers], Numbers] = np.add) -> Numbers:
        """Return the next total; after the last, keep what is to be added up."""
        if not self._totals:
            self.summands = np.asarray(v, dtype=np.float64).copy()
            raise Enough
        total = self._totals.pop(0)
        if total.shape != v.shape:
            raise Opaque("what was added up is not what the algorithm adds up")
        return np.asarray(total, dtype=v.dtype)

    def mix(self, x: Array) -> NoReturn:
        """Stop: this is gossip."""
        raise Enough

    gather = mix

    def swap(
        self, r: Numbers, *, more: bool = False, only: Rows | None = None, known: Numbers | None = None
    ) -> NoReturn:
        """Stop: this is gossip."""
        raise Enough

    def total(self, r: Numbers) -> Numbers:
        """Return the sum of the own rows."""
        return r.sum(axis=0)


def _follow(
    algorithm: Algorithm, start: Array, totals: Sequence[Array], gradients: Array | None, *, seed: int
) -> Follower:
    """Run the algorithm up to the sum after these totals."""
    followed = Follower(len(start), totals, gradients, seed)
    run_until_enough(
        algorithm, start.copy(), followed, followed,
        rounds=len(totals) + 2, where="on costs that answer as they like",
    )  # fmt: skip
    return followed
