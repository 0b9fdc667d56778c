"""What all agents tell in one sum, made piece by piece: it never exists all at once.

    (n, N)   one row per agent, in pieces along the columns

In a simulation of n agents a sum of Hessians is n·m(m + 1)/2 numbers, gigabytes beside data of megabytes. Masks are
drawn, and rows added up, column by column anyway: so the columns are made when they are needed, and dropped. To
NumPy a `Pieces` is an array: joined with others it stays in pieces, and anything else makes it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array


@runtime_checkable
class RowWise(Protocol):
    """Costs of many agents that give their Hessians some rows at a time."""

    @property
    def affine(self) -> Array:
        """Return α, (n, m)."""

    @property
    def dim(self) -> int:
        """Return m."""

    def hess_rows(self, x: Array, start: int, stop: int) -> Array:
        """Return these rows of every agent's Hessian at x, (n, stop − start, m)."""


class Piece(NamedTuple):
    """Some columns: how many, and what makes them."""

    width: int
    make: Callable[[], NDArray[Any]]


class Pieces:
    """Numbers or words of many agents, (n, N)."""

    ndim = 2

    def __init__(self, agents: int, pieces: Sequence[Piece], dtype: Any = np.float64) -> None:
        self._pieces, self.dtype = tuple(pieces), np.dtype(dtype)
        self.shape = (agents, sum(piece.width for piece in self._pieces))

    @property
    def nbytes(self) -> int:
        """What all of it would take."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @property
    def widths(self) -> list[int]:
        """How many columns every piece has."""
        return [piece.width for piece in self._pieces]

    def pieces(self) -> Iterator[NDArray[Any]]:
        """Make one piece after the other, each (n, width)."""
        for piece in self._pieces:
            yield piece.make()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Make all of it."""
        return np.concatenate(list(self.pieces()), axis=-1).astype(dtype or self.dtype, copy=False)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Stay in pieces where columns are put side by side; be an array otherwise."""
        if function is np.concatenate and kwargs.get("axis") == -1 and set(kwargs) == {"axis"}:
            pieces = [piece for part in args[0] for piece in _pieces_of(part)]
            return Pieces(self.shape[0], pieces, self.dtype)
        return function(*(_whole(arg) for arg in args), **{name: _whole(arg) for name, arg in kwargs.items()})

    def sum(self, axis: int) -> NDArray[Any]:
        """Return the sum over the agents piece by piece; along another axis, of all of it."""
        if axis != 0:
            return np.asarray(np.asarray(self).sum(axis=axis))
        return np.concatenate([piece.sum(axis=0) for piece in self.pieces()])

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __len__(self) -> int:
        return self.shape[0]


def hessian_in_pieces(x: Array, cost: RowWise, *, most: int) -> Pieces:
    """Return the upper triangles of all agents' Hessians at x, some rows at a time: about *most* numbers."""
    n, m = cost.affine.shape
    rows = max(1, most // (n * m))
    return Pieces(n, [_some_rows(x, cost, start, min(start + rows, m)) for start in range(0, m, rows)])


def _some_rows(x: Array, cost: RowWise, start: int, stop: int) -> Piece:
    def make() -> Array:
        block = np.broadcast_to(cost.hess_rows(x, start, stop), (len(cost.affine), stop - start, cost.dim))
        return np.concatenate([block[:, j - start, j:] for j in range(start, stop)], axis=-1)

    return Piece(sum(cost.dim - j for j in range(start, stop)), make)


def _pieces_of(part: Any) -> tuple[Piece, ...]:
    if isinstance(part, Pieces):
        return part._pieces
    return (Piece(part.shape[-1], lambda: np.asarray(part)),)


def _whole(part: Any) -> Any:
    if isinstance(part, list | tuple):
        return type(part)(_whole(each) for each in part)
    return np.asarray(part) if isinstance(part, Pieces) else part
