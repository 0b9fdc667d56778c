"""Several runs together: what adds up, and whom subtraction exposes.

Fresh masks for the same costs are independent views, so divergences add: ε = Σ ε_r, and T equal runs leave
masks of σ/√T. The same masks for the same costs are the same view, and cost nothing. The same masks for
changed costs, agents or links are subtracted, and the difference is exact.

Agents who leave a run take their masks along: the others cancel the terms r_dj that they shared with a leaver d,
and publish again. Both views together tell those terms and the leaver's coefficient, exactly. Given them, the first
view is a function of the second: what is told of those who stay is one view, that of the graph without the leavers.
So the two cost max(ε, ε'), with ε' of that graph, and not ε + ε'.

Every run also tells, exactly, the sum of what its agents brought over each component S of its honest graph:

    Σ_{i ∈ S} ϑ(i, v)        v the version of i's data in that run

Each (agent, version) is an unknown of its own. A combination of one agent's unknowns is told if and only if the
span of those sums contains a vector that is zero everywhere else: a test of rank. If it is ϑ(i, v) itself, agent i
is exposed: two runs that differ in one agent are the plainest case. If it is ϑ(i, w) − ϑ(i, v), what changed at i
is: two runs of the same agents, one of whom has brought a record more. Where single records are known, each of them
is an unknown, and a version is their sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tacit.certificates.determined import Knowledge, knowledge
from tacit.certificates.exposure import Exposure, ExposureKind, least
from tacit.certificates.history import History, components, histories
from tacit.certificates.release import Release
from tacit.typing import Array

_ZERO = 1e-7  # weights of sums below this are rounding


def exposures(
    releases: Sequence[Release], *, coalition: Iterable[str] = (), owner: str | None = None
) -> tuple[Exposure, ...]:
    """Return what all *releases* together tell exactly of single agents to *coalition*.

    *owner* is the agent whose ledger this is: its data are known by the runs' `cost_version` where they say nothing
    more exact. Data of others count as unchanged unless a run says otherwise.
    """
    corrupted = tuple(sorted(coalition))
    exposed: list[Exposure] = []
    for history in histories(releases, owner=owner):
        sums = _sums(history, corrupted)
        known = knowledge(sums.rows)
        for agent in dict.fromkeys(sums.owners):
            exposed += _exposures(known, sums, agent, history, corrupted)
    return least(exposed)


def exposures_to_any(releases: Sequence[Release], t: int, *, owner: str | None = None) -> tuple[Exposure, ...]:
    """Return what is told of single agents to some coalition of at most *t*, if none of them cuts a run's graph.

    A combination of the runs' sums tells a coalition C something of an agent i if it involves i and, beside it,
    members of C alone. Agents with the same history have the same weights in every combination, so it involves all
    of them or none. The search spares few of these classes, and lets the sums cancel on all others.
    """
    exposed: list[Exposure] = []
    for history in histories(releases, owner=owner):
        sums = _sums(history, None)
        known = knowledge(sums.rows)
        for spared in dict.fromkeys(_spared(sums, t + 1)):
            for agent in sorted(spared):
                coalition = tuple(sorted(spared - {agent}))
                theirs = [k for k, name in enumerate(sums.owners) if name in coalition]
                exposed += _exposures(known.given(theirs), sums, agent, history, coalition)
    return least(exposed)


def joint_changes(releases: Sequence[Release], t: int, *, owner: str | None = None) -> tuple[Exposure, ...]:
    """Return the smallest sum over few agents that the last release and an earlier one tell by subtraction.

    More than t + 1 of them, so that no coalition of t singles one out, and not everybody: a smaller crowd than that
    of either run.
    """
    smallest: Exposure | None = None
    for history in histories(releases, owner=owner):
        for run, brought in zip(history.runs[:-1], history.brought[:-1], strict=True):
            last = history.brought[-1]
            different = sorted({agent for agent, _ in set(brought) ^ set(last)})
            crowd = min(len(brought), len(last))
            if t + 1 < len(different) < crowd and (smallest is None or len(different) < len(smallest.agents)):
                pair = (run, history.runs[-1])
                smallest = Exposure(tuple(different), pair, (), "sum", pair, history.parts)
    return () if smallest is None else (smallest,)


@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums that some runs tell: a row each, a column per unknown."""

    rows: Array
    runs: tuple[str, ...]
    owners: tuple[str, ...]
    """Whose every unknown is."""
    totals: Array
    """What was in every run in all, in its order."""

    def of(self, agent: str) -> list[int]:
        """Return the columns of one agent."""
        return [k for k, name in enumerate(self.owners) if name == agent]


def _sums(history: History, corrupted: Sequence[str] | None) -> _Sums:
    """Return the sums over the pieces of every honest graph; with None, over everybody who took part."""
    honest = [agent for agent in history.agents if agent not in (corrupted or ())]
    kept = [k for k, owner in enumerate(history.owners) if owner not in (corrupted or ())]
    owners = tuple(history.owners[k] for k in kept)
    totals = _added(history, history.agents, kept)
    sums: dict[bytes, tuple[Array, str]] = {}
    for k, (run, graph) in enumerate(zip(history.runs, history.graphs, strict=True)):
        for piece in [set(graph)] if corrupted is None else components(graph, corrupted):
            row = _added(history, [agent for agent in honest if agent in piece], kept)[k]
            if row.any():
                sums.setdefault(row.tobytes(), (row, run))
    rows = np.array([row for row, _ in sums.values()]).reshape(len(sums), len(owners))
    return _Sums(rows, tuple(run for _, run in sums.values()), owners, totals)


def _added(history: History, agents: Sequence[str], kept: Sequence[int]) -> Array:
    """Return what some agents brought to every run together, (runs, unknowns)."""
    zeros = np.zeros((len(history.runs), len(kept)))
    return sum((history.weights[agent][:, kept] for agent in agents), start=zeros)


def _spared(sums: _Sums, most: int) -> Iterator[frozenset[str]]:
    """Yield sets of at most *most* agents outside of which some combination of the sums cancels.

    Every combination w is found: a class of agents is spared, or else w is among those that cancel on it. So the
    tree has no more than (runs + most choose most) leaves, however many agents there are.
    """
    classes: dict[tuple[int, bytes], list[str]] = {}
    for agent in dict.fromkeys(sums.owners):
        own = sums.rows[:, sums.of(agent)]
        classes.setdefault((own.shape[1], own.tobytes()), []).append(agent)
    groups = [(frozenset(agents), sums.rows[:, sums.of(agents[0])]) for agents in classes.values()]

    def search(weights: Array, spared: frozenset[int]) -> Iterator[frozenset[int]]:
        """Go on with the combinations that are the rows of *weights*."""
        if not len(weights):
            return
        left = [(float(np.abs(weights @ own).max()), g) for g, (_, own) in enumerate(groups) if g not in spared]
        size, worst = max(left, default=(0.0, -1))
        if size <= _ZERO:
            yield spared
            return
        agents = sum(len(groups[g][0]) for g in spared | {worst})
        if agents <= most:
            yield from search(weights, spared | {worst})
        yield from search(_cancelling(weights, weights @ groups[worst][1]), spared)

    for combination in search(np.eye(len(sums.rows)), frozenset()):
        yield frozenset().union(*(groups[g][0] for g in combination))


def _cancelling(weights: Array, values: Array) -> Array:
    """Return the combinations of *weights* for which *values* vanish, as orthonormal rows."""
    left, sizes, _ = np.linalg.svd(values)
    rank = int((sizes > _ZERO).sum())
    return np.asarray(left[:, rank:].T @ weights)


def _exposures(
    known: Knowledge, sums: _Sums, agent: str, history: History, coalition: tuple[str, ...]
) -> Iterator[Exposure]:
    """Yield what is *known* of one agent's unknowns alone: costs, changes, or else a combination."""
    block = sums.of(agent)
    own = knowledge(known.own(block)) if block else Knowledge(np.zeros((0, 0)))
    if not own.rank:
        return
    made: dict[str, Array] = {}  # every version of its data, by the first run that had it
    for run, total in zip(history.runs, sums.totals[:, block], strict=True):
        if total.any() and not any(np.array_equal(total, other) for other in made.values()):
            made[run] = total
    vectors: list[tuple[ExposureKind, Array, tuple[str, ...]]] = []
    apart: list[str] = []
    for run, vector in made.items():
        if _is_in(own, vector):
            vectors.append(("cost", vector, (run,)))
            continue
        for before in reversed(apart):  # the last version before it that it differs from by something known
            if _is_in(own, vector - made[before]):
                vectors.append(("change", vector - made[before], (before, run)))
                break
        apart.append(run)
    if own.rank > (np.linalg.matrix_rank(np.array([vector for _, vector, _ in vectors])) if vectors else 0):
        touched = np.abs(own.space).sum(axis=0)
        between = tuple(run for run, vector in made.items() if vector @ touched > _ZERO)
        differences = np.diff(np.array(list(made.values())), axis=0)
        changes = knowledge(differences) if len(differences) else Knowledge(np.zeros((0, len(block))))
        alone = all(_is_in(changes, vector) for vector in own.space)
        vectors.append(("changes" if alone else "combination", touched, between))
    theirs = [k for k, name in enumerate(sums.owners) if name in coalition]
    for kind, vector, between in vectors:
        tip = np.zeros(len(sums.owners))
        tip[block] = vector
        runs = between if kind in ("changes", "combination") else _why(sums, tip, theirs)
        yield Exposure((agent,), runs, coalition, kind, between, history.parts)


def _is_in(space: Knowledge, vector: Array) -> bool:
    """Tell whether a vector lies in a space."""
    return bool(np.linalg.norm(vector - space.space.T @ (space.space @ vector)) < _ZERO)


def _why(sums: _Sums, tip: Array, free: Sequence[int]) -> tuple[str, ...]:
    """Return the fewest runs that single out *tip*: one, two, or those of a least-squares solution.

    The entries *free* belong to the coalition, which knows them.
    """
    bound = np.setdiff1d(np.arange(len(tip)), free)
    rows, tip, runs = sums.rows[:, bound], tip[bound], sums.runs
    for row, run in zip(rows, runs, strict=True):
        if np.array_equal(row, tip):
            return (run,)
    for i, j in combinations(range(len(rows)), 2):
        if np.array_equal(rows[i] - rows[j], tip) or np.array_equal(rows[j] - rows[i], tip):
            return runs[i], runs[j]
    weights = np.linalg.lstsq(rows.T, tip, rcond=None)[0]
    return tuple(dict.fromkeys(run for weight, run in zip(weights, runs, strict=True) if abs(weight) > 1e-6))
