"""Symmetric matrices as vectors: the upper triangle, row by row.

pack     (..., m, m) → (..., m(m + 1)/2)
unpack   and back
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array


def packed_size(dim: int) -> int:
    """Return m(m + 1)/2."""
    return dim * (dim + 1) // 2


def pack(S: Array) -> Array:
    """Return the upper triangle."""
    rows, columns, _ = _places(S.shape[-1])
    return S[..., rows, columns]


def unpack(v: Array, dim: int) -> Array:
    """Return the symmetric matrix, equal to the last bit on both sides of its diagonal."""
    return v[..., _places(dim)[2]]


@lru_cache(maxsize=8)
def _places(dim: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    rows, columns = np.triu_indices(dim)
    where = np.empty((dim, dim), dtype=np.intp)
    where[rows, columns] = where[columns, rows] = np.arange(len(rows))
    return rows, columns, where
