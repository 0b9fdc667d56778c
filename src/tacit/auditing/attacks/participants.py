"""Two runs in which somebody took part once: the sums over the honest agents are subtracted.

    Σ_{S ∪ i} α − Σ_S α = α_i

No σ helps: both sums are known exactly. The ledger refuses the second run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.component_sums import ComponentSums
from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View


@dataclass(frozen=True, slots=True)
class ChangedParticipants:
    """Subtract the sums of two runs; *names* say who is at each position of each run."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    name: str = "changed participants"

    def __call__(self, one: View, other: View, public: Public, public_of_other: Public) -> Estimate:
        """Return the coefficients that a combination of the sums singles out, by position in the first run."""
        sums = [({self.first[i] for i in agents}, total) for agents, total in ComponentSums().sums(one, public)]
        sums += [
            ({self.second[i] for i in agents}, total)
            for agents, total in ComponentSums().sums(other, public_of_other)
        ]
        names = sorted({name for members, _ in sums for name in members})
        rows = np.array([[name in members for name in names] for members, _ in sums], dtype=np.float64)
        inverse = np.linalg.pinv(rows)
        exposed = np.flatnonzero(np.abs(np.diag(inverse @ rows) - 1.0) < 1e-9)
        returning = [k for k in exposed if names[k] in self.first]
        if not returning:
            return nothing(public.unknowns)
        totals = np.stack([total for _, total in sums])
        agents = np.array([self.first.index(names[k]) for k in returning])
        values = (inverse @ totals)[returning]
        return Estimate(agents=agents, values=values, deviations=np.zeros(len(returning)), says="sums subtracted")
