"""Gradient replay against decentralised ADMM.

    λ^{k+1} = λ^k + ρ Σ_j (x_i^k − x_j^k),   λ⁰ = 0
    ∇h_i(x_i^{k+1}) = ρ Σ_j (x_i^k + x_j^k) − 2ρ d_i x_i^{k+1} − λ^{k+1}

In the first round all agents stand at x₀, so that λ¹ = 0 and ∇h_i(x_i¹) = 2ρ d_i (x₀ − x_i¹): one message, and the
gradient at a point beside x₀. With a known curvature, or with a closed neighbourhood to learn it from, that is the
gradient at x₀. (Zhang, Ahmad, Wang, IEEE TIFS 14(3), 2019.)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.readings import Reading, estimated, misses_algorithm
from tacit.auditing.public import Public
from tacit.auditing.view import View, received


@dataclass(frozen=True, slots=True)
class ReplayADMM:
    """Replay what the coalition's neighbours sent, for at most so many rounds."""

    rounds: int = 50
    name: str = "replay (admm)"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where the algorithm is another one, or costs are rough."""
        return misses_algorithm(public, ("admm",))

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="the proximal step read backwards")

    def readings(self, view: View, public: Public) -> list[Reading]:
        """Return all gradients that can be read."""
        said = [received(exchange) for exchange in view.only("gather")[: self.rounds + 1]]
        rho, found = public.setting("penalty"), []
        degrees = public.network.degrees
        for i in said[0] if said else ():
            around = [int(j) for j in public.network.neighbours(i)]
            dual = np.zeros_like(public.start)
            for k, (now, then) in enumerate(pairwise(said)):
                if k and any(j not in now for j in around):
                    break
                theirs = np.sum([now[j] if k else public.start for j in around], axis=0)
                d = degrees[i]
                dual = dual + rho * (d * now[i] - theirs)
                found.append(Reading(i, then[i], rho * (d * now[i] + theirs) - 2 * rho * d * then[i] - dual))
        return found
