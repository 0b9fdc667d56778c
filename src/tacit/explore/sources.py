"""Where a network comes from: a graph, a problem file, a manifest of a federation, or a generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from tacit.errors import InputError
from tacit.network import Network, read_graph
from tacit.network.regular import well_connected

MOST = 2000
"""Agents that a page draws."""


def read_network(path: str | Path) -> Network:
    """Return the network in a file: of a problem, of a federation, or a graph."""
    path = Path(path).expanduser()
    if path.suffix != ".toml":
        network = Network(read_graph(path))
    elif is_manifest(path):
        from tacit.federation.manifest import Manifest

        network = Manifest.read(path).network()
    else:
        from tacit.solving import load_problem

        network = load_problem(path).problem.network
    if len(network) > MOST:
        raise InputError(f"{path}: {len(network)} agents are more than a page can draw; {MOST} are the most.")
    return network


def is_manifest(path: Path) -> bool:
    """Tell whether a file of TOML is about a federation: it has members."""
    import tomllib

    try:
        return "members" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False  # whoever reads a problem says what is wrong with the file


@dataclass(frozen=True, slots=True)
class NetworkKind:
    """A kind of network, made for so many agents."""

    name: str
    make: Callable[[int], nx.Graph[Any]]
    agents: int
    """How many to begin with."""

    def __call__(self, agents: int) -> Network:
        """Return the network of so many agents."""
        if not 3 <= agents <= MOST:
            raise InputError(f"{agents} agents: a network on this page has from 3 to {MOST}.")
        return Network(self.make(agents))


def _barbell(agents: int) -> nx.Graph[Any]:
    """Return two groups with one agent between them: a cut that is easy to see."""
    side = max((agents - 1) // 2, 1)
    graph = nx.barbell_graph(max(side, 2), max(agents - 2 * max(side, 2), 1))
    return nx.convert_node_labels_to_integers(graph)


_KINDS = (
    NetworkKind("two groups and a bridge", _barbell, 9),
    NetworkKind("four links each", lambda n: well_connected(n, 4, draws=5 if n <= 200 else 1), 20),
    NetworkKind("three links each", lambda n: well_connected(n, 3, draws=5 if n <= 200 else 1), 12),
    NetworkKind("ring", nx.cycle_graph, 8),
    NetworkKind("line", nx.path_graph, 6),
    NetworkKind("star", lambda n: nx.star_graph(n - 1), 7),
    NetworkKind("everybody with everybody", nx.complete_graph, 8),
)
GENERATORS: Mapping[str, NetworkKind] = {kind.name: kind for kind in _KINDS}
"""What can be drawn without a file, by name."""


def opening() -> tuple[Network, str]:
    """Return the network that a page begins with, and its name."""
    kind = _KINDS[0]
    return kind(kind.agents), f"{kind.name}, {kind.agents}"
