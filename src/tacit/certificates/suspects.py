"""Every coalition of t agents that the bound λ_max(S_C) ≤ 1 does not clear.

S has s_v on its diagonal and c_uv beside it. If λ_max(S_C) > 1, some member u has a row sum
s_u + Σ c_uv > 1. So fix the member u with the largest row sum, and add partners in the order of their couplings
to u: a partial coalition whose best completion stays at or below 1 is dropped with all that contain it.
What is left is judged by λ_max itself. All of it works on whole arrays of coalitions at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.certificates.threshold import Bounds
from tacit.typing import Array, Indices

_TOGETHER = 8192  # suspects handed out at a time
_COMPLETED = 200_000  # completions looked at in one go


def suspects(bounds: Bounds, t: int) -> Iterator[tuple[Indices, float]]:
    """Yield in batches every coalition with λ_max(S_C) > 1, and the share of agents u that are done."""
    rows = bounds.row_sums(t)
    order = np.argsort(-rows)
    order = order[rows[order] > 1.0]
    waiting: list[Indices] = []
    held = 0
    for done, u in enumerate(order):
        for coalition in _around(int(u), bounds, t):
            if not len(coalition):
                yield coalition, done / len(order)
                continue
            waiting.append(coalition)
            held += len(coalition)
            if held >= _TOGETHER:
                batch = np.concatenate(waiting)
                for start in range(0, len(batch), _TOGETHER):
                    yield batch[start : start + _TOGETHER], done / len(order)
                waiting, held = [], 0
    if held:
        yield np.concatenate(waiting), 1.0


def _around(u: int, bounds: Bounds, t: int) -> Iterator[Indices]:
    """Yield the suspects in which u has the largest row sum; empty arrays while none turn up."""
    if t == 1:
        yield np.array([[u]])
        return
    order = np.argsort(-bounds.coupling[u])
    order = order[order != u]
    c = bounds.coupling[u][order]
    sums = np.concatenate([[0.0], np.cumsum(c)])
    need = 1.0 - bounds.single[u]

    def extended(chosen: Indices, weight: Array, left: int) -> Iterator[Indices]:
        """Yield what becomes of prefixes when *left* more partners join, the closest first, depth first."""
        # the best completion of a prefix takes the next `left` partners in order, starting with number k
        best = sums[left:] - sums[:-left]  # c_k + … + c_{k+left−1}
        last = chosen[:, -1] if chosen.shape[1] else np.full(1, -1, dtype=np.intp)
        reach = np.searchsorted(-best, -(need - weight), side="left")  # numbers k below this still exceed
        count = np.maximum(reach - (last + 1), 0)
        for part in _parts(count):
            prefix = np.repeat(np.arange(part.start, part.stop), count[part])
            following = _ramps(last[part] + 1, count[part])
            longer = np.column_stack([chosen[prefix], following])
            if left == 1:
                yield _kept(u, order[longer], bounds)
            else:
                yield from extended(longer, weight[prefix] + c[following], left - 1)

    yield from extended(np.empty((1, 0), dtype=np.intp), np.zeros(1), t - 1)


def _parts(count: Indices) -> Iterator[slice]:
    """Cut the prefixes into runs with at most some hundred thousand completions each."""
    start, filled = 0, 0
    for stop, size in enumerate(count.tolist(), start=1):
        filled += size
        if filled >= _COMPLETED:
            yield slice(start, stop)
            start, filled = stop, 0
    if filled:
        yield slice(start, len(count))


def _ramps(first: Indices, count: Indices) -> Indices:
    """Return first[i], first[i] + 1, …, count[i] numbers each, one after the other."""
    total = int(count.sum())
    offsets = np.repeat(np.cumsum(count) - count, count)
    return np.arange(total) - offsets + np.repeat(first, count)


def _kept(u: int, partners: Indices, bounds: Bounds) -> Indices:
    """Return those coalitions {u} ∪ partners in which u has the largest row sum and λ_max(S_C) exceeds 1."""
    coalitions = np.column_stack([np.full(len(partners), u), partners])
    S = bounds.coupling[coalitions[:, :, None], coalitions[:, None, :]]
    t = coalitions.shape[1]
    S[:, np.arange(t), np.arange(t)] = bounds.single[coalitions]
    sums = S.sum(axis=2)
    # rows are added up in another order around each member: near-ties stay, and may be tried twice
    keep = (sums[:, 1:] <= sums[:, :1] * (1.0 + 1e-12)).all(axis=1)
    S, coalitions, y = S[keep], coalitions[keep], sums[keep]
    for _ in range(3):  # Collatz–Wielandt: λ_max ≤ max (Sy)_i / y_i for any positive y
        after = np.matvec(S, y)
        alive = (after / np.maximum(y, 1e-300)).max(axis=1) > 1.0
        S, coalitions, y = S[alive], coalitions[alive], after[alive]
    return np.sort(coalitions, axis=1)
