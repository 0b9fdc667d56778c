"""Which data of which agent were in which run: the columns of the ledger's rank test.

Every (agent, version of its data) is an unknown of its own. An agent that does not say which version it brought
counts as unchanged since it last said so. That is careful for everybody else: fewer unknowns can only be told more
exactly. What changed at an agent itself is noticed where a version says so, and whoever derives it from a digest of
the records cannot forget to.

Data come in parts where their columns are known: a run over some columns says nothing about the others, and a
change of one column must not hide what another tells. Every part is a history of its own.

Versions of one agent's data are unrelated numbers, unless its records are known one by one: then a version is the
sum of its records, and those that were in the same runs are one unknown together. So many fits that leave records
out in turn, each at every party, are seen for what they tell. A record that another agent holds later is the same
record: what is told is the sum over all of them, whoever holds which, and under which name.

Versions that were made in different ways (by hand, or by digests under different keys) cannot be compared. Nothing
is assumed then: a history in which the data have changed in between counts, and so does one in which they have not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.certificates.release import WHOLE, Release
from tacit.later import later
from tacit.typing import Array

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

Unknown = tuple[str, int]
"""An agent, and which of the versions of its data, in order of their first run."""


@dataclass(frozen=True, slots=True)
class History:
    """Some runs, and what each agent brought to each, for parts of the data with the same history."""

    runs: tuple[str, ...]
    graphs: tuple[Any, ...]
    brought: tuple[tuple[tuple[str, int], ...], ...]
    """Of every run: the unknown of each agent that took part."""
    owners: tuple[str, ...]
    """Whose every unknown is: of a record, the first who held it."""
    weights: dict[str, Array]
    """Of every agent: how much of each unknown it brought to each run, (runs, unknowns)."""
    parts: tuple[str, ...] = ()

    @property
    def agents(self) -> list[str]:
        """Everybody who ever took part."""
        return sorted({agent for brought in self.brought for agent, _ in brought})


def histories(releases: Sequence[Release], *, owner: str | None = None) -> list[History]:
    """Return the histories of all parts of the data; parts that went alike share one."""
    statements = [_statements(release, owner) for release in releases]
    parts = sorted({part for each in statements for _, part in each}) or [""]
    graphs = [release.graph() for release in releases]
    alike: dict[tuple[Any, ...], list[str]] = {}
    for part in parts:
        included = [k for k, each in enumerate(statements) if _tells(each, part)]
        for apart in (False, True):
            brought = _brought(
                [releases[k] for k in included], [statements[k] for k in included], part, apart=apart
            )
            alike.setdefault((tuple(included), brought, part.startswith(WHOLE)), []).append(part)
    return [
        History(
            tuple(releases[k].run for k in included),
            tuple(graphs[k] for k in included),
            brought,
            *_weights([releases[k] for k in included], brought, by_record=whole),
            tuple(part for part in dict.fromkeys(names) if part),
        )
        for (included, brought, whole), names in alike.items()
    ]


def components(graph: nx.Graph[str], coalition: Sequence[str]) -> list[set[str]]:
    """Return the pieces of the honest graph, whose sums a run tells."""
    honest = graph.copy()
    honest.remove_nodes_from(set(coalition) & set(honest))
    return [set(piece) for piece in nx.connected_components(honest)]


def _statements(release: Release, owner: str | None) -> dict[tuple[str, str], str]:
    """Return what a run says about versions, by agent and part."""
    statements = {(agent, part): version for agent, part, version in release.versions}
    if owner in release.participants and not any(agent == owner for agent, _ in statements):
        statements[str(owner), ""] = release.cost_version
    return statements


def _tells(statements: dict[tuple[str, str], str], part: str) -> bool:
    """Tell whether a run is about a part of the data: not if it names its parts, and this is none of them."""
    named = {name for _, name in statements if name}
    return not part or not named or part in named


def _brought(
    releases: Sequence[Release], statements: Sequence[dict[tuple[str, str], str]], part: str, *, apart: bool
) -> tuple[tuple[Unknown, ...], ...]:
    """Return the unknowns of every run; with *apart*, versions that cannot be compared are different ones."""
    now: dict[str, int] = {}
    known: dict[str, dict[str, int]] = {}
    brought = []
    for release, each in zip(releases, statements, strict=True):
        for agent in release.participants:
            version, seen = each.get((agent, part), each.get((agent, ""))), known.setdefault(agent, {})
            fresh = max([*seen.values(), now.get(agent, -1)]) + 1
            if version is None:
                now[agent] = fresh if agent in release.changed else now.get(agent, 0)
                continue
            if version not in seen:
                comparable = any(_maker(old) == _maker(version) for old in seen)
                seen[version] = fresh if comparable or (seen and apart) else now.get(agent, 0)
            now[agent] = seen[version]
        brought.append(tuple((agent, now[agent]) for agent in release.participants))
    return tuple(brought)


def _weights(
    releases: Sequence[Release], brought: Sequence[tuple[Unknown, ...]], *, by_record: bool
) -> tuple[tuple[str, ...], dict[str, Array]]:
    """Return whose the unknowns are, and who brought them: versions, or records where all runs know them."""
    events: dict[tuple[str, str], list[tuple[int, str, int]]] = {}  # of every unknown: run, agent, how often
    unlisted = {
        agent
        for release, unknowns in zip(releases, brought, strict=True)
        for agent, _ in unknowns
        if not by_record or release.held(agent) is None
    }
    for k, (release, unknowns) in enumerate(zip(releases, brought, strict=True)):
        for agent, version in unknowns:
            held = None if agent in unlisted else release.held(agent)
            for name, count in [(f"{agent} {version}", 1)] if held is None else held.items():
                kind = agent if held is None else ""
                events.setdefault((kind, name), []).append((k, agent, count))
    alike = sorted({tuple(each) for each in events.values()}, key=lambda each: (each[0][1], each))
    weights = {agent: np.zeros((len(releases), len(alike))) for unknowns in brought for agent, _ in unknowns}
    for column, each in enumerate(alike):
        for k, agent, count in each:
            weights[agent][k, column] = count
    return tuple(each[0][1] for each in alike), weights


def _maker(version: str) -> str:
    """Return how a version was made: the name of a digest's key, or nothing for words of people."""
    maker, colon, _ = version.partition(":")
    return maker if colon else ""
