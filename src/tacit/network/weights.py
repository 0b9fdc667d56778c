"""Mixing weights W: symmetric, doubly stochastic, positive only along links.

    metropolis   w_ij = 1 / (1 + max(dᵢ, dⱼ))         needs only the neighbours' degrees
    lazy         (I + W) / 2 of the Metropolis weights: no negative eigenvalue
    laplacian    W = I − L / (1 + max dᵢ)              the same weight on every link

Xiao, Boyd, Kim, J. Parallel Distrib. Comput. 67(1), 2007, Section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from tacit.errors import InputError
from tacit.later import later
from tacit.network.topology import Topology
from tacit.spelling import did_you_mean
from tacit.typing import Array

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = later("scipy.sparse")

WEIGHTS = ("metropolis", "lazy", "laplacian")
_KNOWN: WeakKeyDictionary[Topology, dict[str, sp.csr_array]] = WeakKeyDictionary()  # an audit asks a thousand times


def mixing_weights(topology: Topology, kind: str = "metropolis") -> sp.csr_array:
    """Return W, (n, n) sparse, of one of the kinds in `WEIGHTS`: worked out once, and not to be changed."""
    if kind not in WEIGHTS:
        raise InputError(
            f"no weights are called {kind!r}; choose one of {', '.join(WEIGHTS)}.{did_you_mean(kind, WEIGHTS)}"
        )
    known = _KNOWN.setdefault(topology, {})
    if kind not in known:
        known[kind] = _weights(topology, kind)
        known[kind].data.setflags(write=False)
    return known[kind]


def own_weights(topology: Topology, kind: str, i: int) -> tuple[float, Array]:
    """Return one agent's own weight and those of its neighbours, increasing: its row of W, without all others."""
    near, degrees = topology.neighbours(i), topology.degrees
    if kind == "laplacian":
        w = np.full(len(near), 1.0 / (1.0 + degrees.max()))
    else:
        w = 1.0 / (1.0 + np.maximum(degrees[i], degrees[near]))
    if kind == "lazy":
        w = w / 2
    return 1.0 - float(np.add.reduceat(w, [0])[0]), w  # added up as scipy adds up a row


def _weights(topology: Topology, kind: str) -> sp.csr_array:
    i, j = topology.links.T
    degrees = topology.degrees
    if kind == "laplacian":
        w = np.full(len(i), 1.0 / (1.0 + degrees.max()))
    else:
        w = 1.0 / (1.0 + np.maximum(degrees[i], degrees[j]))
    if kind == "lazy":
        w = w / 2
    n = len(topology)
    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    beside = sp.csr_array((np.concatenate([w, w]), (rows, columns)), shape=(n, n))
    own = 1.0 - np.asarray(beside.sum(axis=1)).ravel()
    W = sp.csr_array(beside + sp.diags_array(own))
    W.sort_indices()
    return W
