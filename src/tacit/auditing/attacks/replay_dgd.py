"""Gradient replay against decentralised gradient descent.

    ∇h_i(x_i^k) = (Σ_j w_ij x_j^k − x_i^{k+1}) / γ_k

wherever i and all its neighbours are seen. In the first round all agents stand at the public x₀, and W x₀ = x₀:
there a single neighbour's next message is enough, whoever is around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.readings import Reading, estimated, misses_algorithm
from tacit.auditing.public import Public
from tacit.auditing.view import View, received


@dataclass(frozen=True, slots=True)
class ReplayDGD:
    """Replay what the coalition's neighbours sent, for at most so many rounds."""

    rounds: int = 50
    name: str = "replay (dgd)"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where the algorithm is another one, or costs are rough."""
        return misses_algorithm(public, ("dgd", "dgd-diminishing"))

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="x₀ less the next message, over γ")

    def readings(self, view: View, public: Public) -> list[Reading]:
        """Return all gradients that can be read."""
        said = [received(exchange) for exchange in view.only("mix")[: self.rounds + 1]]
        step, decay = public.setting("step_size"), public.setting("decay")
        found = []
        for k in range(len(said) - 1):
            now, then = said[k], said[k + 1]
            gamma = step / (k + 1) ** decay
            for i in then:
                around = np.flatnonzero(public.weights[i])
                if k == 0:
                    found.append(Reading(i, public.start, (public.start - then[i]) / gamma))
                elif all(int(j) in now for j in around):
                    mixed = sum(public.weights[i, j] * now[int(j)] for j in around)
                    found.append(Reading(i, now[i], (mixed - then[i]) / gamma))
        return found
