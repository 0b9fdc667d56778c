"""Differences of masked gradients: curvature, which no mask on the affine part hides.

    ∇h̃_i(x) − ∇h̃_i(y) = ∇h_i(x) − ∇h_i(y)      for every σ

Wherever gradients at several points can be read (all neighbours of i seen), their differences are the true ones.
The certificate of affine masks says so: curved parts are not covered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.readings import by_agent, curvature
from tacit.auditing.attacks.replay import Replay
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View


@dataclass(frozen=True, slots=True)
class GradientDifferences:
    """Fit the curvature of every agent whose gradients can be read at enough points."""

    name: str = "gradient differences"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nothing can be replayed."""
        return Replay().misses(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return curvatures, row by row as one vector, (k, m²)."""
        fitted = {i: curvature(mine) for i, mine in by_agent(Replay().readings(view, public)).items()}
        curvatures = {i: P.ravel() for i, P in fitted.items() if P is not None and i not in view.coalition}
        if not curvatures:
            return nothing(public.unknowns**2, about="curvatures")
        agents, values = np.array(list(curvatures)), np.stack(list(curvatures.values()))
        return Estimate(
            agents=agents, values=values, deviations=np.zeros(len(agents)), about="curvatures",
            says="masks cancel in them",
        )  # fmt: skip
