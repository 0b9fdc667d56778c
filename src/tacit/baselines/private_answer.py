"""tacit with a private answer: masks that add up to a small noise that nobody knows, instead of to zero.

The promise needs public limits on a record's row and, where it is a number, on its label. They are declared
beforehand; for a comparison they are those that suit the problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.baselines.approach import Demonstration, Listeners, Pledge
from tacit.baselines.masked import Masked
from tacit.differential import DifferentialPrivacy
from tacit.errors import InputError, TacitError
from tacit.masks import AffineMasks, QuadraticMasks, SumMasks
from tacit.solving import Problem

_LABEL = 3.0  # times the root mean square: few labels are larger, and those are clipped


@dataclass(frozen=True, slots=True)
class PrivateAnswer:
    """Masks with noise shares, for costs that are records."""

    name: str
    masks: AffineMasks | QuadraticMasks | SumMasks
    epsilon: float = 1.0
    delta: float = 1e-6
    colluders: int = 2
    source: str = "tacit"
    assumes: str = "authenticated links, a public limit on rows; no server, any graph"

    def misses(self, problem: Problem) -> str | None:
        """Return why the promise cannot be given."""
        try:
            return self._masked(problem).misses(problem)
        except TacitError as error:
            return str(error)

    def demonstrate(self, problem: Problem, listeners: Listeners) -> Demonstration:
        """Run as `solve` would."""
        shown = self._masked(problem).demonstrate(problem, listeners)
        unit = "label" if self.masks.kind == "affine" else "record"
        budget, who = f"({self.epsilon:g}, {self.delta:g})", self._against(problem)
        pledge = Pledge(
            f"{budget} for a {unit}",
            f"(ε, δ) = {budget} for one {unit}, against {who} who collude and whoever sees the answer.",
        )
        return replace(shown, promises=listeners.each(pledge))

    def _against(self, problem: Problem) -> int:
        return min(self.colluders, len(problem.network) - 2)

    def _masked(self, problem: Problem) -> Masked:
        promise = DifferentialPrivacy(
            epsilon=self.epsilon, delta=self.delta, any=self._against(problem), **_limits(problem)
        )
        answered: dict[str, Any] = {"answer": promise}
        return Masked(self.name, replace(self.masks, **answered), source=self.source, assumes=self.assumes)


def _limits(problem: Problem) -> dict[str, Any]:
    """Return public limits that suit these records: the longest row, and thrice the usual size of a label."""
    parts = [part for cost in problem.costs if (part := cost.labels) is not None]
    if len(parts) < len(problem.costs):
        raise InputError("a private answer is promised for records, and not all of these costs hold any.")
    rows = [part.rows if part.some is None else part.some for part in parts]
    clip = max(float(np.linalg.norm(each, axis=1).max()) for each in rows)
    if any(part.bits is not None for part in parts):
        return {"clip": clip}
    squares = 2.0 * sum(float(cost.value(np.zeros(problem.dim))) for cost in problem.costs)
    return {"clip": clip, "labels": _LABEL * float(np.sqrt(squares / sum(part.records for part in parts))) or 1.0}
