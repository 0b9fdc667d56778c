"""The fewest extra links after which no coalition of t agents cuts the honest agents apart.

A link helps only if it joins two pieces of some small cut. So: take a cut of at most t agents; one of the
links between its pieces must be added; try each, depth first, with one link more until some set suffices.
That is exact, and affordable on small graphs. Beyond its budget, links are added one by one between the least
connected agents of different pieces, and links that turn out superfluous are taken back; then only a lower
bound on the number is known, and the result says so:

    ⌈Σ_i max(0, t + 1 − d_i)/2⌉        every agent needs t + 1 neighbours
    pieces of a cut of t agents − 1    all but one must be joined to the rest
    ⌈pieces that hang on a cut/2⌉      a link serves at most two of them
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.certificates.certificate import Certificate
from tacit.certificates.worst import worst_coalition_indices
from tacit.errors import InputError, TacitError, VacuousError
from tacit.later import later
from tacit.network import Network, Topology, small_vertex_cut
from tacit.showing import Shown, frame

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

Link = tuple[int, int]
_BUDGET = 1500  # cuts looked for by the exact search
_SMALL = 60  # agents up to which the exact search is tried
_AT_ONCE = 400  # agents up to which links are looked for wherever somebody is exposed
_PRUNED = 300  # agents up to which superfluous links are taken back one by one


@dataclass(frozen=True, slots=True)
class Augmentation(Shown):
    """Links to add, and how few there could be."""

    links: tuple[tuple[Any, Any], ...]
    at_least: int
    """No fewer links suffice."""
    graph: nx.Graph[Any]
    """The graph with the links added."""
    mu: float | None = None
    """m_t reached, where a target was asked for."""

    def __str__(self) -> str:
        named = "; ".join(f"{a} – {b}" for a, b in self.links)
        least = "no fewer suffice" if self.exact else f"at least {self.at_least} are needed"
        return f"{len(self.links)} link(s) to add, {least}: {named}." if self.links else "No link is needed."

    def to_frame(self) -> Any:
        """Return the links as a table of pandas, an end in each column."""
        return frame([{"agent": a, "with": b} for a, b in self.links], "agent", ("with",))

    def to_dict(self) -> dict[str, Any]:
        """Return the links and what is known about their number, for JSON."""
        return {
            "links": [[str(a), str(b)] for a, b in self.links],
            "count": len(self.links),
            "at_least": self.at_least,
            "exact": self.exact,
            "mu": self.mu,
        }

    @property
    def exact(self) -> bool:
        """Whether the number of links is proven to be the least."""
        return len(self.links) == self.at_least


def remedy(network: Network, certificate: Certificate) -> Augmentation | None:
    """Return the links that would protect whom the coalitions of a certificate expose.

    None where nobody is exposed, where a bound could not tell, and on networks so large that it takes a while:
    `augment` finds the links there.
    """
    if certificate.is_private or not certificate.guards or certificate.method == "bound":
        return None
    return augment(network, any=certificate.guards) if len(network) <= _AT_ONCE else None


def augment(
    graph: nx.Graph[Any] | Network,
    *,
    any: int,
    mu: float | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Augmentation:
    """Return links after which no coalition of at most *any* agents is a vertex cut, and m_t ≥ *mu* if given.

    >>> import networkx as nx
    >>> augment(nx.path_graph(4), any=1).links
    ((0, 3),)
    """
    network = Network(graph)
    n = len(network)
    if not 1 <= any <= n - 2:
        raise VacuousError(f"any = {any} of {n} agents: links help against 1 ≤ any ≤ {n - 2} of them.")
    if mu is not None and not 0 < mu <= n - any:
        raise InputError(f"mu = {mu} must lie between 0 and {n - any}, what a complete graph reaches.")
    least = _lower_bound(network, any)
    added = _fewest(network, any, least, on_progress)
    at_least = least if added is None else len(added)
    if added is None:
        added = _greedily(network, any, on_progress)
    reached = None
    if mu is not None:
        added, reached = _strengthened(network, any, added, mu, on_progress)
    together = _with(network, added)
    named = tuple((network.agents[i], network.agents[j]) for i, j in added)
    return Augmentation(named, at_least if mu is None else least, Network(_graph(together)).graph, reached)


def _with(topology: Topology, added: tuple[Link, ...]) -> Topology:
    links = np.array(sorted({*map(tuple, topology.links.tolist()), *added}), dtype=np.intp).reshape(-1, 2)
    return Topology(topology.agents, links)


def _graph(topology: Topology) -> nx.Graph[Any]:
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(topology.agents)
    graph.add_edges_from((topology.agents[i], topology.agents[j]) for i, j in topology.links)
    return graph


def _pieces(topology: Topology, cut: Any) -> list[list[int]]:
    rest = topology.without(topology.agents[i] for i in cut)
    return [[topology.index[agent] for agent in piece] for piece in rest.components]


def _lower_bound(topology: Topology, t: int) -> int:
    missing = np.maximum(t + 1 - topology.degrees, 0)
    bound = int(-(-missing.sum() // 2))
    cut = small_vertex_cut(topology, t)
    if cut is None:
        return bound
    if len(cut) == t:
        bound = max(bound, len(_pieces(topology, cut)) - 1)
    if t == 1:
        graph: nx.Graph[int] = nx.Graph(topology.links.tolist())
        cuts = set(nx.articulation_points(graph))
        leaves = sum(len(cuts.intersection(block)) == 1 for block in nx.biconnected_components(graph))
        joints = max((len(_pieces(topology, [c])) for c in cuts), default=1) if len(topology) <= 3000 else 1
        bound = max(bound, -(-leaves // 2), joints - 1)
    return max(bound, 1)


class _OutOfBudgetError(Exception):
    """The exact search has looked at enough cuts."""


def _fewest(
    topology: Topology, t: int, least: int, on_progress: Callable[[float], None] | None
) -> tuple[Link, ...] | None:
    """Return a smallest set of links by iterative deepening, or None beyond the budget."""
    if len(topology) > _SMALL:
        return None
    looked = 0
    tried: set[frozenset[Link]] = set()

    def search(added: tuple[Link, ...], left: int) -> tuple[Link, ...] | None:
        nonlocal looked
        looked += 1
        if looked > _BUDGET:
            raise _OutOfBudgetError
        if on_progress is not None:
            on_progress(looked / _BUDGET)
        current = _with(topology, added)
        cut = small_vertex_cut(current, t)
        if cut is None:
            return added
        if left == 0 or _lower_bound(current, t) > left:
            return None
        for link in _across(current, cut):
            together = (*added, link)
            if frozenset(together) in tried:
                continue
            tried.add(frozenset(together))
            solution = search(together, left - 1)
            if solution is not None:
                return solution
        return None

    try:
        for size in range(least, len(topology) ** 2):
            tried.clear()
            solution = search((), size)
            if solution is not None:
                return solution
    except _OutOfBudgetError:
        return None
    return None


def _across(topology: Topology, cut: Any) -> Iterator[Link]:
    """Yield the links between different pieces of a cut, the least connected agents first."""
    pieces = _pieces(topology, cut)
    pairs = [
        (int(topology.degrees[i] + topology.degrees[j]), min(i, j), max(i, j))
        for one, other in combinations(pieces, 2)
        for i in one
        for j in other
    ]
    for _, i, j in sorted(pairs):
        yield i, j


def _greedily(topology: Topology, t: int, on_progress: Callable[[float], None] | None) -> tuple[Link, ...]:
    """Return enough links: first for the agents with too few, then one per remaining cut; then prune."""
    added = _for_degrees(topology, t)
    while True:
        current = _with(topology, tuple(added))
        cut = small_vertex_cut(current, t)
        if cut is None:
            break
        pieces = sorted(_pieces(current, cut), key=len)
        if len(pieces) < 2:
            raise TacitError("a set that should cut the graph does not; please report this graph.")
        ends = [min(piece, key=lambda i: (current.degrees[i], i)) for piece in pieces]
        new = [(min(a, b), max(a, b)) for a, b in pairwise(ends)]
        added += [link for link in new if link not in added]
        if on_progress is not None:
            on_progress(0.5)
    if len(topology) <= _PRUNED:
        for link in list(added):
            fewer = [other for other in added if other != link]
            if small_vertex_cut(_with(topology, tuple(fewer)), t) is None:
                added = fewer
    return tuple(added)


def _for_degrees(topology: Topology, t: int) -> list[Link]:
    """Return links that give every agent t + 1 neighbours, joining agents that lack some, far ones first."""
    missing = np.maximum(t + 1 - topology.degrees, 0).astype(int)
    linked = {*map(tuple, topology.links.tolist())}
    added: list[Link] = []
    # agents in the order of a walk through the graph: partners half the list apart are far from each other
    walk = list(nx.dfs_preorder_nodes(nx.Graph(topology.links.tolist())))
    while missing.any():
        lacking = [i for i in walk if missing[i] > 0]
        half = max(len(lacking) // 2, 1)
        progress = False
        for k in range(half):
            i = lacking[k]
            partners = lacking[half + k :] + lacking[half : half + k] + [j for j in walk if not missing[j]]
            j = next((j for j in partners if j != i and (min(i, j), max(i, j)) not in linked), None)
            if j is None or not missing[i]:
                continue
            link = (min(i, j), max(i, j))
            linked.add(link)
            added.append(link)
            missing[i] -= 1
            missing[j] = max(missing[j] - 1, 0)
            progress = True
        if not progress:
            break
    return added


def _strengthened(
    topology: Topology, t: int, added: tuple[Link, ...], mu: float, on_progress: Callable[[float], None] | None
) -> tuple[tuple[Link, ...], float]:
    """Return more links until m_t ≥ mu: each joins the honest agents farthest apart in the worst Fiedler vector."""
    start = None
    while True:
        current = _with(topology, added)
        worst = worst_coalition_indices(current, t)
        start = worst.mu if start is None else start
        if worst.mu >= mu:
            return added, worst.mu
        if on_progress is not None and mu > start:
            on_progress((worst.mu - start) / (mu - start))
        honest = current.without(current.agents[i] for i in worst.coalition or ())
        fiedler = np.linalg.eigh(honest.laplacian.toarray())[1][:, 1]
        order = [current.index[agent] for agent in honest.agents]
        linked = {*map(tuple, current.links.tolist())}
        gaps = np.abs(fiedler[:, None] - fiedler[None, :])
        for flat in np.argsort(-gaps, axis=None):
            i, j = (order[int(k)] for k in np.unravel_index(int(flat), gaps.shape))
            link = (min(i, j), max(i, j))
            if i != j and link not in linked:
                added = (*added, link)
                break
        else:
            raise InputError(f"mu = {mu} is out of reach: every two agents are linked already.")
