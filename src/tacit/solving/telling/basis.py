"""Columns that depend on others, as the categories of a variable beside a constant: as many as do not are a basis.

    A Π = Q R,  (A Π)ᵀ A Π = Rᵀ R        of columns in the order Π those after the rank are combinations R₁⁻¹ R₂

A few rows show that columns are independent, and how they depend on each other; the latter is then asked of all
rows. R is found from products where these leave enough digits, which is quick, and otherwise from the rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array

DEPENDENT = 1e-12
"""Of a column: what may be left of it where it depends on others."""
_PLAIN = 1e-3
"""Of a column: what is left of it where products leave no doubt that it does not."""


def is_definite(G: Array) -> bool:
    """Tell whether, plainly, no column of A depends on others, by G = AᵀA."""
    try:
        return bool((np.diag(np.linalg.cholesky(G)) > 1e-5 * np.sqrt(np.diag(G))).all())
    except np.linalg.LinAlgError:
        return False


def basis(rows: Array, every: Array, largest: Array) -> NDArray[np.intp] | None:
    """Return columns of which all others are combinations; None where these *rows* cannot say it of *every* one.

    No entry of a column exceeds *largest*.
    """
    lengths = np.sqrt((rows**2).sum(axis=0))
    if not lengths.all():
        return None
    from scipy.linalg import solve_triangular  # heavy, and columns seldom depend on each other

    for R, order, rank in _factors(rows / lengths):
        if rank == len(lengths):
            return np.arange(rank)
        kept, gone = order[:rank], order[rank:]
        combination = np.zeros((len(lengths), len(gone)))
        combination[kept] = solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False)
        combination *= -lengths[gone] / lengths[:, None]
        combination[gone, np.arange(len(gone))] = 1.0
        rest = np.abs(every @ combination).max(axis=0)
        if (rest <= DEPENDENT * largest[gone]).all():
            return np.sort(kept)
    return None


def _factors(A: Array) -> Iterator[tuple[Array, NDArray[np.intp], int]]:
    """Return R, the order of the columns and the rank: by products, where they say it, and by rows.

    What is below the diagonal of R does not count.
    """
    from scipy.linalg import lapack, qr

    R, places, rank, _ = lapack.dpstrf(A.T @ A, tol=_PLAIN**3)
    if rank < A.shape[1] and R[rank - 1, rank - 1] > _PLAIN:
        yield R, places - 1, int(rank)
    R, order = qr(A, mode="r", pivoting=True, check_finite=False)
    yield R, order, int((np.abs(np.diag(R)) > DEPENDENT * abs(R[0, 0])).sum())
