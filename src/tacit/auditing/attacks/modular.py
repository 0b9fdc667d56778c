"""Numbers modulo 2⁶⁴, or modulo 2¹²⁸ in pairs of words (low, high) along the last axis: plus and minus."""

from __future__ import annotations

import numpy as np

from tacit.typing import Array, Words


def plus(a: Words, b: Words, words: int) -> Words:
    """Return a + b."""
    if words == 1:
        return a + b
    out = a + b
    out[..., 1::2] += out[..., 0::2] < a[..., 0::2]  # the carry
    return out


def minus(a: Words, b: Words, words: int) -> Words:
    """Return a − b."""
    if words == 1:
        return a - b
    out = a - b
    out[..., 1::2] -= a[..., 0::2] < b[..., 0::2]
    return out


def total(rows: Words, words: int) -> Words:
    """Return the sum over the rows."""
    out = np.zeros(rows.shape[1:], dtype=np.uint64)
    for row in rows:
        out = plus(out, row, words)
    return out


def as_numbers(a: Words, words: int) -> Array:
    """Return what words say, the upper half as negative numbers."""
    if words == 1:
        return a.view(np.int64).astype(np.float64)
    return a[..., 1::2].astype(np.int64).astype(np.float64) * 2.0**64 + a[..., 0::2].astype(np.float64)


def parts(a: Words, words: int) -> list[Words]:
    """Return the words of every place: the low ones, and the high ones where there are two."""
    return [np.ascontiguousarray(a[..., k::words]) for k in range(words)]
