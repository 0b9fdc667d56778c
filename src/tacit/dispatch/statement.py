"""Whose demand and whose cost curve is hidden from whom, in words; and which links would help."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import networkx as nx

from tacit.certificates import augment, headline
from tacit.dispatch.agents import Agents
from tacit.errors import TacitError
from tacit.solving import Answer

_SMALL = 60  # agents up to which the fewest links are searched for
_NAMED = 30  # agents and links in a sentence; a schedule has all of them
_SEARCHED = 500  # agents up to which the worst single agent is searched for


def statement(agents: Agents, answer: Answer, *, sigma: float | None, masked: bool, ramps: bool) -> list[str]:
    """Return sentences about one dispatch."""
    everybody = f"the {len(agents.holds)} {_many(agents.kind)}"
    if not masked:
        return [f"Nothing is hidden: neighbours can read demands and cost curves of {everybody} as they are."]
    told = "how much all of them together offer, less what they need, at the prices tried"
    told += ", with its slope and value" * ramps
    said = []
    if sigma is None:
        said.append(
            f"Demands and cost curves of {everybody} are hidden from each other. Nobody learns more "
            f"than totals over the whole grid: {told}, and how the last megawatts are split."
        )
    else:
        said.append(
            f"Demands (less must-run output) of {everybody} are hidden from each other by masks of {sigma:g} MW. "
            "Cost curves are not: a neighbour can read them from the prices that it is told. Totals over the whole "
            "grid are learnt by all: the spare capacity, and how the last megawatts are split."
        )
        said += _against_one(answer)
    leaves = exposed(agents)
    if leaves:
        what = "demand" if sigma is not None else "demand and cost curve"
        whose = "its" if len(leaves) == 1 else "their"
        said.append(
            f"Not protected: {len(leaves)} {_many(agents.kind, len(leaves))}"
            f" with one neighbour ({_named(leaves)}), "
            f"who knows all {whose} masks, and so {whose} {what}. {_remedy(agents)}"
        )
    hanging = len(list(nx.articulation_points(agents.graph)))
    if hanging and len(agents.graph) > 2:
        said.append(
            f"The graph falls apart without {_one_of(agents.kind, hanging)}, who learns the total of every part "
            "that comes loose. A designed graph (--links 4) has no such place."
        )
    return said


def exposed(agents: Agents) -> list[Any]:
    """Return the agents with one neighbour, who knows all their masks."""
    return [name for name, degree in agents.graph.degree if degree == 1] if len(agents.graph) > 2 else []


def protecting_links(graph: nx.Graph[Any]) -> list[tuple[Any, Any]]:
    """Return links after which everybody has two neighbours; after which no agent alone cuts a small graph.

    >>> protecting_links(nx.path_graph(4))
    [(0, 3)]
    """
    if len(graph) <= _SMALL:
        return list(augment(graph, any=1).links)
    walk = [name for name in nx.dfs_preorder_nodes(graph) if graph.degree[name] == 1]
    half = (len(walk) + 1) // 2  # partners half the walk apart are far from each other
    pairs = [(a, walk[0] if b is None else b) for a, b in zip_longest(walk[:half], walk[half:])]
    return [(a, b) for a, b in pairs if a != b]


def _remedy(agents: Agents) -> str:
    links = [f"{a} – {b}" for a, b in protecting_links(agents.graph)]
    count = f"{len(links)} more link{'s' * (len(links) != 1)}"
    return f"{count} would change that: {_named(links)}; any private channel will do."


def _against_one(answer: Answer) -> list[str]:
    if len(answer.network) > _SEARCHED:
        return []
    try:
        return [headline(answer.certificate(any=1), 10.0)]
    except TacitError:  # two agents have nothing to certify
        return []


def _named(names: list[Any]) -> str:
    more = f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
    return ", ".join(str(name) for name in names[:_NAMED]) + more


def _many(kind: str, count: int = 2) -> str:
    many = {"bus": "buses", "area": "areas", "generator": "generators"}
    return kind if count == 1 else many[kind]


def _one_of(kind: str, count: int) -> str:
    return f"one {kind}" if count == 1 else f"any one of {count} {_many(kind)}"
