"""Going on without somebody: the others cancel the terms that they shared with it.

    α̃_j − α̃'_j = r_dj − r_jd        for every neighbour j of the leaver d
    α_d = α̃_d + Σ_j (α̃_j − α̃'_j)

Whoever saw the effective costs before and after subtracts them, and the leaver's coefficient is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View


@dataclass(frozen=True, slots=True)
class GoingOn:
    """Subtract what was published before the agent at position *left* has left and after."""

    left: int
    name: str = "going on without"

    def __call__(self, before: View, after: View, public: Public) -> Estimate:
        """Return α of the agent that left; nobody if not all effective costs were seen twice."""
        published = [None if view.published is None else view.published.gradients for view in (before, after)]
        first, second = published
        if first is None or second is None:
            return nothing(public.unknowns)
        near = public.network.neighbours(self.left)
        alpha = first[self.left] + (first[near] - second[near]).sum(axis=0)
        return Estimate(
            agents=np.array([self.left]), values=alpha[None], deviations=np.zeros(1), says="terms cancelled"
        )
