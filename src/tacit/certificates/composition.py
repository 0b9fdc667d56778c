"""Several runs together: what adds up, and whom subtraction exposes.

Fresh masks for the same costs are independent views, so divergences add: ε = Σ ε_r, and T equal runs leave
masks of σ/√T. The same masks for the same costs are the same view, and cost nothing. The same masks for
changed costs, agents or links are subtracted, and the difference is exact.

Agents who leave a run take their masks along: the others cancel the terms r_dj that they shared with a leaver d,
and publish again. Both views together tell those terms and the leaver's coefficient, exactly. Given them, the first
view is a function of the second: what is told of those who stay is one view, that of the graph without the leavers.
So the two cost max(ε, ε'), with ε' of that graph, and not ε + ε'.

Every run also tells the sum of the coefficients over each component S of its honest graph, exactly. An agent is
exposed if and only if its indicator lies in the span of those 1_S: a rank test. Two runs that differ in one agent
are the plainest case.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

from tacit.errors import MaskError

_IN_SPAN = 1e-8
_SHOWN = ("participants", "links", "sigmas", "link_scales", "basis", "cost_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One run, as far as others could see it. Agents' names are strings."""

    run: str
    participants: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    sigmas: tuple[float, ...]
    """σ of the masks, one or one per basis function; none for secret sums, whose masks are uniform."""
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
        """Return the release of a run over *graph*; *sigma* is infinite for secret sums."""
        named = [(str(a), str(b), float(scale)) for (a, b), scale in (link_scales or {}).items()]
        scales = tuple(sorted((min(a, b), max(a, b), scale) for a, b, scale in named))
        sigmas = tuple(np.atleast_1d(np.asarray(sigma, dtype=np.float64)).tolist())
        if not sigmas or not all(s > 0 for s in sigmas) or (math.inf in sigmas and len(set(sigmas)) > 1):
            raise MaskError(
                "sigma must be one positive number, one per basis function, or infinity for secret sums."
            )
        sigmas = () if math.inf in sigmas else sigmas
        if not sigmas and more.get("masks"):
            raise MaskError(
                "masks of a secret sum are never used again: two sums under one mask tell their difference."
            )
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

    def without(self, left: Iterable[str], *, run: str) -> Release:
        """Return how the run goes on, with the masks that it has, when these agents have *left*."""
        gone = set(left)
        return replace(
            self,
            run=run,
            masks=self.draw,
            participants=tuple(a for a in self.participants if a not in gone),
            links=tuple(link for link in self.links if not gone & set(link)),
            link_scales=tuple(scale for scale in self.link_scales if not gone & set(scale[:2])),
        )

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


def reused_masks(releases: Iterable[Release], new: Release, *, left: Iterable[str] = ()) -> Release | None:
    """Return an earlier release whose masks *new* would use again for something else.

    To go on without those who have *left*, with their terms cancelled, is nothing else.
    """
    gone = tuple(left)
    return next(
        (
            old
            for old in releases
            if old.draw == new.draw and not old.same_view(new) and not old.without(gone, run="").same_view(new)
        ),
        None,
    )


def is_repeated(releases: Iterable[Release], new: Release) -> bool:
    """Whether *new* shows exactly what an earlier release showed: same costs, same masks."""
    return bool(new.masks) and any(old.draw == new.masks and old.same_view(new) for old in releases)


def exposures(
    releases: Sequence[Release], *, coalition: Iterable[str] = (), owner: str | None = None
) -> tuple[Exposure, ...]:
    """Return the agents whose coefficients all *releases* together tell exactly to *coalition*.

    A new cost version is a new unknown of *owner*, whose ledger this is; the others count as unchanged, which is
    the careful assumption, and so does everybody where no owner is named.
    """
    corrupted = tuple(sorted(coalition))
    sums: list[tuple[frozenset[tuple[str, str]], str]] = []
    for release in releases:
        honest = release.graph()
        honest.remove_nodes_from(set(corrupted) & set(honest))
        for piece in nx.connected_components(honest):
            members = frozenset(_unknown(a, release, owner) for a in piece)
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
    return tuple(Exposure(unknowns[k][0], _why(rows, [run for _, run in sums], int(k)), corrupted) for k in exposed)


def exposures_to_any(releases: Sequence[Release], t: int, *, owner: str | None = None) -> tuple[Exposure, ...]:
    """Return who is exposed to some coalition of at most *t* agents, if no such coalition cuts a run's graph.

    A combination of the runs' sums tells a coalition C an agent i if it involves i and, beside it, members of C
    alone. Agents that took part in the same runs have the same weight in every combination, so only classes of at
    most t + 1 such agents can be singled out: those are tried, and every combination of them.
    """
    unknowns = sorted({_unknown(a, release, owner) for release in releases for a in release.participants})
    if not unknowns:
        return ()
    taking_part = [{_unknown(a, release, owner) for a in release.participants} for release in releases]
    rows = np.array([[unknown in members for unknown in unknowns] for members in taking_part], dtype=float)
    classes: dict[bytes, list[int]] = {}
    for k, column in enumerate(rows.T):
        classes.setdefault(column.tobytes(), []).append(k)
    groups = list(classes.values())
    small = [g for g, group in enumerate(groups) if len(group) <= t + 1]
    patterns = rows[:, [group[0] for group in groups]]
    names = [release.run for release in releases]
    found: dict[tuple[str, tuple[str, ...]], Exposure] = {}
    for chosen in _subsets(small, groups, t + 1):
        others = np.setdiff1d(np.arange(len(groups)), chosen)
        for g in np.array(chosen)[_singled_out(patterns, others, np.array(chosen))]:
            members = [unknowns[k][0] for h in chosen for k in groups[h]]
            for k in groups[int(g)]:
                agent = unknowns[k][0]
                if members.count(agent) > 1:
                    continue  # two versions of one cost: their difference is told, and neither of them
                coalition = tuple(sorted(set(members) - {agent}))
                runs = _why(rows, names, k, free=[i for h in chosen for i in groups[h]])
                found.setdefault((agent, coalition), Exposure(agent, runs, coalition))
    return _least(tuple(found.values()))


def newly_exposed(before: Iterable[Exposure], after: Iterable[Exposure]) -> tuple[Exposure, ...]:
    """Return the exposures in *after* to coalitions that did not know the agent, nor contain one that did."""
    known = list(before)

    def is_new(new: Exposure) -> bool:
        return not any(old.agent == new.agent and set(old.coalition) <= set(new.coalition) for old in known)

    return tuple(new for new in after if is_new(new))


def _least(found: tuple[Exposure, ...]) -> tuple[Exposure, ...]:
    """Drop exposures to a coalition that contains a smaller one which suffices."""
    ordered = sorted(found, key=lambda e: len(e.coalition))
    kept: list[Exposure] = []
    for exposure in ordered:
        kept += newly_exposed(kept, [exposure])
    return tuple(kept)


def _subsets(small: list[int], groups: list[list[int]], most: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of classes with at most *most* agents in all."""
    for size in range(1, most + 1):
        for chosen in combinations(small, size):
            if sum(len(groups[g]) for g in chosen) <= most:
                yield chosen


def _singled_out(patterns: Any, others: Any, chosen: Any) -> Any:
    """Return for each chosen class whether some combination of rows is zero on the others and not on it."""
    weights = np.eye(len(patterns))
    if len(others):
        u, s, _ = np.linalg.svd(patterns[:, others])
        rank = int((s > _IN_SPAN * max(s[0], 1.0)).sum()) if len(s) else 0
        weights = u[:, rank:].T  # combinations of rows that vanish on the other classes
    left = weights @ patterns[:, chosen]
    return (np.abs(left) > 1e-7).any(axis=0) if len(left) else np.zeros(len(chosen), dtype=bool)


def _unknown(agent: str, release: Release, owner: str | None) -> tuple[str, str]:
    """Return the name of an agent's coefficient in a run: the owner's is another one in every cost version."""
    return (agent, release.cost_version if agent == owner else "")


def _why(rows: Any, runs: list[str], k: int, free: Sequence[int] = ()) -> tuple[str, ...]:
    """Return the fewest runs that single out unknown k: one, two, or those of a least-squares solution.

    The entries *free* belong to the coalition, which knows them.
    """
    bound = np.array([i for i in range(rows.shape[1]) if i == k or i not in set(free)])
    seen, tip = rows[:, bound], (bound == k).astype(float)
    for row, run in zip(seen, runs, strict=True):
        if np.array_equal(row, tip):
            return (run,)
    for i, j in combinations(range(len(seen)), 2):
        if np.array_equal(np.abs(seen[i] - seen[j]), tip):
            return runs[i], runs[j]
    weights = np.linalg.lstsq(seen.T, tip, rcond=None)[0]
    return tuple(dict.fromkeys(run for weight, run in zip(weights, runs, strict=True) if abs(weight) > 1e-6))
