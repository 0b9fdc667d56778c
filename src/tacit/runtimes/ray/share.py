"""What one block has to know of the network: its agents, their links and weights, and where neighbours live.

    own    the block's agents, by increasing id, and their directed links: by owner, then by neighbour
    halo   neighbours that live in other blocks: by block, then by id

A row of W keeps the order of its entries, and a small network keeps the dense product of the stacked runtime: so
each agent adds up in the same order as there, and to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.network import Network, mixing_weights
from tacit.runtimes.ray.partition import Homes
from tacit.runtimes.stacked import DENSE
from tacit.typing import Array, Indices, Rows


@dataclass(frozen=True, kw_only=True)
class Share:
    """A block's part of the network."""

    number: int
    blocks: int
    everybody: int
    """Agents in all blocks together."""
    agents: Indices
    degrees: Indices
    neighbours: Indices
    """The agent at the other end of every directed link of this block."""
    homes: Indices
    """And its block."""
    links: Indices
    """Where these directed links stand among all of the network's."""
    weights: sp.csr_array
    """The block's rows of W; of a small network all rows."""
    adjacency: sp.csr_array | None
    """The whole of a small network; None of a large one, whose rows follow from the neighbours."""

    @property
    def owners(self) -> Indices:
        """The agent that owns every directed link."""
        return np.repeat(self.agents, self.degrees)

    @property
    def first(self) -> Rows:
        """Of every directed link whether it starts at its end with the smaller id."""
        return self.owners < self.neighbours

    @property
    def nearby(self) -> list[int]:
        """The other blocks in which neighbours live."""
        return [int(home) for home in np.unique(self.homes) if home != self.number]

    def halo_of(self, block: int) -> Indices:
        """Return the neighbours that live in another block, by id."""
        return np.unique(self.neighbours[self.homes == block])

    def wanted_by(self, block: int) -> Indices:
        """Return where the own agents stand that another block has in its halo."""
        return np.searchsorted(self.agents, np.unique(self.owners[self.homes == block]))

    def traded_with(self, block: int) -> tuple[Indices, Indices]:
        """Return the rows of links that go to a block, or stay, and those that what it sends belongs to."""
        rows = np.flatnonzero(self.homes == block)
        return rows, rows[np.lexsort((self.owners[rows], self.neighbours[rows]))]


def shares_of(network: Network, homes: Homes, weights: str) -> list[Share]:
    """Return the share of every block."""
    W, A = mixing_weights(network, weights), network.adjacency.copy()
    A.sort_indices()
    blocks, small = int(homes.max()) + 1, len(network) <= DENSE
    starts = np.concatenate([[0], np.cumsum(network.degrees)])
    shares = []
    for number in range(blocks):
        agents = np.flatnonzero(homes == number)
        neighbours = A[agents].indices.astype(np.intp)
        degrees = network.degrees[agents]
        within = np.arange(degrees.sum()) - np.repeat(np.cumsum(degrees) - degrees, degrees)
        shares.append(
            Share(
                number=number, blocks=blocks, everybody=len(network), agents=agents, degrees=degrees,
                neighbours=neighbours, homes=homes[neighbours], links=np.repeat(starts[agents], degrees) + within,
                weights=W if small else W[agents], adjacency=network.adjacency if small else None,
            )
        )  # fmt: skip
    return shares


class Products:
    """The block's rows of W x and of A x, for x of its own agents and of its halo, in this order."""

    def __init__(self, share: Share) -> None:
        self._share = share
        halo = [share.halo_of(block) for block in share.nearby]
        self._known = np.concatenate([share.agents, *halo])
        self._order = np.argsort(self._known)
        self._adjacent: Callable[[Array], Array] | None = None
        self.mixed = self._product(share.weights)

    def gathered(self, x: Array) -> Array:
        """Return A x."""
        if self._adjacent is None:
            self._adjacent = self._product(self._adjacency())
        return self._adjacent(x)

    def _adjacency(self) -> sp.csr_array:
        share = self._share
        if share.adjacency is not None:
            return share.adjacency
        ends = np.concatenate([[0], np.cumsum(share.degrees)])
        shape = (len(share.agents), share.everybody)
        return sp.csr_array((np.ones(len(share.neighbours)), share.neighbours, ends), shape=shape)

    def _product(self, matrix: sp.csr_array) -> Callable[[Array], Array]:
        known, agents = self._known, self._share.agents
        if self._share.adjacency is not None:
            dense = matrix.toarray()

            def small(x: Array) -> Array:
                everybody = np.zeros((len(dense), x.shape[1]))
                everybody[known] = x
                return np.asarray(dense.dot(everybody)[agents])

            return small
        columns: Any = self._order[np.searchsorted(known, matrix.indices, sorter=self._order)]
        shape = (len(agents), len(known))
        return sp.csr_array(
            (matrix.data, columns.astype(matrix.indices.dtype), matrix.indptr), shape=shape
        ).__matmul__
