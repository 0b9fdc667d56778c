"""The rounding floor: how near the rounding before masks lets agents come."""

from __future__ import annotations

import math

from tacit.masks import Mechanism
from tacit.network import Network

LEAST = 1e-2
"""Curvature that is assumed where less is known."""


def rounding_floor(
    privacy: Mechanism | None, network: Network, dim: int, *, curvature: float, exact: bool = True
) -> float:
    """Return the noise of gradients over the curvature; zero without masks.

    *curvature* is what is known of the average cost, at least. Of costs whose parts do not come apart *exact*ly,
    rounding blurs every gradient too.
    """
    if privacy is None:
        return 0.0
    terms = privacy.terms(network, dim)
    blur = 0.0 if exact else 8.0 * math.sqrt(dim) * terms.blur
    return float(terms.noise + blur) / max(curvature, LEAST)
