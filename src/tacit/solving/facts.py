"""What the table of a regression needs besides the minimum: constants of the records, to be added up in secret.

number of records, records left out, sum of labels, …
    linear      Σ y²                              for the residuals: Σ r² = 2 h(x) + Σ y²
    poisson     Σ log y!,  Σ y log y − y − log y!  for the likelihood, and that of the saturated model
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.typing import Array


def _poisson(y: Array) -> list[float]:
    from scipy.special import gammaln, xlogy

    logs = gammaln(y + 1.0)
    return [float(logs.sum()), float((xlogy(y, y) - y - logs).sum())]


def _squares(y: Array) -> list[float]:
    return [float(y @ y)]


def _nothing(y: Array) -> list[float]:
    return []


_MORE: dict[str, Callable[[Array], list[float]]] = {
    "least-squares": _squares, "ridge": _squares, "lasso": _squares, "elastic-net": _squares, "poisson": _poisson,
}  # fmt: skip


class Facts(NamedTuple):
    """All members' facts together."""

    records: int
    dropped: int
    labels: float
    """The sum of the labels; of two classes, how many records have the second."""
    more: tuple[float, ...]

    @classmethod
    def read(cls, total: Array) -> Facts:
        """Return what a sum says."""
        return cls(round(total[0]), round(total[1]), float(total[2]), tuple(float(value) for value in total[3:]))


def facts_of(family: str, y: Array, *, dropped: int = 0) -> Array:
    """Return one member's facts."""
    labels = (y > 0).astype(np.float64) if family == "logistic" else y
    more = _MORE.get(family, _nothing)(y)
    return np.array([float(len(y)), float(dropped), float(labels.sum()), *more])
