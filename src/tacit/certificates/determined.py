"""One rank test: what a set of told numbers determines of the hidden ones.

    T(ϑ)          everything that is told exactly, whatever the masks
    J = ∂T/∂ϑ     one row per told number, one column per hidden number

A combination vᵀϑ is told if and only if v lies in the row space of J. So a single hidden number is told iff its
unit vector lies there, all numbers of a block iff every vector of ker J vanishes on it, and a combination of one
block's numbers alone iff some vector of the row space is zero outside the block. With V an orthonormal basis of the
row space, |V e_k|² is the share of the k-th number that is told (its leverage), and the singular values of V on a
block are the cosines between that block and the row space: 1 where a combination is told.

The test serves labels that follow from an answer, sums over the pieces of a cut, histories in a ledger (a column
for every agent and version of its cost), sums at the points that a run has passed, and flows on lines. Where T is
analytic, its rank is the same at all points but a set of measure zero, on which some minors vanish: J at invented
numbers of the same shape says what it would say at the true ones.

Precision. Told numbers are known to so many digits: rows are brought to unit length, and directions in which all of
them together change by less than *precision* count as not told. Give hidden numbers in comparable units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import InputError
from tacit.typing import Array

PRECISION = 1e-9
"""Of told numbers, relative: what is left of a float64 after a long sum."""
_IN_SPAN = 1e-8
"""A squared cosine this near to 1 is 1: a hidden number that moves by less than 1e-4 while all others are free."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The combinations of hidden numbers that are told: a linear space, by an orthonormal basis."""

    space: Array = field(repr=False)
    """Orthonormal rows, (rank, unknowns)."""

    @property
    def unknowns(self) -> int:
        """How many numbers are hidden."""
        return int(self.space.shape[1])

    @property
    def rank(self) -> int:
        """How many independent combinations of them are told."""
        return int(self.space.shape[0])

    @property
    def free(self) -> int:
        """How many numbers it would still take to tell everything: the dimension of ker J."""
        return self.unknowns - self.rank

    @property
    def leverage(self) -> Array:
        """Of every hidden number, the share that is told, between 0 and 1; they add up to the rank."""
        return np.asarray((self.space**2).sum(axis=0))

    @property
    def singles(self) -> NDArray[np.bool_]:
        """Tell of every hidden number whether it is told by itself."""
        return whole(self.leverage)

    def determines(self, columns: Sequence[int] | NDArray[np.intp]) -> bool:
        """Tell whether every number of this block is told. (An empty block hides nothing, and is.)"""
        return bool(self.singles[np.asarray(columns, dtype=np.intp)].all())

    def own(self, columns: Sequence[int] | NDArray[np.intp]) -> Array:
        """Return the combinations of this block alone that are told: orthonormal rows, (count, len(columns)).

        Two sums that differ in one agent's number, or in how it changed, tell such a combination.
        """
        inside = self.space[:, np.asarray(columns, dtype=np.intp)]
        _, cosines, directions = np.linalg.svd(inside, full_matrices=False)
        return np.asarray(directions[cosines**2 > 1.0 - _IN_SPAN])

    def leverage_given(self, columns: Sequence[int] | NDArray[np.intp]) -> Array:
        """Return the leverage for somebody who knows the numbers of *columns*, without a new decomposition.

        With H = VᵀV and known numbers c:  H_kk + H_kc (I − H_cc)⁺ H_ck, and 1 for the known ones.
        """
        known = np.asarray(columns, dtype=np.intp)
        inside = self.space[:, known]
        values, vectors = np.linalg.eigh(np.eye(len(known)) - inside.T @ inside)
        open_ = values > _IN_SPAN  # the others are told anyway, and shared with nobody
        cross = self.space.T @ inside @ vectors[:, open_]
        share = self.leverage + (cross**2 / values[open_]).sum(axis=1)
        share[known] = 1.0
        return np.asarray(share)

    def given(self, columns: Sequence[int] | NDArray[np.intp]) -> Knowledge:
        """Return what is told to somebody who knows the numbers of *columns* already, a coalition its own."""
        known = np.unique(np.asarray(columns, dtype=np.intp))
        rest = np.setdiff1d(np.arange(self.unknowns), known)
        more = np.zeros((len(known), self.unknowns))
        more[np.arange(len(known)), known] = 1.0
        left = _orthonormal(self.space[:, rest], _IN_SPAN**0.5)
        wide = np.zeros((len(left), self.unknowns))
        wide[:, rest] = left
        return Knowledge(np.concatenate([more, wide]))


def knowledge(rows: ArrayLike, *, precision: float = PRECISION) -> Knowledge:
    """Return what the *rows* of J tell: one row per told number, one column per hidden number.

    Two sums over three agents that differ in the third tell its number, and the sum of the other two:

    >>> pair = knowledge([[1, 1, 1], [1, 1, 0]])
    >>> pair.rank, pair.free, pair.singles.tolist()
    (2, 1, [False, False, True])
    >>> pair.determines([0, 1]), len(pair.own([0, 1]))
    (False, 1)
    >>> pair.given([0]).singles.tolist()
    [True, True, True]
    """
    J = np.asarray(rows, dtype=np.float64)
    if J.ndim != 2 or not np.isfinite(J).all():
        raise InputError(
            "what is told must be a matrix of finite numbers: a row per told number, a column per hidden."
        )
    if not 0.0 <= precision < 1.0:
        raise InputError(f"precision = {precision:g} must be the relative one of the told numbers, below 1.")
    length = np.linalg.norm(J, axis=1)
    return Knowledge(_orthonormal(J[length > 0] / length[length > 0, None], precision))


def whole(leverage: Array) -> NDArray[np.bool_]:
    """Tell of every share whether it is all of a number."""
    return np.asarray(leverage > 1.0 - _IN_SPAN)


def _orthonormal(rows: Array, precision: float) -> Array:
    """Return an orthonormal basis of the space of *rows*, less what is below *precision* of the largest."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    least = max(precision, max(rows.shape) * float(np.finfo(float).eps))
    return np.asarray(directions[sizes > least * sizes[0]])
