"""What may be asked of an algorithm that is somebody's own.

Settings that derive from `tacit.typing.Algorithm` answer everything. Others declare five things and need no more:
what they leave out has the answer that `Algorithm` gives. Nobody else looks at the class of an algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.algorithms.landscape import Landscape
from tacit.errors import AlgorithmError
from tacit.typing import Algorithm, Array, Cost, Peers

_DECLARED = ("exact", "handles_rough", "handles_nonconvex", "sums", "weights")


@dataclass(frozen=True, slots=True)
class _Silent(Algorithm):
    """Says nothing of its own."""

    sums = ()

    def init(self, x: Array, cost: Cost) -> tuple[Array]:
        return (x,)

    def step(self, state: tuple[Array], peers: Peers, cost: Cost) -> tuple[Array]:
        return state


_SILENT = _Silent()


def refuse_undeclared(algorithm: object) -> None:
    """Refuse settings that lack what every algorithm declares."""
    missing = [name for name in _DECLARED if not hasattr(algorithm, name)]
    if missing:
        raise AlgorithmError(
            f"{type(algorithm).__name__} does not declare {', '.join(missing)}, as every algorithm must."
        )


def answering(algorithm: Any) -> Algorithm:
    """Return who answers for *algorithm* beyond the five: itself, or one that says nothing of its own."""
    return algorithm if isinstance(algorithm, Algorithm) else _SILENT


def refuse_costs(algorithm: Any, landscape: Landscape) -> None:
    """Refuse costs that *algorithm* cannot take, where its class knows."""
    getattr(algorithm, "tuned", _SILENT.tuned)(landscape)
