"""Gaussian masks on a lattice, from cryptographic bits.

    z = ± Φ⁻¹(u/2),  u a 63-bit uniform          one 64-bit word each
    r = rint(2³⁰ z s)·2ᵏ + U[0, 2ᵏ)              in lattice steps, s = σ / 2^⌈log₂ σ⌉

A float64 cannot hold a Gaussian on a lattice of 46 bits below σ: rounding z·2⁴⁶ at once leaves a
parity bias far out. So the upper 30 bits come from the rounded Gaussian and the k bits below them
from the uniform distribution, which the density is flat enough for.

What a neighbour sends is judged before it is added. A number beyond all that anybody draws would round the own
masks and coefficients away, each by itself: of θ + a it would leave θ to the nearest multiple of something, without
a mask. A number beside the lattice would do so with low-order bits. Within both limits, whatever is sent, sums are
exact, and a liar adds something that it knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import ProtocolError
from tacit.later import later
from tacit.lattice import Lattice
from tacit.masks.randomness import Source
from tacit.typing import Array, Peers

if TYPE_CHECKING:
    from scipy import special
else:
    special = later("scipy.special")

_UPPER = 30
_FARTHEST = 20.0  # σ between what came and what went: two draws of 9.1 σ at most
_BLOCK = 1 << 14  # numbers worked on at a time, so that they stay in the cache
_TOGETHER, _NARROWEST = 1 << 18, 64  # numbers judged at a time, and numbers of each link at least


def draw(source: Source, shape: tuple[int, ...], lattice: Lattice, scales: Array | None = None) -> Array:
    """Return r ~ N(0, σ²), independent, each a multiple of the lattice's step; *scales* multiply σ one by one."""
    count = int(np.prod(shape))
    words = source.words(count)
    lower_bits = max(lattice.bits - _UPPER, 0)
    lower = source.shorts(count) if lower_bits else None
    scale = np.ldexp(lattice.sigma, -lattice.exponent - lower_bits)  # σ in units of 2ᵏ steps
    each = None if scales is None else np.broadcast_to(scales, shape).ravel()
    r = words.view(np.float64) if words.dtype.isnative else np.empty(count)  # where the words were
    for start in range(0, count, _BLOCK):
        block = slice(start, start + _BLOCK)
        z = r[block]
        w = words[block].copy()
        np.multiply(w >> np.uint64(1), 2.0**-64, out=z)
        z += 2.0**-65
        special.ndtri(z, out=z)
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


def refuse_undrawn(terms: Array, peers: Peers, lattice: Lattice) -> None:
    """Refuse what came less what went, a row for every link, where nobody who draws as agreed could send that."""
    width = max(_NARROWEST, _TOGETHER // len(terms))  # of what is looked at at a time
    for start in range(0, terms.shape[-1], width):
        some = terms[:, start : start + width]
        steps, sizes = np.ldexp(some, -lattice.exponent), np.abs(some)
        drawn = (sizes <= _FARTHEST * lattice.sigma) & (steps == np.rint(steps))
        if not drawn.all():
            row = int(np.flatnonzero(~drawn.all(axis=-1))[0])
            raise ProtocolError(
                "sent a random term that nobody draws: beside the lattice, or far too large.", row=row
            )
        if not (peers.total(sizes) + lattice.bound <= lattice.reach).all():
            row = int(sizes.max(axis=-1).argmax())
            raise ProtocolError("sent the largest of random terms that are too large together.", row=row)
