"""Whose demand and whose cost curve is hidden from whom, in words; and which links would help."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import networkx as nx

from tacit.certificates import augment, headline
from tacit.dispatch.agents import Agents
from tacit.errors import TacitError
from tacit.network.topology import listed
from tacit.solving import Answer

_SMALL = 60  # agents up to which the fewest links are searched for
_SEARCHED = 500  # agents up to which the worst single agent is searched for


def statement(agents: Agents, answer: Answer, *, sigma: float | None, masked: bool, ramps: bool) -> list[str]:
    """Return sentences about one dispatch."""
    everybody = f"the {len(agents.holds)} {_many(agents.kind)}"
    if not masked:
        return [f"Nothing is hidden: neighbours can read demands and cost curves of {everybody} from what they receive."]
    told = "how much all of them together offer, less what they need, at the prices tried"
    told += ", with its slope and value" * ramps
    said = []
    if sigma is None:
        said.append(
            f"Demands and cost curves of {everybody} are hidden from each other. All that anybody learns are totals over "
            f"the whole grid: {told}, and how the last megawatts are split."
        )
    else:
        said.append(
            f"Demands (less must-run output) of {everybody} are hidden from each other by masks of σ = {sigma:g} MW. Cost "
            "curves are not: a neighbour can read them from the prices that it is told. Totals over the whole grid are "
            "learnt by all: the spare capacity, and how the last megawatts are split."
        )
        said += _against_one(answer)
    leaves = [name for name, degree in agents.graph.degree if degree == 1]
    if leaves and len(agents.graph) > 2:
        what = "demand" if sigma is not None else "demand and cost curve"
        said.append(
            f"Not protected: {len(leaves)} {_many(agents.kind, len(leaves))} with one neighbour, {listed(leaves)}: that "
            f"neighbour knows all their masks, and so their {what}. {_remedy(agents)}"
        )
    hanging = sum(1 for _ in nx.articulation_points(agents.graph))
    if hanging:
        said.append(
            f"{hanging} {_many(agents.kind, hanging)} alone cut the graph: each learns the totals of the parts behind it. "
            "A designed graph (links=4) has no such cuts."
        )
    return said


def protecting_links(graph: nx.Graph[Any]) -> list[tuple[Any, Any]]:
    """Return links that give everybody at least two neighbours; the fewest that leave no cut where that is affordable.

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
    links = protecting_links(agents.graph)
    shown = ", ".join(f"{a} – {b}" for a, b in links[:6]) + f" and {len(links) - 6} more" * (len(links) > 6)
    return f"{len(links)} more link{'s' * (len(links) != 1)} would protect them: {shown}; any private channel will do."


def _against_one(answer: Answer) -> list[str]:
    if len(answer.network) > _SEARCHED:
        return []
    try:
        return [headline(answer.certificate(any=1), 10.0)]
    except TacitError:  # two agents have nothing to certify
        return []


def _many(kind: str, count: int = 2) -> str:
    return {"bus": "bus" if count == 1 else "buses", "area": "area" if count == 1 else "areas"}.get(
        kind, "generator" if count == 1 else "generators"
    )
