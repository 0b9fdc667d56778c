"""The worst coalition of t agents: m_t = min over |C| = t of μ₂(G − C), exactly.

Fewer than t agents are never worse than t: some agent can always be added without raising μ₂.

    bound    θ with max_u (s_u + the t − 1 largest c_uv) ≤ 1: no coalition of t goes below θ, no enumeration
    search   a good coalition C gives θ = μ₂(G − C); then every coalition whose λ_max(S_C) exceeds 1 is tried

The search fixes the agent u with the largest row sum of S_C and adds partners in the order of their
couplings c_uv; a partial coalition whose best completion stays at or below 1 is dropped with all that
contain it. A coalition below θ lowers θ, and the search starts again with fewer left to try. When none is
found, m_t is proven, to a relative 1e-7. Cut short, the bound stands, and is called a bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tacit.certificates.threshold import Bounds, Indices, Threshold
from tacit.errors import VacuousError
from tacit.network import Topology, algebraic_connectivity, small_vertex_cut
from tacit.typing import Array

_DENSE = 3000  # agents up to which the graph is decomposed whole
_INVERTIBLE = 12_000  # agents up to which one dense factorisation is affordable
_ENUMERATED = 60  # coalitions that are tried one by one without any cleverness
_LEAVES = 8192  # coalitions tested at a time
_PROOF = 1e-7  # relative slack of a proof


class Worst(NamedTuple):
    """The result: no coalition of at most t agents brings μ₂ below `mu`."""

    mu: float
    """m_t where exact, else a lower bound of it; 0 where a coalition cuts the honest agents apart."""
    coalition: tuple[int, ...] | None
    """The worst coalition, by index; None where only a bound is known."""
    exact: bool


Progress = Callable[[float], None]
"""Takes the share of the work that is done."""


def worst_coalition_indices(
    topology: Topology,
    t: int,
    *,
    scales: Array | None = None,
    quick: bool = False,
    deadline: float | None = None,
    on_progress: Progress | None = None,
) -> Worst:
    """Return m_t of a connected graph; *quick* asks for the bound only, *deadline* limits the seconds."""
    n = len(topology)
    if not 0 <= t <= n - 2:
        raise VacuousError(
            f"any = {t} of {n} agents: a guarantee needs 0 ≤ any ≤ {n - 2}, so that two stay honest."
        )
    end = math.inf if deadline is None else time.monotonic() + deadline
    if t == 0:
        return Worst(algebraic_connectivity(topology.scaled_laplacian(scales)), (), exact=True)
    barren = int(topology.degrees.argmin())
    if topology.degrees[barren] <= t and topology.degrees[barren] < n - 1:
        return Worst(0.0, _named(topology.neighbours(barren)), exact=True)
    if n > _DENSE:
        return _bound_of_large(topology, t, scales)
    threshold = Threshold(topology, scales)
    if math.comb(n, t) <= _ENUMERATED:
        return _try_all(topology, threshold, t)
    low = _certified_bound(threshold, t)
    if low <= 0.0:
        cut = small_vertex_cut(topology, t)
        if cut is not None:
            return Worst(0.0, _named(cut), exact=True)
    if quick:
        return Worst(max(low, 0.0), None, exact=False)
    return _search(threshold, t, low, end, on_progress)


def _try_all(topology: Topology, threshold: Threshold, t: int) -> Worst:
    best: tuple[int, ...] = ()
    mu = math.inf
    for coalition in combinations(range(len(topology)), t):
        without = topology.without(topology.agents[i] for i in coalition)
        value = 0.0 if len(without.components) > 1 else threshold.connectivity_without(np.array(coalition))
        if value < mu:
            best, mu = coalition, value
    return Worst(mu, best, exact=True)


def _named(members: Indices) -> tuple[int, ...]:
    return tuple(int(i) for i in members)


def _certified_bound(threshold: Threshold, t: int, *, refinements: int = 2) -> float:
    """Return θ such that no coalition of t goes below it: first by Σ s_v ≤ 1, then by row sums of S.

    M(θ) ⪯ M(θ₀)·(μ₂ − θ₀)/(μ₂ − θ) for θ ≥ θ₀, so a row sum f(θ₀) < 1 certifies θ = μ₂ − (μ₂ − θ₀)·f(θ₀).
    """
    mu = threshold.mu

    def total(theta: float) -> float:
        single, _ = threshold.singles(threshold.resolvent(theta))
        return float(np.partition(single, -t)[-t:].sum())

    low, high = (0.0, mu) if total(0.0) <= 1.0 else (-mu, 0.0)
    for _ in range(7):
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) <= 1.0 else (low, middle)
    if low == -mu:
        return 0.0
    for _ in range(refinements):
        row = float(threshold.bounds(low).row_sums(t).max())
        if row >= 1.0:
            break
        low = mu - (mu - low) * row
    return max(low, 0.0) * (1.0 - 1e-12)


def _bound_of_large(topology: Topology, t: int, scales: Array | None) -> Worst:
    """Return a bound for a graph that is too large to decompose: Σ s_v at one or two θ, or μ₂ − t."""
    mu = algebraic_connectivity(topology.scaled_laplacian(scales))
    thinnest = 1.0 if scales is None else float(np.max(scales)) ** 2
    low = max(mu - t * thinnest, 0.0)
    if len(topology) <= _INVERTIBLE:
        threshold = Threshold(topology, scales)
        for fraction in (0.8, 0.5, 0.2):
            theta = fraction * mu
            if theta <= low:
                break
            single, _ = threshold.singles(threshold.resolvent_by_inversion(theta))
            total = float(np.partition(single, -t)[-t:].sum())
            if total <= 1.0:
                low = max(low, mu - (mu - theta) * total)
                break
    if low <= 0.0:
        cut = small_vertex_cut(topology, t)
        if cut is not None:
            return Worst(0.0, _named(cut), exact=True)
    return Worst(low * (1.0 - 1e-9), None, exact=False)


def _search(threshold: Threshold, t: int, low: float, end: float, on_progress: Progress | None) -> Worst:
    """Return the exact minimum, or the bound *low* if time runs out."""
    best, mu = _promising(threshold, t, threshold.bounds(low), low)
    while True:
        theta = mu * (1.0 - _PROOF)
        if theta <= low:
            return Worst(mu, best, exact=True)
        M, bounds = threshold.resolvent(theta), threshold.bounds(theta)
        better = None
        for coalitions, share in _suspects(bounds, t):
            if on_progress is not None:
                on_progress(share)
            if time.monotonic() > end:
                return Worst(low, best, exact=False)
            better = _lowest(threshold, coalitions, threshold.peaks(M, coalitions), theta)
            if better is not None:
                break
        if better is None:
            return Worst(mu, best, exact=True)
        mu, best = better


def _lowest(
    threshold: Threshold, coalitions: Indices, peaks: Array, theta: float
) -> tuple[float, tuple[int, ...]] | None:
    """Return a coalition that really goes below θ: next to μ₂(G) a peak may exceed 1 by rounding alone."""
    above = np.flatnonzero(peaks > 1.0)
    above = above[np.argsort(-peaks[above])]
    for few in np.split(above, range(4, len(above), 4)):
        found = [(threshold.connectivity_without(coalitions[k]), _named(coalitions[k])) for k in few]
        if found and min(found)[0] < theta:
            return min(found)
    return None


def _promising(threshold: Threshold, t: int, bounds: Bounds, theta: float) -> tuple[tuple[int, ...], float]:
    """Return a coalition that is probably the worst: every agent with its t − 1 closest partners, then swaps."""
    n = len(bounds.single)
    partners = np.argsort(-bounds.coupling, axis=1)[:, : t - 1]
    candidates = np.sort(np.column_stack([np.arange(n), partners]), axis=1)
    M = threshold.resolvent(theta)
    peaks = threshold.peaks(M, candidates)
    best = candidates[int(peaks.argmax())]
    peak = float(peaks.max())
    for start in candidates[np.argsort(-peaks)[:5]]:
        current, height = start, float(threshold.peaks(M, start[None, :])[0])
        while True:
            around = _swaps(current, bounds, width=24)
            if not len(around):
                break
            heights = threshold.peaks(M, around)
            if heights.max() <= height * (1 + 1e-12):
                break
            current, height = around[int(heights.argmax())], float(heights.max())
        if height > peak:
            best, peak = current, height
    return _named(best), threshold.connectivity_without(best)


def _swaps(coalition: Indices, bounds: Bounds, *, width: int) -> Indices:
    """Return the coalitions that differ in one member, by the outsiders most coupled to the rest."""
    pull = bounds.coupling[coalition].sum(axis=0) + bounds.single
    pull[coalition] = -np.inf
    outsiders = np.argsort(-pull)[:width]
    outsiders = outsiders[np.isfinite(pull[outsiders])]
    swapped = [
        np.sort(np.append(np.delete(coalition, k), outsider))
        for k in range(len(coalition))
        for outsider in outsiders
    ]
    return np.array(swapped, dtype=np.intp).reshape(-1, len(coalition))


def _suspects(bounds: Bounds, t: int) -> Iterator[tuple[Indices, float]]:
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
            if held >= _LEAVES:
                batch = np.concatenate(waiting)
                for start in range(0, len(batch), _LEAVES):
                    yield batch[start : start + _LEAVES], done / len(order)
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
        if filled >= 200_000:
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
