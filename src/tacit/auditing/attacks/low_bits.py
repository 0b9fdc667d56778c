"""Low-order bits: which of two worlds could have led to these very floats?

Two honest agents share one mask b, everybody sees z = (α₁ + b, α₂ − b) and knows α₁ + α₂. The worlds are α = (0, s)
and (s, 0). In real numbers both are possible for every z. In float64 they need not be: α + b is rounded, and the
rounding depends on α. Where only one world can have led to z, the attacker knows it for sure (Mironov, CCS 2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class LowBits:
    """Ask of every coordinate whether exactly one world is possible."""

    name: str = "low-order bits"

    def __call__(self, z: Array, size: float) -> float:
        """Return the share of coordinates in which the world is certain; z is (2, coordinates)."""
        first = (size - z[0]) == z[1]  # α = (0, s): b = z₁ must give z₂
        second = (size - z[1]) == z[0]  # α = (s, 0): b = −z₂ must give z₁
        return float((first != second).mean())

    def remainders(self, z: Array, step: float) -> float:
        """Return the share of numbers that are no multiples of the public step: they show the secret's own bits."""
        return float((np.rint(z / step) * step != z).mean())
