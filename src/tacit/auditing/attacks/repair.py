"""Dropout repair: the neighbours of an agent that left reveal the masks they shared with it.

    α_j = α̃_j − Σ_{i ∈ N_j} (r_ij − r_ji)

If the agent's effective cost was seen before it left, its coefficient is exact: for every run and agent exactly one
of the two may happen, use α̃_j or reveal its masks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Exchange, View


@dataclass(frozen=True, slots=True)
class DropoutRepair:
    """Take the revealed masks off the effective cost of whoever left."""

    left: int
    name: str = "dropout repair"

    def __call__(self, view: View, revealed: Exchange, public: Public) -> Estimate:
        """Return α of the agent that left; nobody if no effective cost of it was seen, or masks are missing."""
        j = self.left
        around = set(public.network.neighbours(j).tolist())
        holders = {int(a) if b == j else int(b) for a, b in zip(revealed.senders, revealed.receivers, strict=True)}
        if view.published is None or view.published.gradients is None or holders != around:
            return nothing(public.unknowns)
        came = revealed.values[revealed.receivers == j].sum(axis=0)
        went = revealed.values[revealed.senders == j].sum(axis=0)
        alpha = view.published.gradients[j] - (came - went)
        return Estimate(agents=np.array([j]), values=alpha[None], deviations=np.zeros(1), says="masks revealed")
