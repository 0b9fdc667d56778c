"""Differences of masked gradients: curvature, which no mask on the affine part hides.

    ∇h̃_i(x) − ∇h̃_i(y) = ∇h_i(x) − ∇h_i(y)      for every σ

Wherever gradients at several points can be read (all neighbours of i seen), their differences are the true ones.
The certificate of affine masks says so: curved parts are not covered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.readings import Reading, by_agent, curvature
from tacit.auditing.attacks.replay_admm import ReplayADMM
from tacit.auditing.attacks.replay_dgd import ReplayDGD
from tacit.auditing.attacks.replay_extra import ReplayEXTRA
from tacit.auditing.attacks.replay_nids import ReplayNIDS
from tacit.auditing.public import Public
from tacit.auditing.view import View

_REPLAYS = (ReplayADMM(), ReplayDGD(), ReplayEXTRA(), ReplayNIDS())


@dataclass(frozen=True, slots=True)
class GradientDifferences:
    """Fit the curvature of every agent whose gradients can be read at enough points."""

    name: str = "gradient differences"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where the algorithm is none that can be replayed."""
        whys = [replay.misses(view, public) for replay in _REPLAYS]
        return None if None in whys else whys[0]

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return curvatures, row by row as one vector, (k, m²)."""
        readings: list[Reading] = []
        for replay in _REPLAYS:
            if replay.misses(view, public) is None:
                readings = replay.readings(view, public)
        found = {i: curvature(mine) for i, mine in by_agent(readings).items() if i not in view.coalition}
        fitted = {i: P.ravel() for i, P in found.items() if P is not None}
        if not fitted:
            return nothing(public.unknowns**2)
        agents, values = np.array(list(fitted)), np.stack(list(fitted.values()))
        return Estimate(agents=agents, values=values, deviations=np.zeros(len(agents)), says="masks cancel in them")
