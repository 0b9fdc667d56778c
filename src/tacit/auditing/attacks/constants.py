"""Constants that ride along with effective costs.

    h_i = ½(x − p)ᵀP(x − p)   has the constant   ½pᵀPp = ½gᵀP⁻¹g,   g = ∇h_i(0)

The paper's own illustration leaves x_i² in its effective costs; with the sum that agent 3 knows anyway, it reads x₁
and x₂ exactly. A cost that keeps its constant to itself has h̃(0) = 0, and tells nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View


@dataclass(frozen=True, slots=True)
class Constants:
    """Read gᵀP⁻¹g of every honest agent from what its effective cost is at zero."""

    name: str = "constants"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where no values or no curvatures are known."""
        if public.mechanism != "affine":
            return "there are no affine masks that a constant could tell"
        if view.published is None or view.published.values is None:
            return "no effective cost was published"
        return None if public.curvatures is not None else "the curvatures are not known"

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return gᵀP⁻¹g where a constant is there to tell it, (k, 1); nobody where all of them are zero."""
        values = np.asarray(view.published.values if view.published else [])
        honest = public.honest(view.coalition)
        telling = honest[values[honest] != 0.0]
        if not len(telling):
            return nothing(1, about="constants")
        return Estimate(
            agents=telling,
            values=2.0 * values[telling, None],
            deviations=np.zeros(len(telling)),
            says="twice the constant is gᵀP⁻¹g",
            about="constants",
        )
