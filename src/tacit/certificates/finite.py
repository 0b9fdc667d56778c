"""Numbers for JSON, which knows no infinity."""

from __future__ import annotations

import math


def finite_or_none(value: float) -> float | None:
    """Return a number that JSON knows; None for infinity.

    >>> finite_or_none(0.5), finite_or_none(float("inf"))
    (0.5, None)
    """
    return value if math.isfinite(value) else None
