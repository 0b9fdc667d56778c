"""tacit with a private answer: masks that add up to a small noise that nobody knows, instead of to zero.

The promise needs a public limit on the length of a record's row; for a comparison it is that of the longest row,
which in practice is declared beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tacit.baselines.approach import Demonstration
from tacit.baselines.masked import Masked
from tacit.differential import DifferentialPrivacy
from tacit.errors import InputError, TacitError
from tacit.masks import AffineMasks, SumMasks
from tacit.solving import Problem


def takes_promises(mechanism: type) -> bool:
    """Tell whether masks of this kind take a promise about the answer."""
    return any(field.name == "answer" for field in fields(mechanism))


@dataclass(frozen=True, slots=True)
class PrivateAnswer:
    """Masks with noise shares, for costs that are records."""

    name: str
    masks: AffineMasks | SumMasks
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

    def demonstrate(
        self, problem: Problem, coalitions: Sequence[Sequence[int]], *, seed: int | None, repeats: int
    ) -> Demonstration:
        """Run as `solve` would."""
        shown = self._masked(problem).demonstrate(problem, coalitions, seed=seed, repeats=repeats)
        unit = "record" if self.masks.fresh_each_sum else "label"
        promise = (
            f"(ε, δ) = ({self.epsilon:g}, {self.delta:g}) for one {unit}, against {self.colluders} who collude and "
            "whoever sees the answer."
        )
        return replace(shown, promises=[promise] * len(coalitions))

    def _masked(self, problem: Problem) -> Masked:
        parts = [cost.labels for cost in problem.costs]
        rows = [part.rows for part in parts if part is not None]
        if len(rows) < len(parts):
            raise InputError("a private answer is promised for records, and not all of these costs hold any.")
        longest = max(float(np.linalg.norm(each, axis=1).max()) for each in rows)
        promise = DifferentialPrivacy(
            epsilon=self.epsilon, delta=self.delta, clip=longest, any=min(self.colluders, len(problem.network) - 2)
        )
        answered: dict[str, Any] = {"answer": promise}
        return Masked(self.name, replace(self.masks, **answered), source=self.source, assumes=self.assumes)
