"""Nesterov's momentum with restarts.

    θ⁺ = (1 + √(1 + 4θ²))/2
    y⁺ = x⁺ + (θ − 1)/θ⁺ (x⁺ − x),   θ = 1 again where the last step went uphill

Beck & Teboulle, SIAM J. Imaging Sci. 2(1), 2009; restarts after O'Donoghue & Candès, Found. Comput. Math. 15, 2015.
"""

from __future__ import annotations

import numpy as np

from tacit.typing import Array


def accelerate(before: Array, ahead: Array, x: Array, theta: Array) -> tuple[Array, Array]:
    """Return the next extrapolated point and θ, after a step from *ahead* to *x*."""
    uphill = (ahead - x) @ (x - before) > 0
    theta = np.array(1.0) if uphill else theta
    following = (1.0 + np.sqrt(1.0 + 4.0 * theta**2)) / 2.0
    return x + (theta - 1.0) / following * (x - before), following
