"""Who talks to whom among the parties.

Secret sums need the honest parties to stay connected whoever colludes; a well-connected graph with a few neighbours
each does that at little cost. Drawn with fixed seeds: a network is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

from tacit.errors import InputError
from tacit.listing import conjoined
from tacit.network import Network, well_connected
from tacit.spelling import did_you_mean

_NEIGHBOURS = 4
_DRAWS = 10  # networks tried, of which the best connected is taken


def connected(names: Sequence[Any], network: Any, *, any: int) -> Network:
    """Return the network of parties: a graph of their names, "complete", "4-regular", or "auto"."""
    if isinstance(network, Network | nx.Graph):
        given = Network(network)
        missing = [name for name in names if name not in given.index]
        strangers = [name for name in given.agents if name not in names]
        if missing or strangers:
            words = [f"lacks party {name}" for name in missing[:1]]
            words += [f"has {name}, which has no records" for name in strangers[:1]]
            raise InputError(f"the network {conjoined(words)}: its agents must be the parties.")
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(names)  # in the parties' order
        graph.add_edges_from(given.graph.edges())
        return Network(graph)
    degree = _degree(network, len(names), any)
    drawn = well_connected(len(names), degree, draws=_DRAWS)
    ordered: nx.Graph[Any] = nx.Graph()
    ordered.add_nodes_from(names)
    ordered.add_edges_from((names[i], names[j]) for i, j in drawn.edges())
    return Network(ordered)


def _degree(network: Any, parties: int, any: int) -> int:
    if network == "complete":
        return parties - 1
    if network == "auto":
        return max(_NEIGHBOURS, 2 * any + 2)
    head, _, tail = str(network).partition("-")
    if tail != "regular" or not head.isdigit() or int(head) < 2:
        raise InputError(
            f"network = {network!r} is not 'auto', 'complete', '4-regular' or a graph of the parties."
            f"{did_you_mean(network, ['auto', 'complete', '4-regular'])}"
        )
    degree = int(head)
    if degree < parties - 1 and degree * parties % 2:
        raise InputError(f"{parties} parties cannot all have {degree} neighbours; use {degree + 1}-regular.")
    return degree
