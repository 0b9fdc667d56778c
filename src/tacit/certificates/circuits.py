"""Rows of which none is independent of the others, and rows that all are: told by one inverse, where it is plain.

A row stands alone in A if no combination of the other rows gives it: its leverage is 1, and Aᵀy tells its y
(`tacit.certificates.determined`). Two sentences make the search for such rows short:

    z ⊥ the columns of A           1 − leverage of row r ≥ z_r² / |z|²: with z_r ≠ 0 it does not stand alone
    S spans everything, and        then no row of any H ⊃ S stands alone in H: a row of S depends on others of S,
    no row stands alone in S       and one outside is a combination of S

So a few rows answer for all. z is what a regression of anything on A leaves. Without the rows of a block b it is,
with one inverse for all blocks (Woodbury), G = AᵀA and the residuals e of w,

    z = e + A G⁻¹ A_bᵀ (I − A_b G⁻¹ A_bᵀ)⁻¹ e_b

A row a outside S has leverage q / (1 + q) beside S, q = aᵀ G⁻¹ a ≤ |a|² tr G⁻¹.

The answers are yes, and "not plainly so": then singular values decide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array

_SHARE = 1e-7
"""Of z_r² in |z|²: ten times what separates a leverage from 1."""
_CONDITION, _LOSS = 1e7, 1e3
"""What inverses may lose of sixteen digits: for all rows, and for all but a block."""
_FITS = 4
"""Residuals that are looked at: an entry that is small by chance in one of them is not in all."""


def intertwined(A: Array, blocks: NDArray[np.intp], largest: Array) -> bool:
    """Tell whether, plainly, no row stands alone in A without any one of *blocks*, nor where more rows join these.

    *blocks* are rows of A, (blocks, rows of each); rows of zeros may fill them up. Rows that join have entries of
    at most *largest*, column by column.
    """
    scale = np.sqrt((A**2).sum(axis=0))
    if len(A) <= A.shape[1] or not scale.all():
        return False
    A, distant = A / scale, float(((largest / scale) ** 2).sum())
    inverse = _inverse(A.T @ A, _CONDITION)
    if inverse is None:
        return False
    counts = np.asarray(A.any(axis=1))
    w = (np.random.default_rng(0).random((len(A), _FITS)) - 0.5) * counts[:, None]
    e = w - A @ (inverse @ (A.T @ w))
    inside, B = A[blocks], A[blocks] @ inverse  # (blocks, rows, m)
    left = _inverse(np.eye(blocks.shape[1]) - B @ inside.mT, _CONDITION)
    if left is None or left.max(initial=0.0) > _LOSS:
        return False
    spread = np.trace(inverse) + (left * (B @ B.mT)).sum(axis=(1, 2))  # tr G⁻¹ without each block
    z = e + A @ (B.mT @ (left @ e[blocks]))  # (blocks, N, fits)
    np.put_along_axis(z, blocks[:, :, None], 0.0, axis=1)
    share = (z**2 / (z**2).sum(axis=1, keepdims=True)).max(axis=2)
    np.put_along_axis(share, blocks, 1.0, axis=1)
    return bool(spread.max() * distant * _SHARE < 1.0 and (share[:, counts] > _SHARE).all())


def independent(A: Array, precision: float) -> bool:
    """Tell whether, plainly, every row stands alone: the smallest singular value is far above *precision*."""
    scale = np.sqrt((A**2).sum(axis=0))
    A = A[:, scale > 0] / scale[scale > 0]
    if not len(A) or len(A) > A.shape[1]:
        return False
    inverse = _inverse(A @ A.T, _CONDITION)
    return inverse is not None and float(np.trace(inverse) * (A**2).sum()) * 4.0 * precision**2 < 1.0


def _inverse(G: Array, most: float) -> Array | None:
    """Return the inverses of symmetric matrices, unless one has a condition of more than about *most*."""
    try:
        inverse = np.linalg.inv(G)
    except np.linalg.LinAlgError:
        return None
    sizes = np.trace(G, axis1=-2, axis2=-1) * np.trace(inverse, axis1=-2, axis2=-1) / max(G.shape[-1], 1)
    positive = (np.diagonal(inverse, axis1=-2, axis2=-1) > 0).all()
    return np.asarray(inverse) if positive and (sizes < most).all() else None
