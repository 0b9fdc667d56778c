"""Gaussian masks on a lattice, from cryptographic bits.

    z = ± Φ⁻¹(u/2),  u a 63-bit uniform          one 64-bit word each
    r = rint(2³⁰ z s)·2ᵏ + U[0, 2ᵏ)              in lattice steps, s = σ / 2^⌈log₂ σ⌉

A float64 cannot hold a Gaussian on a lattice of 46 bits below σ: rounding z·2⁴⁶ at once leaves a
parity bias far out. So the upper 30 bits come from the rounded Gaussian and the k bits below them
from the uniform distribution, which the density is flat enough for.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from tacit.lattice import Lattice
from tacit.masks.randomness import Source
from tacit.typing import Array

_UPPER = 30
_BLOCK = 1 << 14  # numbers worked on at a time, so that they stay in the cache


def draw(source: Source, shape: tuple[int, ...], lattice: Lattice, scales: Array | None = None) -> Array:
    """Return r ~ N(0, σ²), independent, each a multiple of the lattice's step; *scales* multiply σ one by one."""
    count = int(np.prod(shape))
    words = source.words(count)
    lower_bits = max(lattice.bits - _UPPER, 0)
    lower = source.shorts(count) if lower_bits else None
    scale = np.ldexp(lattice.sigma, -lattice.exponent - lower_bits)  # σ in units of 2ᵏ steps
    each = None if scales is None else np.broadcast_to(scales, shape).ravel()
    r = np.empty(count)
    for start in range(0, count, _BLOCK):
        block = slice(start, start + _BLOCK)
        z = r[block]
        w = words[block]
        np.multiply(w >> np.uint64(1), 2.0**-64, out=z)
        z += 2.0**-65
        ndtri(z, out=z)
        z.view(np.uint64)[:] ^= w << np.uint64(63)  # z ≤ 0 gets its sign from the lowest bit
        z *= -scale
        if each is not None:
            z *= each[block]
        np.rint(z, out=z)
        if lower is not None:
            z *= 2.0**lower_bits
            z += lower[block] & np.uint16((1 << lower_bits) - 1)
        z *= lattice.step
    return r.reshape(shape)
