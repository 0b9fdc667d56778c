"""Two releases under the same masks: their difference is the difference of the secrets, exactly.

z¹ − z² = α¹ − α² + (a¹ − a²),   a¹ = a² if masks were used again; else the error is N(0, 2·2σ²L_H)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.attacks.unmask import deviations
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View


@dataclass(frozen=True, slots=True)
class MaskReuse:
    """Subtract one release from another one of the same agents."""

    name: str = "mask reuse"

    def __call__(self, first: View, second: View, public: Public) -> Estimate:
        """Return α¹ − α² of every honest agent."""
        honest, z = coefficients(first, public)
        _, other = coefficients(second, public)
        spread = np.sqrt(2.0) * deviations(first, public)[honest]
        return Estimate(agents=honest, values=z - other, deviations=spread, says="two releases subtracted")
