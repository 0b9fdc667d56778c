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

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array

_SHARE = 1e-7
"""Of z_r² in |z|²: ten times what separates a leverage from 1."""
_CONDITION, _LOSS = 1e7, 1e3
"""What inverses may lose of sixteen digits: for all rows, and for all but a block."""
_MOST = 1e10
"""The condition up to which rows are plainly independent."""
_RIDGE = 1e-12
"""Added to what is inverted: it makes every matrix invertible, and moves no z that counts by more than 1e-5."""
_LEFT = 1e-4
"""Of |w|² in |z|²: what is less may be rounding, and says nothing."""
_FITS = 2
"""Residuals that are looked at: an entry that is small by chance in one of them is not in all."""


def closed(tables: Array, largest: Array, *, repeated: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Tell of each table whether, plainly, it spans everything and no row stands alone in it, (tables,).

    *tables* are (tables, rows, m), where rows of zeros fill up the short ones. The same holds where more rows join
    them, with entries of at most *largest*, column by column. Rows that are *repeated*, (tables, rows), are here
    once, and do not stand alone.
    """
    scale = np.sqrt(np.einsum("krm,krm->km", tables, tables))
    spans = scale.all(axis=1)
    if not spans.all():
        rest = None if repeated is None else repeated[spans]
        spans[spans] = closed(tables[spans], largest, repeated=rest) if spans.any() else False
        return spans
    A = tables / scale[:, None]
    w = _numbers(A.shape[1])
    inverse, spread = _inverse(A)
    distant = ((largest / scale) ** 2).sum(axis=1)
    plain = (spread < _CONDITION) & (spread * distant * _SHARE < 1.0)
    depends = _depend(w - A @ (inverse @ (A.mT @ w)), w)
    if repeated is not None:
        depends |= repeated
    return np.asarray(plain & depends.all(axis=1))


def closed_without_any(groups: Array, largest: Array) -> bool:
    """Tell whether, plainly, these rows without any one group span everything, and no row stands alone in them.

    *groups* are (groups, rows, m), filled up like tables; rows that may join have entries of at most *largest*.
    """
    k, rows, m = groups.shape
    scale = np.sqrt((groups**2).sum(axis=(0, 1)))
    if not scale.all():
        return False
    A = groups / scale
    flat = A.reshape(-1, m)
    inverse, trace = _inverse(flat)
    if trace >= _CONDITION:
        return False
    w = _numbers(k * rows).reshape(k, rows, -1)
    x = inverse @ np.einsum("krm,krf->mf", A, w)
    B, e = A @ inverse, w - A @ x
    rest = np.eye(rows) - B @ A.mT
    left = np.linalg.inv(rest + _RIDGE * np.eye(rows))
    if not (np.abs(left) < _LOSS).all():
        return False
    spread = trace + (left * (B @ B.mT)).sum(axis=(1, 2))  # tr G⁻¹ without each group
    z = e.reshape(1, k * rows, -1) + flat @ (B.mT @ (left @ e))  # (groups, all rows, fits)
    z.reshape(k, k, rows, -1)[np.arange(k), np.arange(k)] = 0.0
    depends = _depend(z, w.reshape(k * rows, -1)).reshape(k, k, rows)
    depends[np.arange(k), np.arange(k)] = True
    distant = float(((largest / scale) ** 2).sum())
    return bool((spread * distant * _SHARE < 1.0).all() and depends.all())


def independent(A: Array, precision: float) -> bool:
    """Tell whether, plainly, every row stands alone: the smallest singular value is far above *precision*."""
    scale = np.sqrt((A**2).sum(axis=0))
    A = A[:, scale > 0] / scale[scale > 0]
    if not len(A) or len(A) > A.shape[1]:
        return False
    spread = float(_inverse(A.T)[1]) * float((A**2).sum())
    return spread < min(_MOST, 0.25 / max(precision, 1e-12) ** 2)


def _inverse(A: Array) -> tuple[Array, Array]:
    """Return (AᵀA)⁻¹ and its trace, of every table; the trace is infinite where that is plainly no inverse."""
    G = A.mT @ A
    each = np.arange(G.shape[-1])
    G[..., each, each] += _RIDGE
    inverse = np.asarray(np.linalg.inv(G), dtype=np.float64)
    diagonal = inverse[..., each, each]
    plain = (diagonal > 0).all(axis=-1)
    return inverse, np.asarray(np.where(plain, diagonal.sum(axis=-1), np.inf), dtype=np.float64)


@lru_cache(maxsize=64)
def _numbers(rows: int) -> Array:
    """Return numbers to be explained by rows, (rows, fits); one of zeros is explained by none, and says so."""
    return np.random.default_rng(0).random((rows, _FITS)) - 0.5


def _depend(z: Array, w: Array) -> NDArray[np.bool_]:
    """Tell of which rows z_r² is a share of |z|² in some fit, (..., rows)."""
    squares = z * z
    length = np.maximum(squares.sum(axis=-2, keepdims=True), _LEFT * (w * w).sum(axis=0))
    return np.asarray((squares > _SHARE * length).any(axis=-1))
