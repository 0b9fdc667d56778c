"""Homomorphic encryption: partial sums go up a tree encrypted, and one agent holds the key.

    c_i = Enc(v_i),   Enc(u)·Enc(v) = Enc(u + v)        everybody can add, the key holder can read

Whoever holds the key, or colludes with who does, opens whatever reaches it. Paillier, EUROCRYPT 1999, by
python-paillier (integers; several numbers in one ciphertext); CKKS (Cheon, Kim, Kim, Song, ASIACRYPT 2017) by
TenSEAL (approximate).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.summing import key_holder_among, misfit, missing_package, summed
from tacit.runtimes.traffic import Traffic
from tacit.solving import Problem
from tacit.typing import Array

_FRACTION, _SLOT = 40, 112  # bits after the point, and of a number with room for the sum
_SLOTS = 2048 // _SLOT - 1


class PaillierAdder:
    """Sums under one Paillier key of 2048 bits."""

    def __init__(self) -> None:
        from phe import paillier

        self._public, self._private = paillier.generate_paillier_keypair(n_length=2048)
        self.traffic = Traffic()
        self.resolution = 0.0

    def add_up(self, vectors: Array) -> Array:
        """Encrypt every agent's numbers, multiply the ciphertexts, and let the key holder open the product."""
        n, width = vectors.shape
        pieces = range(0, width, _SLOTS)
        square = self._public.nsquare
        totals: list[int] = []
        for first in pieces:
            texts = [self._public.raw_encrypt(_packed(row[first : first + _SLOTS])) for row in vectors]
            opened = self._private.raw_decrypt(reduce(lambda a, b: a * b % square, texts))
            totals += _unpacked(opened, min(_SLOTS, width - first), n)
        size = len(pieces) * square.bit_length() // 8
        self.traffic.count(messages=2 * (n - 1), bytes=(n - 1) * (size + 8 * width), exchanges=2)
        return np.array(totals, dtype=object).astype(np.float64) / 2.0**_FRACTION


def _packed(numbers: Array) -> int:
    """Return numbers side by side in one integer; each is moved up by half a slot's range, to be positive."""
    half = 1 << (_SLOT - 16)
    return sum((round(float(x) * 2.0**_FRACTION) + half) << (_SLOT * k) for k, x in enumerate(numbers))


def _unpacked(total: int, count: int, agents: int) -> list[int]:
    half, slot = 1 << (_SLOT - 16), (1 << _SLOT) - 1
    return [((total >> (_SLOT * k)) & slot) - agents * half for k in range(count)]


class CkksAdder:
    """Sums under one CKKS key: polynomials of degree 8192, 40 bits of scale."""

    def __init__(self) -> None:
        import tenseal

        self._tenseal: Any = tenseal
        self._context = tenseal.context(
            tenseal.SCHEME_TYPE.CKKS, poly_modulus_degree=8192, coeff_mod_bit_sizes=[60, 40, 60]
        )
        self._context.global_scale = 2.0**40
        self.traffic = Traffic()
        self.resolution = 0.0

    def add_up(self, vectors: Array) -> Array:
        """Encrypt every agent's numbers, add the ciphertexts, and let the key holder open the sum."""
        n, width = vectors.shape
        texts = [self._tenseal.ckks_vector(self._context, row.tolist()) for row in vectors]
        size = len(texts[0].serialize())
        total = reduce(lambda a, b: a + b, texts)
        self.traffic.count(messages=2 * (n - 1), bytes=(n - 1) * (size + 8 * width), exchanges=2)
        return np.asarray(total.decrypt(), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Homomorphic:
    """One key, held by one agent; *package* says which library encrypts."""

    package: str = "phe"
    name: str = "homomorphic, Paillier"
    source: str = "python-paillier"
    assumes: str = "a key holder whom all trust; bounded computers; a tree of any graph"

    def misses(self, problem: Problem) -> str | None:
        """Return what to install, or why no sums solve the problem."""
        return missing_package(self.package, "compare") or misfit(problem)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Add up under encryption; of the two who collude one holds the key."""
        holder = key_holder_among(problem, listeners.coalitions)
        paillier = self.package == "phe"

        def pledge(who: Sequence[int]) -> Pledge:
            if holder in who:
                return Pledge("none", "none: one of these two holds the key.")
            return Pledge(
                "the sums alone",
                "others' numbers stay encrypted for whoever neither breaks the cipher nor meets the key holder.",
            )

        return summed(
            problem, PaillierAdder() if paillier else CkksAdder(), listeners,
            how="2048 bits" if paillier else "CKKS, 8192", key_holder=holder,
            tolerance=1e-9 if paillier else 1e-6, pledge=pledge,
        )  # fmt: skip
