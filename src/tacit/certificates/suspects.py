"""Every coalition of t agents that the bound λ_max(S_C) ≤ 1 does not clear.

S has s_v on its diagonal and c_uv beside it. If λ_max(S_C) > 1, some member u has a row sum
s_u + Σ c_uv > 1. So fix the member u with the largest row sum, and add partners in the order of their couplings
to u: a partial coalition whose best completion stays at or below 1 is dropped with all that contain it.
What is left is judged by λ_max itself. All of it works on whole arrays of coalitions at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.certificates.threshold import Bounds, Indices

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
        for found in _around(int(u), bounds, t):
            waiting.append(found)
            held += len(found)
            if held >= _TOGETHER:
                batch = np.concatenate(waiting)
                for start in range(0, len(batch), _TOGETHER):
                    yield batch[start : start + _TOGETHER], done / len(order)
                waiting, held = [], 0
    if held:
        yield np.concatenate(waiting), 1.0


def _around(u: int, bounds: Bounds, t: int) -> Iterator[Indices]:
    """Yield the suspects in which u has the largest row sum (the first such u), each once."""
    need = 1.0 - bounds.single[u]
    if t == 1:
        yield np.array([[u]])
        return
    order = np.argsort(-bounds.coupling[u])
    order = order[order != u]
    c = bounds.coupling[u][order]
    sums = np.concatenate([[0.0], np.cumsum(c)])
    chosen = np.empty((1, 0), dtype=np.intp)
    weight = np.zeros(1)
    for left in range(t - 1, 0, -1):
        # the best completion of a prefix takes the next `left` partners in order, starting with number k
        best = sums[left:] - sums[:-left]  # c_k + … + c_{k+left−1}
        last = chosen[:, -1] if chosen.shape[1] else np.full(1, -1, dtype=np.intp)
        reach = np.searchsorted(-best, -(need - weight), side="left")  # numbers k below this still exceed
        count = np.maximum(reach - (last + 1), 0)
        for part in _parts(count):
            prefix = np.repeat(np.arange(part.start, part.stop), count[part])
            if left == 1:
                following = _ramps(last[part] + 1, count[part])
                members = np.column_stack([chosen[prefix], following])
                yield from _kept(u, order[members], bounds)
        if left > 1:
            prefix = np.repeat(np.arange(len(count)), count)
            following = _ramps(last + 1, count)
            chosen, weight = np.column_stack([chosen[prefix], following]), weight[prefix] + c[following]


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


def _kept(u: int, partners: Indices, bounds: Bounds) -> Iterator[Indices]:
    """Yield those coalitions {u} ∪ partners in which u has the largest row sum and λ_max(S_C) exceeds 1."""
    if not len(partners):
        return
    coalitions = np.column_stack([np.full(len(partners), u), partners])
    S = bounds.coupling[coalitions[:, :, None], coalitions[:, None, :]]
    t = coalitions.shape[1]
    S[:, np.arange(t), np.arange(t)] = bounds.single[coalitions]
    sums = S.sum(axis=2)
    first = (sums[:, 1:] < sums[:, :1]) | ((sums[:, 1:] == sums[:, :1]) & (partners > u))
    keep = first.all(axis=1)
    S, coalitions, y = S[keep], coalitions[keep], sums[keep]
    for _ in range(3):  # Collatz–Wielandt: λ_max ≤ max (Sy)_i / y_i for any positive y
        after = np.matvec(S, y)
        alive = (after / np.maximum(y, 1e-300)).max(axis=1) > 1.0
        S, coalitions, y = S[alive], coalitions[alive], after[alive]
    if len(coalitions):
        yield np.sort(coalitions, axis=1)
