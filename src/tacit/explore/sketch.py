"""A network as somebody draws it: agents and links at places on a page, who is corrupted, and the masks.

A value. Every gesture returns another sketch: a click, a drag, a new link. It may fall into pieces while it is
drawn; what follows from it is `insight`'s business.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import networkx as nx

from tacit.errors import InputError
from tacit.network import Network
from tacit.report.figures.network import Place, laid_out

SIGMAS = (1e-2, 1e6)
"""The smallest and the largest σ of the slider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """What is on the page."""

    agents: tuple[Any, ...]
    links: frozenset[frozenset[Any]]
    places: Mapping[Any, Place] = field(repr=False)
    coalition: tuple[Any, ...] = ()
    sigma: float = 10.0
    sums: bool = False
    """Whether masks are those of secret sums, which have no σ."""
    hide: float = 1.0
    """How large a difference is to be hidden."""
    suggested: tuple[tuple[Any, Any], ...] = ()
    """Links that would help."""

    @classmethod
    def of(cls, graph: nx.Graph[Any] | Network, **settings: Any) -> Sketch:
        """Return a network as it is first drawn."""
        network = Network(graph)
        links = frozenset(frozenset((network.agents[i], network.agents[j])) for i, j in network.links)
        return cls(agents=network.agents, links=links, places=laid_out(network), **settings)

    @property
    def graph(self) -> nx.Graph[Any]:
        """The agents and links as networkx has them; in pieces, if they are."""
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(self.agents)
        order = {agent: i for i, agent in enumerate(self.agents)}
        graph.add_edges_from(
            sorted(
                (self._ends(link, order) for link in self.links), key=lambda ends: (order[ends[0]], order[ends[1]])
            )
        )
        return graph

    @staticmethod
    def _ends(link: frozenset[Any], order: Mapping[Any, int]) -> tuple[Any, Any]:
        one, other = sorted(link, key=order.__getitem__)
        return one, other

    @property
    def width(self) -> float:
        """σ as certificates take it: infinite for secret sums."""
        return math.inf if self.sums else self.sigma

    def named(self, name: str) -> Any:
        """Return the agent that a page calls so."""
        agent = next((agent for agent in self.agents if str(agent) == name), None)
        if agent is None:
            raise InputError(f"no agent is called {name}.")
        return agent

    def corrupted(self, agents: Iterable[Any]) -> Sketch:
        """Return the sketch with this coalition."""
        members = set(agents)
        return replace(self, coalition=tuple(agent for agent in self.agents if agent in members), suggested=())

    def clicked(self, agent: Any) -> Sketch:
        """Return the sketch with one agent corrupted, or honest again."""
        return self.corrupted({*self.coalition} ^ {agent})

    def moved(self, agent: Any, place: Place) -> Sketch:
        """Return the sketch with one agent elsewhere on the page."""
        return replace(self, places={**self.places, agent: place})

    def joined(self, one: Any, other: Any) -> Sketch:
        """Return the sketch with one link more, or less where it was there."""
        if one == other:
            return self
        link = frozenset((one, other))
        left = tuple(each for each in self.suggested if frozenset(each) != link)
        return replace(self, links=self.links ^ {link}, suggested=left)

    def with_agent(self, place: Place) -> Sketch:
        """Return the sketch with one agent more, under the first free number."""
        numbers = {str(agent) for agent in self.agents}
        name: Any = next(n for n in count() if str(n) not in numbers)
        name = str(name) if any(isinstance(agent, str) for agent in self.agents) else name
        return replace(self, agents=(*self.agents, name), places={**self.places, name: place})

    def without_agent(self, agent: Any) -> Sketch:
        """Return the sketch without an agent and its links."""
        return replace(
            self,
            agents=tuple(each for each in self.agents if each != agent),
            links=frozenset(link for link in self.links if agent not in link),
            places={each: place for each, place in self.places.items() if each != agent},
            coalition=tuple(each for each in self.coalition if each != agent),
            suggested=tuple(link for link in self.suggested if agent not in link),
        )
