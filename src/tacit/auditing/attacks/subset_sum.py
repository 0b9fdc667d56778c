"""Labels from the exact sum alone: a subset sum.

    Σ_i A_iᵀ y_i = t,   y in {0, 1}^N     t is known to the coalition exactly, whatever σ is

The theorem compares worlds of the same sum. Where features are public real numbers and records are few, there is
only one such world: N labels are singled out by m numbers of some fifty bits once N is well below 50·m, and the
answer of the problem tells t by itself. Halves of the records are tried against each other (Horowitz & Sahni,
J. ACM 21(2), 1974), so that 36 records take 2¹⁸ sums twice; lattice reduction goes further.
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


@dataclass(frozen=True, slots=True)
class SubsetSum:
    """Try all labels of a component of the honest graph with at most so many records."""

    records: int = 36
    name: str = "labels from the sum"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there are no labels, no sums, or too many records everywhere."""
        if public.features is None or public.slopes is None:
            return "no logistic regression with public features"
        why = misses_coefficients(view, public)
        if why is not None:
            return why
        sizes = [self._size(piece.tolist(), public) for piece in public.components(view.coalition)]
        return None if min(sizes) <= self.records else f"{min(sizes)} records are too many to try"

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the labels of every agent in a component whose sum singles them out."""
        return of_each(self.labels(view, public), about="labels", says="no other labels have that sum")

    def labels(self, view: View, public: Public) -> dict[int, Array]:
        """Return the labels that follow, by agent."""
        solved: dict[int, Array] = {}
        for agents, total in ComponentSums().sums(view, public):
            if public.features is None or public.slopes is None or self._size(list(agents), public) > self.records:
                continue
            rows = np.concatenate([public.features[i] for i in agents])
            moments = public.slopes[list(agents)].sum(axis=0) - total  # Σ Aᵀy
            tolerance = 1e-9 * (1.0 + float(np.abs(rows).sum())) + public.agents * public.step
            labels = only_subset(rows, moments, tolerance)
            if labels is not None:
                stops = np.cumsum([len(public.features[i]) for i in agents])[:-1]
                solved.update(dict(zip(agents, np.split(labels, stops), strict=True)))
        return solved

    def _size(self, agents: list[int], public: Public) -> int:
        return sum(len(A) for i, A in enumerate(public.features or []) if i in agents)


def only_subset(rows: Array, total: Array, tolerance: float) -> Array | None:
    """Return y in {0, 1}^N with rowsᵀ y = total; None if there is none, or more than one."""
    half = len(rows) // 2
    first, second = _sums(rows[:half]), _sums(rows[half:])
    order = np.argsort(first[:, 0])
    keys = first[order, 0]
    wanted = total[0] - second[:, 0]
    low = np.searchsorted(keys, wanted - tolerance)
    high = np.searchsorted(keys, wanted + tolerance)
    matches = []
    for j in np.flatnonzero(high > low).tolist():
        for i in order[low[j] : high[j]].tolist():
            if np.abs(first[i] + second[j] - total).max() <= tolerance:
                matches.append((i, j))
                if len(matches) > 1:
                    return None
    if not matches:
        return None
    i, j = matches[0]
    bits = [(i >> k) & 1 for k in range(half)] + [(j >> k) & 1 for k in range(len(rows) - half)]
    return np.array(bits, dtype=np.float64)


def _sums(rows: Array) -> Array:
    """Return the sums of all subsets, (2^r, m): bit k of the index says whether row k is in."""
    sums = np.zeros((1, rows.shape[1]))
    for row in rows:
        sums = np.concatenate([sums, sums + row])
    return sums
