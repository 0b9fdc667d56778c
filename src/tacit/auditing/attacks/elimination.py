"""Labels from the exact sum, by elimination: no search, and no knowledge of what labels may be.

    Σ_i A_iᵀ y_i = t      t follows from the answer, whatever σ is; A_i is open at this level

N_H labels are told through m numbers. A label is determined iff its unit vector lies in the space of A_H's columns:
then it is a combination of the m numbers, and is read, a real number as well as a class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.attacks.component_sums import ComponentSums
from tacit.auditing.attacks.estimate import Estimate, of_each
from tacit.auditing.attacks.likelihood import misses_coefficients
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array

_EXACT = 1e-8  # of a label: what may be missing from its unit vector
_BLUR = 1e-10  # a direction below this share of the largest is rounding


@dataclass(frozen=True, slots=True)
class Elimination:
    """Solve Aᵀy = t for whatever it determines, component by component of the honest graph."""

    name: str = "labels by elimination"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there are no labels beside open features, or no sums."""
        if public.label_rows is None:
            return "no labels beside open features"
        return misses_coefficients(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the labels that follow, not a number in the place of those that do not."""
        determined: dict[int, Array] = {}
        for agents, total in ComponentSums().sums(view, public):
            if public.label_rows is None or public.slopes is None:
                continue
            rows = [public.label_rows[i] for i in agents]
            labels = read(np.concatenate(rows), public.slopes[list(agents)].sum(axis=0) - total)
            parts = np.split(labels, np.cumsum([len(part) for part in rows])[:-1])
            determined.update({i: part for i, part in zip(agents, parts, strict=True) if np.isfinite(part).any()})
        return of_each(determined, about="values", says="they follow from the sum that the answer tells")


def read(rows: Array, totals: Array) -> Array:
    """Return y with rowsᵀ y = told, not a number where several fit."""
    left, sizes, right = np.linalg.svd(rows, full_matrices=False)
    kept = sizes > _BLUR * sizes[0]
    left = left[:, kept]
    solved = left @ (right[kept] @ totals / sizes[kept])
    determined = np.square(left).sum(axis=1) > 1.0 - _EXACT
    return np.where(determined, solved, np.nan)
