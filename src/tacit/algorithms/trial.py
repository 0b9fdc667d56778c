"""Points that all agents try together, by one sum each."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from tacit.algorithms.along import along
from tacit.algorithms.directions import Sight
from tacit.costs import pack, packed_size
from tacit.costs.pieces import RowWise, hessian_in_pieces
from tacit.errors import AlgorithmError, RangeError
from tacit.typing import Array, Cost, Peers

_PIECE = 1 << 19  # numbers of a simulation's sum that exist at a time
_MISSES = 30  # points at which a cost explodes before that is an error and no accident


class Attempt(Protocol):
    """The part of a state that says what was tried before."""

    @property
    def value(self) -> Array:
        """The sum of all costs at the best point so far; infinite before anything was tried."""

    @property
    def misses(self) -> Array:
        """How many points were tried at which some cost exploded."""


def tried(summands: Array, peers: Peers, state: Attempt) -> Array | None:
    """Return the sum over all agents; None where a cost explodes at a point that was only an attempt."""
    first, last = bool(np.isinf(state.value)), state.misses >= _MISSES
    try:
        total = peers.sum(summands)
    except RangeError:
        if first or last:
            raise
        return None
    if np.isfinite(total).all():
        return total
    if first:
        raise AlgorithmError("the costs have no finite sum at the starting point; start elsewhere, x0=….")
    return None


def value(x: Array, cost: Cost) -> Array:
    """Return h(x) as one more entry of what an agent tells, (..., 1)."""
    return np.broadcast_to(cost.value(x)[..., None], (*cost.affine.shape[:-1], 1))


def model(x: Array, cost: Cost, sight: Sight) -> list[Array]:
    """Return the gradient and the upper triangle of the Hessian, both in the basis of *sight*."""
    if sight.is_plain:
        return [cost.grad(x), hessian(x, cost)]
    shape, B = cost.affine.shape[:-1], sight.B
    sides = along(cost)
    H = pack(sides.hess_along(x, B))
    return [sides.grad_along(x, B), np.broadcast_to(H, (*shape, H.shape[-1]))]


def hessian(x: Array, cost: Cost) -> Array:
    """Return the upper triangle of ∇²h(x), (..., m(m + 1)/2); for many agents and unknowns in pieces."""
    many = cost.affine.ndim == 2 and len(cost.affine) * packed_size(cost.dim) > _PIECE
    if many and isinstance(cost, RowWise):
        whole: Any = hessian_in_pieces(x, cost, most=_PIECE)
        return cast(Array, whole)  # joined with others by np.concatenate, it stays in pieces
    return np.broadcast_to(pack(cost.hess(x)), (*cost.affine.shape[:-1], packed_size(cost.dim)))
