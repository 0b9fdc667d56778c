"""Whose demand and whose cost curve is hidden from whom, in words; and which links would help."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import networkx as nx

from tacit.certificates import augment
from tacit.dispatch.agents import Agents
from tacit.listing import listed
from tacit.solving import Answer

_SMALL = 60  # agents up to which the fewest links are searched for
_NAMED = 30  # agents and links in a sentence; a schedule has all of them


def statement(agents: Agents, answer: Answer, *, sigma: float | None, masked: bool, ramps: bool) -> list[str]:
    """Return sentences about one dispatch: the lines of its run, with what they mean for a grid."""
    stamps, lines = answer.stamps(), answer.privacy()
    if not masked:
        return lines
    voids = sum(stamp.voids for stamp in stamps)
    everybody = any(stamp.voids and not stamp.agents for stamp in stamps)
    named = len(agents.holds) if everybody else len({a for stamp in stamps if stamp.voids for a in stamp.agents})
    reasons = {stamp.reason for stamp in stamps}
    remedy = [_remedy(agents)] * ("one neighbour" in reasons)
    remedy += ["A designed graph, of 4 links each, has no agent without whom it falls apart."] * ("cut" in reasons)
    return [*lines[:voids], *_hidden(agents, named, sigma=sigma, ramps=ramps), *lines[voids:], *remedy]


def _hidden(agents: Agents, named: int, *, sigma: float | None, ramps: bool) -> list[str]:
    """Say what is hidden of those whom no line above names, and what all learn."""
    left = len(agents.holds) - named
    whose = f"the {left} {_many(agents.kind, left)}{' that no line above names' * (named > 0)}"
    if sigma is not None:
        hidden = (
            f"Demands (less must-run output) of {whose} are hidden from each other by masks of {sigma:g} MW. "
        ) * (left > 0)
        return [
            f"{hidden}Cost curves are not hidden: a neighbour reads them from the prices that it is told. Totals "
            "over the whole grid are learnt by all: the spare capacity, and how the last megawatts are split."
        ]
    hidden = f"Demands and cost curves of {whose} are hidden from each other. " * (left > 0)
    totals = "how much all of them together offer, less what they need, at the prices tried"
    totals += ", with its slope and value" * ramps
    uncounted = (
        " How much of the cost curves follows from these totals was not counted; of few units, all may." * ramps
    )
    return [
        f"{hidden}All learn totals over the whole grid: {totals}, and how the last megawatts are split.{uncounted}"
    ]


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
    return f"{count} would change that: {listed(links, most=_NAMED)}; any private channel will do."


def _many(kind: str, count: int = 2) -> str:
    many = {"bus": "buses", "area": "areas", "generator": "generators"}
    return kind if count == 1 else many[kind]
