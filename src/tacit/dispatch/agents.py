"""Who is an agent, what it holds, and whom it talks to.

    bus         every bus with its demand and its generators; the grid's branches are the links
    area        every area (or zone) as one; areas are linked where a branch crosses
    generator   every unit with the demand of the buses nearest to it; linked where such districts touch

Pieces of a grid that no branch joins are linked through their first agents: messages need no power line. A designed
graph, with as many links for everybody, is faster and protects everybody alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import networkx as nx
import numpy as np

from tacit.dispatch.grid import Grid
from tacit.errors import InputError
from tacit.network import well_connected
from tacit.spelling import did_you_mean
from tacit.typing import Array

AgentKind = Literal["bus", "area", "generator"]


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents of a dispatch. Holds everybody's private numbers."""

    kind: AgentKind
    graph: nx.Graph[Any]
    """Who talks to whom; its nodes are the agents' names."""
    holds: tuple[tuple[int, ...], ...] = field(repr=False)
    """Which of the grid's generators every agent has."""
    demand: Array = field(repr=False)
    """MW of every agent in every period, (n, T)."""
    joined: tuple[tuple[Any, Any], ...] = ()
    """Links that were added because no branch joins the pieces of the grid."""

    @property
    def names(self) -> list[Any]:
        """The agents in order."""
        return list(self.graph)


def agents_of(grid: Grid, kind: AgentKind = "bus", *, links: int | None = None, seed: int = 1) -> Agents:
    """Return the agents of a grid; *links* designs a graph with so many links each instead of taking branches."""
    if kind not in _DIVIDED:
        raise InputError(f"agents = {kind!r} must be one of {', '.join(_DIVIDED)}.{did_you_mean(kind, _DIVIDED)}")
    division = _DIVIDED[kind](grid)
    names, district = division.names, division.district
    if len(names) < 2:
        raise InputError(
            f"{grid.name} has {len(names)} agent(s) of the kind {kind!r}, and two are needed; try bus."
        )
    place = {name: i for i, name in enumerate(names)}
    demand = np.zeros((len(names), grid.periods))
    for bus, row in zip(grid.buses, grid.demand, strict=True):
        demand[place[district[bus]]] += row
    holds: list[list[int]] = [[] for _ in names]
    for k, holder in enumerate(division.holders):
        holds[place[holder]].append(k)
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(names)
    joined: tuple[tuple[Any, Any], ...] = ()
    if links is None:
        graph.add_edges_from((district[a], district[b]) for a, b in grid.branches if district[a] != district[b])
        graph.add_edges_from(division.links)
        joined = tuple(pairwise(next(iter(piece)) for piece in nx.connected_components(graph)))
    else:
        graph.add_edges_from((names[i], names[j]) for i, j in _designed(len(names), links, seed))
    graph.add_edges_from(joined)
    if division.labels is not None:
        labels = division.labels
        graph = nx.relabel_nodes(graph, labels)
        joined = tuple((labels[a], labels[b]) for a, b in joined)
    return Agents(kind, graph, tuple(map(tuple, holds)), demand, joined)


class _Division(NamedTuple):
    """How a grid is divided among agents."""

    names: list[Any]
    district: dict[Any, Any]
    """To whom every bus belongs."""
    holders: list[Any]
    """Who has which generator."""
    links: tuple[tuple[Any, Any], ...] = ()
    """Between agents whom no branch joins, because they share a bus."""
    labels: dict[Any, str] | None = None
    """What agents are called for people, where that is another name."""


def _by_bus(grid: Grid) -> _Division:
    return _of_districts(grid, {bus: bus for bus in grid.buses})


def _by_area(grid: Grid) -> _Division:
    if not grid.areas:
        raise InputError(f"{grid.name} does not say which area its buses are in; let the agents be buses.")
    return _of_districts(grid, dict(grid.areas))


def _of_districts(grid: Grid, district: dict[Any, Any]) -> _Division:
    return _Division(list(dict.fromkeys(district.values())), district, [district[u.bus] for u in grid.generators])


def _by_generator(grid: Grid) -> _Division:
    numbers = list(range(len(grid.generators)))
    labels = {k: f"{unit.name} at {unit.bus}" for k, unit in enumerate(grid.generators)}
    return _Division(numbers, _nearest(grid), numbers, tuple(_neighbours_at_a_bus(grid)), labels)


_DIVIDED: dict[AgentKind, Callable[[Grid], _Division]] = {
    "bus": _by_bus,
    "area": _by_area,
    "generator": _by_generator,
}


def _nearest(grid: Grid) -> dict[Any, int]:
    """Return the generator nearest to every bus along the branches; of two at a bus, the first."""
    at: dict[Any, int] = {}
    for k, unit in enumerate(grid.generators):
        at.setdefault(unit.bus, k)
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(grid.buses)
    graph.add_edges_from(grid.branches)
    nearest = dict(at)
    frontier = list(at)
    while frontier:
        following = []
        for bus in frontier:
            for other in graph[bus]:
                if other not in nearest:
                    nearest[other] = nearest[bus]
                    following.append(other)
        frontier = following
    return {bus: nearest.get(bus, 0) for bus in grid.buses}


def _neighbours_at_a_bus(grid: Grid) -> Iterable[tuple[int, int]]:
    """Yield a ring of the generators at one bus: the first one speaks for the bus."""
    together: dict[Any, list[int]] = {}
    for k, unit in enumerate(grid.generators):
        together.setdefault(unit.bus, []).append(k)
    for units in together.values():
        yield from pairwise(units)
        if len(units) > 2:
            yield units[-1], units[0]


def _designed(count: int, links: int, seed: int) -> Iterable[tuple[int, int]]:
    """Return the links of a random connected graph: *links* neighbours for everybody, or one more."""
    if not 2 <= links < count:
        raise InputError(f"links = {links} must lie between 2 and {count - 1} for {count} agents.")
    return well_connected(count, links, draws=1, seed=seed).edges
