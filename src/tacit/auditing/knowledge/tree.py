"""The spanning tree on which agents add up, as everybody can work it out: nearest to the root, then smallest."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from tacit.network import Topology

_KNOWN: WeakKeyDictionary[Topology, tuple[NDArray[np.intp], NDArray[np.intp]]] = WeakKeyDictionary()


def parents_and_depths(network: Topology) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return every agent's parent, −1 at the root, and its distance from the root: worked out once a network."""
    if network not in _KNOWN:
        _KNOWN[network] = _worked_out(network)
    return _KNOWN[network]


def _worked_out(network: Topology) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    away = shortest_path(network.adjacency, unweighted=True, indices=0)
    nearer = [[int(j) for j in network.neighbours(i) if away[j] < away[i]] for i in range(len(away))]
    return np.array([min(each, default=-1) for each in nearer], dtype=np.intp), away.astype(np.intp)
