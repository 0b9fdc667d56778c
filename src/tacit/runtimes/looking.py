"""What agents must know of each other to stop in the same round: a few maxima.

    size           max |x|
    change         max |x⁺ − x|         of the last round
    travelled      max |x − x'|         since the last look
    drift          of the rest of the states: dual variables and the like
    error          the distance to the limit, where the algorithm itself knows it
    disagreement   max_k (max_i x_ik − min_i x_ik)

Every agent tells its own numbers, with x and −x behind them; entry by entry, the largest over the network is what
all agents read. Maxima do not depend on the order in which they are taken, so a stacked run and agents apart see
the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.typing import Array

_UNTOLD = -1.0  # in the place of an error that an algorithm does not know


class Look(NamedTuple):
    """One look at all agents."""

    size: float
    change: float
    travelled: float
    drift: float
    error: float | None
    disagreement: float

    @classmethod
    def read(cls, maxima: Array) -> Look:
        """Return what the maxima say."""
        size, change, travelled, moved, error = (float(entry) for entry in maxima[:5])
        highest, lowest = np.split(maxima[5:], 2)
        return cls(
            size, change, travelled, moved, None if error == _UNTOLD else error, float((highest + lowest).max())
        )


class Observer:
    """One agent's side of a look, or that of all agents at once; *error* says how far a state is from the limit."""

    def __init__(self, error: Callable[[Any], Array | None], seen: Array | None = None) -> None:
        self._error = error
        self.seen = seen
        """x at the last look; the start before the first."""

    def tell(self, before: Any, after: Any) -> Array:
        """Return what this agent says after a round from one state to the next."""
        seen = before.x if self.seen is None else self.seen
        self.seen = after.x
        return maxima(before, after, seen, self._error(after))


def maxima(before: Any, after: Any, seen: Array, error: Array | None) -> Array:
    """Return what one agent, or all agents at once, say after a round from one state to the next."""
    x = np.atleast_2d(after.x)
    numbers = [
        _largest(x), _largest(after.x - before.x), _largest(after.x - seen), drift(before, after),
        _UNTOLD if error is None else error,
    ]  # fmt: skip
    return np.concatenate([np.stack(numbers), x.max(axis=0), (-x).max(axis=0)])


def drift(before: tuple[Array, ...], after: tuple[Array, ...]) -> Array | float:
    """Return the largest relative change in one agent's or all agents' state beyond x; counters do not count."""
    moved = [
        _largest(new - old) / (1.0 + _largest(new))
        for old, new in zip(before[1:], after[1:], strict=True)
        if np.ndim(new)
    ]
    return np.stack(moved).max() if moved else 0.0


def _largest(v: Array) -> Array:
    return np.abs(v).max()
