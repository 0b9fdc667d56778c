"""The communication graph G = (V, E), and what is left of it without a coalition.

    ∇_ie = +1 at the smaller index of e, −1 at the larger     incidence matrix
    L = ∇∇ᵀ                                                   Laplacian
    G_H = G − C                                               honest graph

Gupta & Chopra, Section II. Indices follow the order of the graph's nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import GraphError
from tacit.later import later
from tacit.listing import listed
from tacit.network.spectrum import algebraic_connectivity
from tacit.network.tree import Tree, spanning_tree
from tacit.showing import Readable
from tacit.spelling import did_you_mean
from tacit.typing import Array

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
else:
    nx = later("networkx")
    sp = later("scipy.sparse")

AgentName = Hashable
"""Whatever tells agents apart in a networkx graph."""
_SMALL = 64  # agents, up to which pieces are found by hand
_SHOWN = 6  # pieces spelled out in a message


class Topology(Readable):
    """Agents and the links between them; connected or not."""

    def __init__(self, agents: Sequence[AgentName], links: NDArray[np.intp]) -> None:
        self.agents: tuple[AgentName, ...] = tuple(agents)
        self.links = links
        """The links as index pairs (i < j), one per row, in increasing order."""

    def __len__(self) -> int:
        return len(self.agents)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} agents, {len(self.links)} links)"

    def __str__(self) -> str:
        return f"{len(self)} agents, {len(self.links)} links: {listed(self.agents)}."

    @cached_property
    def index(self) -> dict[AgentName, int]:
        """The position of every agent."""
        return {agent: i for i, agent in enumerate(self.agents)}

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """The adjacency matrix, (n, n) sparse."""
        i, j = self.links.T
        ones = np.ones(2 * len(i))
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        return sp.csr_array((ones, (rows, columns)), shape=(len(self), len(self)))

    @cached_property
    def degrees(self) -> NDArray[np.intp]:
        """The number of neighbours of every agent."""
        return np.bincount(self.links.ravel(), minlength=len(self)).astype(np.intp)

    @cached_property
    def incidence(self) -> sp.csr_array:
        """∇, (n, |E|) sparse: +1 at the smaller index of a link and −1 at the larger."""
        i, j = self.links.T
        edges = np.arange(len(i))
        signs = np.concatenate([np.ones(len(i)), -np.ones(len(j))])
        places = (np.concatenate([i, j]), np.concatenate([edges, edges]))
        return sp.csr_array((signs, places), shape=(len(self), len(i)))

    @cached_property
    def laplacian(self) -> sp.csr_array:
        """L = ∇∇ᵀ, (n, n) sparse."""
        return sp.csr_array(sp.diags_array(self.degrees.astype(float)) - self.adjacency)

    def scaled_laplacian(self, scales: Array | None) -> sp.csr_array:
        """Return Σ_e s_e² (e_i − e_j)(e_i − e_j)ᵀ for one scale per link; L itself where *scales* is None."""
        if scales is None:
            return self.laplacian
        scaled = self.incidence @ sp.diags_array(np.asarray(scales, dtype=np.float64))
        return sp.csr_array(scaled @ scaled.T)

    @cached_property
    def components(self) -> tuple[tuple[AgentName, ...], ...]:
        """The connected pieces, each in the order of the agents."""
        pieces: dict[int, list[AgentName]] = {}
        for agent, p in zip(self.agents, self._pieces(), strict=True):
            pieces.setdefault(int(p), []).append(agent)
        return tuple(tuple(p) for p in pieces.values())

    def _pieces(self) -> NDArray[np.integer[Any]]:
        """Return the number of every agent's piece."""
        if len(self) > _SMALL:
            from scipy.sparse.csgraph import connected_components  # heavy: few agents go without

            return np.asarray(connected_components(self.adjacency, directed=False)[1])
        piece = np.full(len(self), -1)
        for first in range(len(self)):
            reached = [first] if piece[first] < 0 else []
            piece[reached] = first
            while reached:
                near = self.neighbours(reached.pop())
                new = near[piece[near] < 0]
                piece[new] = first
                reached += new.tolist()
        return piece

    @cached_property
    def algebraic_connectivity(self) -> float:
        """μ₂(L): 0 exactly if the graph is not connected."""
        return 0.0 if len(self.components) > 1 else algebraic_connectivity(self.laplacian)

    @cached_property
    def tree(self) -> Tree:
        """The spanning tree on which agents add up, which everybody can work out; there is none in pieces."""
        return spanning_tree(len(self), self.links)

    def neighbours(self, i: int) -> NDArray[np.intp]:
        """Return the indices of the neighbours of agent number *i*, increasing."""
        starts, near = self._near
        return near[starts[i] : starts[i + 1]]

    @cached_property
    def _near(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where every agent's neighbours begin, and all of them."""
        i, j = self.links.T
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        near = columns[np.lexsort((columns, rows))].astype(np.intp)
        near.setflags(write=False)
        return np.concatenate([[0], np.cumsum(self.degrees)]), near

    def named(self, names: Iterable[str]) -> tuple[AgentName, ...]:
        """Return the agents that are written so: in files and on command lines, names are words."""
        written = {str(agent): agent for agent in self.agents}
        names = list(names)
        unknown = [name for name in names if name not in written]
        if unknown:
            raise self._no_agent(unknown)
        return tuple(written[name] for name in names)

    def only(self, agents: Iterable[AgentName]) -> Topology:
        """Return the subgraph induced by *agents*."""
        kept = np.zeros(len(self), dtype=bool)
        kept[self._indices(agents)] = True
        renumbered = np.cumsum(kept) - 1
        links = self.links[kept[self.links].all(axis=1)]
        return Topology([a for a, k in zip(self.agents, kept, strict=True) if k], renumbered[links])

    def without(self, coalition: Iterable[AgentName]) -> Topology:
        """Return the honest graph G_H = G − C."""
        corrupted = set(self._indices(coalition))
        return self.only(a for i, a in enumerate(self.agents) if i not in corrupted)

    def is_vertex_cut(self, coalition: Iterable[AgentName]) -> bool:
        """Tell whether removing *coalition* leaves the rest in more than one piece."""
        return len(self.without(coalition).components) > 1

    def _indices(self, agents: Iterable[AgentName]) -> list[int]:
        agents = list(agents)
        unknown = [a for a in agents if a not in self.index]
        if unknown:
            raise self._no_agent(unknown)
        return [self.index[a] for a in agents]

    def _no_agent(self, names: list[Any]) -> GraphError:
        return GraphError(
            f"no agent is called {listed(names)}; this network has {listed(self.agents)}."
            f"{did_you_mean(names[0], self.agents)}"
        )


class Network(Topology):
    """A simple, undirected, connected graph of at least two agents, from any networkx graph."""

    def __init__(self, graph: nx.Graph[Any] | Network) -> None:
        if isinstance(graph, Network):
            super().__init__(graph.agents, graph.links)
            return
        _refuse_other_graphs(graph)
        self._connect(list(graph.nodes()), list(graph.edges()))

    @classmethod
    def of_links(cls, agents: Sequence[AgentName], links: Iterable[tuple[AgentName, AgentName]]) -> Self:
        """Return the network of these agents and links; networkx is not loaded for it."""
        network = cls.__new__(cls)
        network._connect(list(agents), list(links))
        return network

    @classmethod
    def of_pairs(cls, pairs: ArrayLike) -> Self:
        """Return the network of agents 0, …, n − 1 with these links, an array of two columns: quick for a million.

        A link may come twice, and either way round.

        >>> Network.of_pairs([(0, 1), (2, 1), (1, 0)])
        Network(3 agents, 2 links)
        """
        pairs = np.asarray(pairs)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or pairs.dtype.kind not in "iu":
            raise GraphError("links are pairs of agents' numbers: an array of integers with two columns.")
        if pairs.min() < 0:
            raise GraphError(f"a link names agent {pairs.min()}: agents have the numbers 0, 1, 2 and so on.")
        _refuse_loops(pairs[pairs[:, 0] == pairs[:, 1], 0].tolist())
        network = cls.__new__(cls)
        network._join(range(int(pairs.max()) + 1), pairs.astype(np.intp))
        return network

    def _connect(self, agents: list[AgentName], links: list[tuple[AgentName, AgentName]]) -> None:
        _refuse_loops([a for a, b in links if a == b])
        if len(agents) < 2:
            raise GraphError(
                f"the graph has {len(agents)} agent(s): agreeing in private needs at least two, "
                "and hiding something from one of them at least three."
            )
        index = {agent: i for i, agent in enumerate(agents)}
        self._join(agents, np.array([(index[a], index[b]) for a, b in links], dtype=np.intp).reshape(-1, 2))

    def _join(self, agents: Sequence[AgentName], pairs: NDArray[np.intp]) -> None:
        n = len(agents)
        keys = np.unique(pairs.min(axis=1, initial=n) * n + pairs.max(axis=1, initial=0))
        super().__init__(agents, np.stack([keys // n, keys % n], axis=1))
        if len(self.components) > 1:
            pieces = "; ".join(listed(piece) for piece in self.components[:_SHOWN])
            raise GraphError(
                f"the graph falls into {len(self.components)} pieces ({pieces}): "
                "agents in different pieces can never agree; add links between them."
            )

    @property
    def graph(self) -> nx.Graph[Any]:
        """A new networkx graph of this network."""
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(self.agents)
        graph.add_edges_from((self.agents[i], self.agents[j]) for i, j in self.links)
        return graph


def _refuse_other_graphs(graph: nx.Graph[Any]) -> None:
    if not isinstance(graph, nx.Graph):
        raise GraphError(f"a network is built from a networkx graph, not from {type(graph).__name__}.")
    if graph.is_directed():
        raise GraphError("the graph is directed, and links go both ways; make it undirected.")
    if graph.is_multigraph():
        raise GraphError("the graph has parallel links; merge them.")


def _refuse_loops(loops: Sequence[AgentName]) -> None:
    """Refuse links that lead nowhere."""
    if loops:
        raise GraphError(
            f"{listed(loops)} linked to itself: an agent cannot exchange masks with itself; remove the self-loops."
        )
