"""Gradient replay against EXTRA and PG-EXTRA (where no cost is rough).

    x^{k+1} = W x^k − α ∇h(x^k) + c^k,   c^{k+1} = c^k + (W x^k − x^k)/2,   c⁰ = 0
    ∇h_i(x_i^k) = [W x^k + c^k − x^{k+1}]_i / α

The correction c is a sum of what was seen. As W x₀ = x₀, the first gradient follows from one message.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.readings import Reading, estimated, misses_algorithm
from tacit.auditing.public import Public
from tacit.auditing.view import View, received
from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class ReplayEXTRA:
    """Replay what the coalition's neighbours sent, for at most so many rounds."""

    rounds: int = 50
    name: str = "replay (extra)"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where the algorithm is another one, or costs are rough."""
        return misses_algorithm(public, ("extra", "pg-extra"))

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="x₀ less the next message, over α")

    def readings(self, view: View, public: Public) -> list[Reading]:
        """Return all gradients that can be read."""
        said = [received(exchange) for exchange in view.only("mix")[: self.rounds + 1]]
        alpha = public.setting("step_size")
        found = []
        for i in said[0] if said else ():
            c = np.zeros_like(public.start)
            for now, then in pairwise(said):
                mixed = _mixed(i, now, public)
                if mixed is None:
                    if now is said[0]:  # everybody stands at x₀
                        found.append(Reading(i, public.start, (public.start - then[i]) / alpha))
                    break
                found.append(Reading(i, now[i], (mixed + c - then[i]) / alpha))
                c = c + (mixed - now[i]) / 2
        return found


def _mixed(i: int, now: dict[int, Array], public: Public) -> Array | None:
    around = [int(j) for j in np.flatnonzero(public.weights[i])]
    if any(j not in now for j in around):
        return None
    return np.asarray(sum(public.weights[i, j] * now[j] for j in around))
