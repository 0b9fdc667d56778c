"""Gradient replay against NIDS; where costs are rough, of the first message alone.

    v = x − α(∇h(x) + d),   u = (v − W v)/2,   d⁺ = d + u/α,   x⁺ = v − u,   d⁰ = 0

Agents send v. The first one is x₀ − α∇h(x₀): every neighbour reads the gradient at once. Where all neighbours of i
are seen, u and with it x⁺ and d⁺ follow, and so does the gradient of every later round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.readings import Reading, estimated
from tacit.auditing.public import Public
from tacit.auditing.view import View, received


@dataclass(frozen=True, slots=True)
class ReplayNIDS:
    """Replay what the coalition's neighbours sent, for at most so many rounds."""

    rounds: int = 50
    name: str = "replay (nids)"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where the algorithm is another one."""
        return None if public.algorithm == "nids" else f"the algorithm is {public.algorithm}"

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="x₀ less the first message, over α")

    def readings(self, view: View, public: Public) -> list[Reading]:
        """Return all gradients that can be read."""
        said = [received(exchange) for exchange in view.only("mix")[: self.rounds]]
        alpha = public.setting("step_size")
        found = []
        for i in said[0] if said else ():
            around = [int(j) for j in np.flatnonzero(public.weights[i])]
            x, d = public.start, np.zeros_like(public.start)
            for now in said:
                found.append(Reading(i, x, (x - now[i]) / alpha - d))
                if public.rough or any(j not in now for j in around):
                    break
                u = (now[i] - sum(public.weights[i, j] * now[j] for j in around)) / 2
                x, d = now[i] - u, d + u / alpha
        return found
