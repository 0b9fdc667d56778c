"""Which agents share a block: blocks of about the same size, and few links between them.

METIS (Karypis & Kumar, SIAM J. Sci. Comput. 20(1), 1998) through pymetis, where it is installed. Beside it, the
order of the agents as it is, and the order of reverse Cuthill & McKee, both cut into equal lengths: of all of them,
the partition that cuts the fewest links.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.network import Network

Homes = NDArray[np.intp]
"""Of every agent the number of its block."""


def cut_size(network: Network, homes: Homes) -> int:
    """Return how many links have their ends in different blocks."""
    i, j = network.links.T
    return int((homes[i] != homes[j]).sum())


def partitioned(network: Network, blocks: int) -> Homes:
    """Return the best partition into so many blocks, none of them empty; the same every time."""
    n = len(network)
    if blocks <= 1 or n <= blocks:
        return np.minimum(np.arange(n), blocks - 1).astype(np.intp)
    ways = [_in_order(np.arange(n), blocks), _in_order(_banded(network), blocks), *_by_metis(network, blocks)]
    return min(ways, key=lambda homes: cut_size(network, homes))


def _in_order(order: NDArray[np.intp], blocks: int) -> Homes:
    homes = np.empty(len(order), dtype=np.intp)
    homes[order] = np.arange(len(order)) * blocks // len(order)
    return homes


def _banded(network: Network) -> NDArray[np.intp]:
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # heavy

    return np.asarray(reverse_cuthill_mckee(network.adjacency, symmetric_mode=True), dtype=np.intp)


def _by_metis(network: Network, blocks: int) -> list[Homes]:
    """Return what METIS finds; nothing where it is not installed, or leaves a block empty."""
    try:
        import pymetis
    except ImportError:
        return []
    A = network.adjacency
    adjacency = pymetis.CSRAdjacency(A.indptr, A.indices)
    homes = np.asarray(pymetis.part_graph(blocks, adjacency=adjacency).vertex_part, dtype=np.intp)
    return [homes] if len(np.unique(homes)) == blocks else []
