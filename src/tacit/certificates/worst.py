"""The worst coalition of t agents: m_t = min over |C| = t of μ₂(G − C), exactly.

Fewer than t agents are never worse than t: some agent can always be added without raising μ₂.

    bound    θ with max_u (s_u + the t − 1 largest c_uv) ≤ 1: no coalition of t goes below θ, no enumeration
    search   a good coalition C gives θ = μ₂(G − C); then every coalition whose λ_max(S_C) exceeds 1 is tried

A coalition below θ lowers θ, and the search starts again with fewer left to try. When none is found, m_t is
proven, to a relative 1e-7. Cut short, the bound stands, and is called a bound. Thousands of agents are searched for
one or two colluders by another way (`crowd`), and beyond that there is the bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tacit.certificates.crowd import LARGEST, Crowd
from tacit.certificates.suspects import suspects
from tacit.certificates.threshold import Bounds, Threshold
from tacit.errors import VacuousError
from tacit.network import Topology, algebraic_connectivity, small_vertex_cut
from tacit.typing import Array, Indices

_DENSE = 3000  # agents up to which the graph is decomposed whole
_INVERTIBLE = 12_000  # agents up to which one dense factorisation is affordable
_ENUMERATED = 60  # coalitions that are tried one by one without any cleverness
_PROOF = 1e-7  # relative slack of a proof
_NOTHING = 1e-9  # a bound below this fraction of μ₂ proves nothing


class Worst(NamedTuple):
    """The result: no coalition of at most t agents brings μ₂ below `mu`."""

    mu: float
    """m_t where exact, else a lower bound of it; 0 where a coalition cuts the honest agents apart."""
    coalition: tuple[int, ...] | None
    """The worst coalition, by index; None where only a bound is known."""
    exact: bool


def _refuse_size(topology: Topology, t: int) -> None:
    n = len(topology)
    if not 0 <= t <= n - 2:
        raise VacuousError(
            f"any = {t} of {n} agents: a guarantee needs 0 ≤ any ≤ {n - 2}, so that two stay honest."
        )


def worst_cut(topology: Topology, t: int) -> Worst:
    """Return a coalition of at most *t* agents that cuts a connected graph; μ = ∞ where there is none.

    All that matters for masks that are perfect where the honest graph is connected.
    """
    _refuse_size(topology, t)
    cut = small_vertex_cut(topology, t)
    if cut is None:
        return Worst(mu=math.inf, coalition=None, exact=True)
    return Worst(mu=0.0, coalition=tuple(sorted(cut.tolist())), exact=True)


def worst_coalition_indices(
    topology: Topology,
    t: int,
    *,
    scales: Array | None = None,
    quick: bool = False,
    deadline: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    on_progress: Callable[[float], None] | None = None,
) -> Worst:
    """Return m_t of a connected graph; *quick* asks for the bound only, *deadline* limits the *clock*'s seconds."""
    n = len(topology)
    _refuse_size(topology, t)
    end = math.inf if deadline is None else clock() + deadline
    if t == 0:
        return Worst(algebraic_connectivity(topology.scaled_laplacian(scales)), (), exact=True)
    if scales is None and int(topology.degrees.min()) == n - 1:
        return Worst(float(n - t), tuple(range(t)), exact=True)  # complete: K_n − C is complete
    barren = int(topology.degrees.argmin())
    if topology.degrees[barren] <= t and topology.degrees[barren] < n - 1:
        return Worst(0.0, _named(topology.neighbours(barren)), exact=True)
    if n > _DENSE:
        return _worst_of_crowd(topology, t, scales, quick, lambda: end < math.inf and clock() > end, on_progress)
    threshold = Threshold(topology, scales)
    if math.comb(n, t) <= _ENUMERATED:
        return _try_all(topology, threshold, t)
    low = _certified_bound(threshold, t)
    if low <= _NOTHING * threshold.mu:  # rounding can leave a cut with a bound above zero
        low = 0.0
        cut = small_vertex_cut(topology, t)
        if cut is not None:
            return Worst(0.0, _named(cut), exact=True)
    if quick:
        return Worst(low, None, exact=False)
    return _search(threshold, t, low, lambda: end < math.inf and clock() > end, on_progress)


def _worst_of_crowd(
    topology: Topology,
    t: int,
    scales: Array | None,
    quick: bool,
    is_late: Callable[[], bool],
    on_progress: Callable[[float], None] | None,
) -> Worst:
    """Return m_t of a graph that is too large to decompose; a bound where the search is too large, too."""
    bound = _bound_of_large(topology, t, scales)
    if bound.exact or quick or t > LARGEST or not _is_invertible(topology):
        return bound

    def watch(share: float) -> None:
        if on_progress is not None:
            on_progress(share)
        if is_late():
            raise _OutOfTimeError

    try:
        mu, coalition = Crowd(topology, t, scales).worst(bound.mu, watch)
    except _OutOfTimeError:
        return bound
    return Worst(mu, coalition, exact=True)


def _is_invertible(topology: Topology) -> bool:
    """Tell whether M and every agent's Q fit into memory: thousands of agents, none with hundreds of links."""
    n, most = len(topology), int(topology.degrees.max())
    return n <= _INVERTIBLE and n * most**2 <= _INVERTIBLE**2


class _OutOfTimeError(Exception):
    """The search has taken its time."""


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
    for _ in range(refinements if t > 1 else 0):  # for one agent the first bound is as sharp as the second
        row = float(threshold.bounds(low).row_sums(t).max())
        if row >= 1.0:
            break
        low = mu - (mu - low) * row
    return max(low, 0.0) * (1.0 - 1e-12)


def _bound_of_large(topology: Topology, t: int, scales: Array | None) -> Worst:
    """Return a bound for a graph that is too large to decompose: Σ s_v at one or two θ, or μ₂ − t."""
    mu = algebraic_connectivity(topology.scaled_laplacian(scales))
    widest = 1.0 if scales is None else float(np.max(scales)) ** 2
    low = max(mu - t * widest, 0.0)
    if _is_invertible(topology):
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
    if low <= _NOTHING * mu:
        low = 0.0
        cut = small_vertex_cut(topology, t)
        if cut is not None:
            return Worst(0.0, _named(cut), exact=True)
    return Worst(low * (1.0 - 1e-9), None, exact=False)


def _search(
    threshold: Threshold,
    t: int,
    low: float,
    is_late: Callable[[], bool],
    on_progress: Callable[[float], None] | None,
) -> Worst:
    """Return the exact minimum, or the bound *low* if time runs out."""
    best, mu = _promising(threshold, t, threshold.bounds(low, coupled=t > 1), low)
    while True:
        theta = mu * (1.0 - _PROOF)
        if theta <= low:
            return Worst(mu, best, exact=True)
        M, bounds = threshold.resolvent(theta), threshold.bounds(theta, coupled=t > 1)
        better = None
        for coalitions, share in suspects(bounds, t):  # also empty ones, now and then, to look at the clock
            if on_progress is not None:
                on_progress(share)
            if is_late():
                return Worst(low, best, exact=False)
            if not len(coalitions):
                continue
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
        candidates = [(threshold.connectivity_without(coalitions[k]), _named(coalitions[k])) for k in few]
        if candidates and min(candidates)[0] < theta:
            return min(candidates)
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
