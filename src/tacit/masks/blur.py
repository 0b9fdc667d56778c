"""Noise for costs whose parts do not come apart exactly.

A callable computes ∇h(x) = ∇φ(x) + α in one go, and ∇φ(x) = ∇h(x) − ∇h(x₀) inherits a rounding error that depends
on α. Added to α̃ = α + a it would tell α by its low-order bits, whatever σ is: a deterministic rounding only makes
that rarer. So what such a cost computes is rounded to the lattice *with* a secret Gaussian noise of

    τ = 2¹⁰ steps,   drawn from a key of the agent's own for this run, and from the point

The same point has the same noise: nothing is averaged by asking again, and a restarted agent goes on bit for bit.
N numbers whose errors depend on α by at most e are then as hard to tell apart as N(0, 1) and N(√N·e/τ, 1).
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.costs import CostStack, Family
from tacit.later import later
from tacit.lattice import Lattice
from tacit.masks.randomness import Keystream, Source
from tacit.typing import Array, Peers, Words

if TYPE_CHECKING:
    from scipy import special
else:
    special = later("scipy.special")

STEPS = 2.0**10
_WORDS = 4  # of a key


class Blur:
    """One key per agent, and the noise that follows from it. Nothing shows the keys."""

    def __init__(self, keys: list[bytes | None], lattice: Lattice) -> None:
        self._keys, self._lattice = keys, lattice

    @classmethod
    def drawn(cls, inexact: NDArray[np.bool_], source: Source, peers: Peers, lattice: Lattice) -> Blur:
        """Draw a key for every agent whose cost is *inexact*; all agents draw, so that streams stay in step."""
        words: Words = source.words(peers.links * _WORDS).reshape(peers.links, _WORDS)
        degrees = np.broadcast_to(np.ravel(peers.degree), inexact.shape).astype(np.intp)
        first = np.cumsum(degrees) - degrees  # the first of every agent's links
        rows = zip(first, inexact, strict=True)
        return cls([words[k].tobytes() if needed else None for k, needed in rows], lattice)

    def noise(self, what: bytes, x: Array, *more: Array | float) -> Array:
        """Return τ·N(0, 1) for every entry of x, by key, question and point; zero for agents without a key."""
        rows = np.broadcast_to(x, (len(self._keys), x.shape[-1]))
        out = np.zeros(rows.shape)
        weights = [np.broadcast_to(np.ravel(value), (len(rows),)) for value in more]
        for i, key in enumerate(self._keys):
            if key is not None:
                asked = [rows[i], *(weight[i] for weight in weights)]
                text = what + b"".join(np.asarray(part, dtype="<f8").tobytes() for part in asked)
                stream = Keystream(blake2b(text, key=key, digest_size=32).digest())
                out[i] = special.ndtri((stream.words(rows.shape[-1]) >> np.uint64(11)) * 2.0**-53 + 2.0**-54)
        return STEPS * self._lattice.step * out

    def rounded(self, values: Array) -> Array:
        """Return the lattice points next to *values*, for agents with a key."""
        on = np.ldexp(np.rint(np.ldexp(values, -self._lattice.exponent)), self._lattice.exponent)
        return np.where(np.array([key is not None for key in self._keys])[:, None], on, values)

    def __repr__(self) -> str:
        return "Blur(…)"


class Blurred:
    """An effective `Cost`, of one agent or of many, whose answers carry that noise."""

    def __init__(self, cost: Family | CostStack, blur: Blur) -> None:
        self._cost, self._blur = cost, blur
        self.dim, self.is_rough = cost.dim, cost.is_rough
        self.smoothness, self.strong_convexity = cost.smoothness, cost.strong_convexity
        self.hess, self.hess_along, self.rough_prox = cost.hess, cost.hess_along, cost.rough_prox

    @property
    def affine(self) -> Array:
        """α̃."""
        return self._cost.affine

    @property
    def penalty(self) -> Array:
        """As it is: it is not hidden."""
        return self._cost.penalty

    @property
    def limits(self) -> Array:
        """As they are."""
        return self._cost.limits

    def grad(self, x: Array) -> Array:
        """Return ∇φ(x) + α̃, with noise, on the lattice."""
        clean = self._cost.grad(x)
        return self._blur.rounded(clean + self._shaped(self._blur.noise(b"grad", x), clean)).reshape(clean.shape)

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return Bᵀ(∇φ(x) + α̃), of the gradient with its noise."""
        return np.asarray(self.grad(x) @ B)

    @property
    def factored(self) -> Any:
        """As it is."""
        return self._cost.factored

    @property
    def lowest(self) -> Array:
        """As it is, from public knowledge."""
        return self._cost.lowest

    def value(self, x: Array) -> Array:
        """Return h(x), with noise that grows with x as that of the gradient does along a path."""
        clean = self._cost.value(x)
        size = 1.0 + np.abs(x).max(axis=-1)
        return clean + self._shaped(self._blur.noise(b"value", x)[:, 0], clean) * size

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return the proximal point, where the gradient's noise would move it."""
        clean = self._cost.prox(v, t)
        return clean + t * self._shaped(self._blur.noise(b"prox", v, t), clean)

    def with_affine(self, affine: Array) -> Blurred:
        """Return the same cost with another α, and the same noise."""
        return Blurred(self._cost.with_affine(affine), self._blur)

    @staticmethod
    def _shaped(noise: Array, like: Any) -> Array:
        return noise.reshape(np.shape(like))

    def __repr__(self) -> str:
        return f"Blurred({self._cost!r})"
