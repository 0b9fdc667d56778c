"""Two functions timed in turns, so that a busy machine disturbs both alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median


def side_by_side(
    ours: Callable[[], object],
    reference: Callable[[], object],
    *,
    turns: int = 9,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float, float]:
    """Return the best seconds of each, and the median over the turns of their ratio."""
    ours(), reference()
    pairs = []
    for turn in range(turns):
        first, second = (ours, reference) if turn % 2 else (reference, ours)
        a, b = _seconds(first, clock), _seconds(second, clock)
        pairs.append((a, b) if turn % 2 else (b, a))
    mine, theirs = zip(*pairs, strict=True)
    return min(mine), min(theirs), median(a / b for a, b in pairs)


def _seconds(function: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    function()
    return clock() - start
