"""What a run's masks are, in numbers that are open to all, and the σ that a guarantee is made with.

Theorems are about Gaussian masks of deviation σ and about uniform ones, for which σ is infinite. Masks that are
neither have no law here, and no certificate.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from tacit.errors import VacuousError


class Terms(NamedTuple):
    """What a run's masks are, in numbers that are open to all."""

    bound: float  # the public limit on every number that is masked
    step: float  # to which those numbers are rounded
    noise: float  # that rounding leaves in the average gradient, with a margin
    sigma: float | None = None  # the deviation of Gaussian masks
    blur: float = 0.0  # the noise on gradients of a cost whose parts do not come apart exactly
    link_scales: tuple[tuple[Any, Any, float], ...] = ()
    words: int | None = None  # of 64 bits, that carry a number of a secret sum
    sum_error: float | None = None  # the most by which a secret sum can be off: n·step/2


class Width(Protocol):
    """What decides how wide masks are: the terms of a run, or its record."""

    @property
    def sigma(self) -> float | None:
        """Return the deviation of Gaussian masks."""

    @property
    def words(self) -> int | None:
        """Return the words of secret sums."""


def has_a_law(masks: Width) -> bool:
    """Tell whether masks are Gaussian or uniform, so that a theorem says what they hide."""
    return masks.sigma is not None or masks.words is not None


def effective_sigma(masks: Width) -> float:
    """Return the σ that a guarantee is made with: infinite for secret sums, whose masks are uniform."""
    if masks.sigma is not None:
        return masks.sigma
    if not has_a_law(masks):
        raise VacuousError("these masks are neither Gaussian nor uniform, so no theorem here says what they hide.")
    return math.inf
