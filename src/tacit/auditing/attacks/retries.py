"""Averaging several releases of the same costs: T of them leave masks of σ/√T.

    z̄ = (z¹ + … + z^T)/T ~ N(α, 2σ²L_H/T)

So a run that is repeated with fresh masks after it was published counts again, and the ledger adds it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.attacks.unmask import deviations
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View


@dataclass(frozen=True, slots=True)
class Retries:
    """Average all releases."""

    name: str = "retries"

    def __call__(self, views: Sequence[View], public: Public) -> Estimate:
        """Return the mean of all z."""
        honest, _ = coefficients(views[0], public)
        mean = np.mean([coefficients(view, public)[1] for view in views], axis=0)
        spread = deviations(views[0], public)[honest] / np.sqrt(len(views))
        return Estimate(agents=honest, values=mean, deviations=spread, says=f"the mean of {len(views)} releases")
