"""Label inference for logistic regression.

    ∇h_i(x₀) = A_iᵀ(s(A_i x₀) − y_i)    ⇒    y_i = argmin over {0, 1}^r of |g_i − ∇φ_i(x₀) + A_iᵀy|

With public features a gradient tells the labels; behind masks the likeliest labels are whatever the noise likes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing, of_each
from tacit.auditing.attacks.replay import Replay
from tacit.auditing.attacks.tree_sums import TreeSums
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array

_READ = (Replay(), TreeSums())  # what reads gradients of any cost
_TRIED = 14  # records up to which all labels are tried


@dataclass(frozen=True, slots=True)
class LabelInference:
    """Turn believed gradients into labels."""

    tried: ClassVar[int] = _TRIED
    """Records up to which all labels are tried."""
    name: str = "label inference"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there are no features to go with, or no gradient can be read."""
        if public.features is None or public.slopes is None:
            return "no logistic regression with public features"
        if public.mechanism != "none":
            return "behind masks labels are inferred in bulk"
        whys = [attack.misses(view, public) for attack in _READ]
        return None if None in whys else "; ".join(str(why) for why in whys)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the likeliest labels of every agent whose gradient can be read."""
        for attack in _READ:
            if attack.misses(view, public) is None:
                labels = self.labels(attack(view, public), public)
                return of_each(labels, about="labels", says="of gradients that were read")
        return nothing(0, about="labels")

    def labels(self, estimate: Estimate, public: Public) -> dict[int, Array]:
        """Return the likeliest labels of every agent about whose gradient the estimate has a belief."""
        if public.features is None or public.slopes is None:
            return {}
        return {
            int(agent): likeliest_labels(public.features[agent], (public.slopes[agent] - gradient)[None])[0]
            for agent, gradient in zip(estimate.agents, estimate.values, strict=True)
        }


def likeliest_labels(A: Array, totals: Array) -> Array:
    """Return y in {0, 1}^r with Aᵀy nearest to each of *totals*, (totals, m): (totals, r).

    All are tried, |s − t|² = |s − c|² − 2 (s − c)ᵀ(t − c) + …, or the relaxed solution is rounded.
    """
    if len(A) <= _TRIED:
        stories, around = _stories(len(A)), totals.mean(axis=0)
        sums = stories @ A - around
        distances = np.square(sums).sum(axis=1)[:, None] - 2.0 * sums @ (totals - around).T
        return np.asarray(stories[distances.argmin(axis=0)])
    relaxed = np.linalg.lstsq(A.T, (totals - 0.5 * A.sum(axis=0)).T, rcond=None)[0]
    return (relaxed.T > 0.0).astype(np.float64)


@lru_cache(maxsize=_TRIED + 1)
def _stories(records: int) -> Array:
    """Return all labellings of so many records."""
    return np.array(list(product((0.0, 1.0), repeat=records)))
