"""Several runs together: what adds up, and whom subtraction exposes.

Fresh masks for the same costs are independent views, so divergences add: ε = Σ ε_r, and T equal runs leave
masks of σ/√T. The same masks for the same costs are the same view, and cost nothing. The same masks for
changed costs, agents or links are subtracted, and the difference is exact.

Every run also tells the sum of the coefficients over each component S of its honest graph, exactly. An agent is
exposed if and only if its indicator lies in the span of those 1_S: a rank test. Two runs that differ in one agent
are the plainest case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any

import networkx as nx
import numpy as np

_IN_SPAN = 1e-8
_COALITIONS = 3000
_SHOWN = ("participants", "links", "sigmas", "link_scales", "basis", "cost_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One run, as far as others could see it. Agents' names are strings."""

    run: str
    participants: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    sigmas: tuple[float, ...]
    basis: str = "affine"
    cost_version: str = "1"
    masks: str = ""
    """Names the earlier run whose masks are used again on purpose; empty for fresh ones."""
    link_scales: tuple[tuple[str, str, float], ...] = ()
    """Links whose σ is multiplied by a factor of their own."""

    @classmethod
    def of(
        cls,
        run: str,
        graph: nx.Graph[Any],
        *,
        sigma: float | Sequence[float],
        link_scales: Mapping[tuple[Any, Any], float] | None = None,
        **more: str,
    ) -> Release:
        """Return the release of a run over *graph*."""
        scales = tuple(sorted((str(a), str(b), float(s)) for (a, b), s in (link_scales or {}).items()))
        sigmas = tuple(map(float, sigma)) if isinstance(sigma, Sequence) else (float(sigma),)
        links = tuple(sorted((min(a, b), max(a, b)) for a, b in ((str(a), str(b)) for a, b in graph.edges())))
        participants = tuple(sorted(str(a) for a in graph))
        return cls(run=run, participants=participants, links=links, sigmas=sigmas, link_scales=scales, **more)

    @property
    def draw(self) -> str:
        """The name of the draw of masks."""
        return self.masks or self.run

    def graph(self) -> nx.Graph[str]:
        """Return the communication graph."""
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.participants)
        graph.add_edges_from(self.links)
        return graph

    def same_view(self, other: Release) -> bool:
        """Whether both runs, with the same masks, show the same numbers."""
        return all(getattr(self, name) == getattr(other, name) for name in _SHOWN)


@dataclass(frozen=True, slots=True)
class Exposure:
    """An agent whose coefficient follows exactly from the runs named."""

    agent: str
    runs: tuple[str, ...]
    coalition: tuple[str, ...] = ()

    def __str__(self) -> str:
        to = f" to {', '.join(self.coalition)}" if self.coalition else ""
        if len(self.runs) == 1:
            return f"exposed: agent {self.agent}{to}, alone in its component in run {self.runs[0]}"
        if len(self.runs) == 2:
            return f"exposed: agent {self.agent}{to}, because runs {' and '.join(self.runs)} differ only in it"
        return f"exposed: agent {self.agent}{to}, by adding and subtracting runs {', '.join(self.runs)}"


def reused_masks(releases: Iterable[Release], new: Release) -> Release | None:
    """Return an earlier release whose masks *new* would use again for something else."""
    return next((old for old in releases if old.draw == new.draw and not old.same_view(new)), None)


def is_repeated(releases: Iterable[Release], new: Release) -> bool:
    """Whether *new* shows exactly what an earlier release showed: same costs, same masks."""
    return bool(new.masks) and any(old.draw == new.masks and old.same_view(new) for old in releases)


def exposures(
    releases: Sequence[Release], *, coalition: Iterable[str] = (), owner: str | None = None
) -> tuple[Exposure, ...]:
    """Return the agents whose coefficients all *releases* together tell exactly to *coalition*.

    A new cost version is a new unknown of *owner*, whose ledger this is; the others count as unchanged, which is
    the careful assumption. Without an owner everybody changes with the version.
    """
    corrupted = tuple(sorted(coalition))
    sums: list[tuple[frozenset[tuple[str, str]], str]] = []
    for release in releases:
        honest = release.graph()
        honest.remove_nodes_from(set(corrupted) & set(honest))
        for piece in nx.connected_components(honest):
            version = release.cost_version
            members = frozenset((a, version if owner in (None, a) else "") for a in piece)
            if (members, release.run) not in sums:
                sums.append((members, release.run))
    unknowns = sorted({unknown for members, _ in sums for unknown in members})
    if not unknowns:
        return ()
    place = {unknown: k for k, unknown in enumerate(unknowns)}
    rows = np.zeros((len(sums), len(unknowns)))
    for row, (members, _) in zip(rows, sums, strict=True):
        row[[place[m] for m in members]] = 1.0
    basis = np.linalg.svd(rows, full_matrices=False)
    right = basis.Vh[_IN_SPAN * basis.S[0] < basis.S]
    exposed = np.flatnonzero((right**2).sum(axis=0) > 1.0 - _IN_SPAN)
    return tuple(Exposure(unknowns[k][0], _why(rows, sums, int(k)), corrupted) for k in exposed)


def exposures_to_any(releases: Sequence[Release], t: int, *, owner: str | None = None) -> tuple[Exposure, ...]:
    """Return who is exposed to nobody in particular or to some coalition of at most *t*, each agent once.

    Coalitions are tried from the smallest on, up to some thousand of them.
    """
    everybody = sorted({agent for release in releases for agent in release.participants})
    found: dict[str, Exposure] = {}
    coalitions = chain.from_iterable(combinations(everybody, size) for size in range(t + 1))
    for coalition in islice(coalitions, _COALITIONS):
        for exposure in exposures(releases, coalition=coalition, owner=owner):
            found.setdefault(exposure.agent, exposure)
    return tuple(found.values())


def _why(rows: Any, sums: list[tuple[frozenset[tuple[str, str]], str]], k: int) -> tuple[str, ...]:
    """Return the fewest runs that single out unknown k: one, two, or those of a least-squares solution."""
    tip = np.zeros(rows.shape[1])
    tip[k] = 1.0
    for row, (_, run) in zip(rows, sums, strict=True):
        if np.array_equal(row, tip):
            return (run,)
    for i, j in combinations(range(len(rows)), 2):
        if np.array_equal(np.abs(rows[i] - rows[j]), tip):
            return sums[i][1], sums[j][1]
    weights = np.linalg.lstsq(rows.T, tip, rcond=None)[0]
    return tuple(dict.fromkeys(run for weight, (_, run) in zip(weights, sums, strict=True) if abs(weight) > 1e-6))
