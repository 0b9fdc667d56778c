"""Gossip on a device: weighted sums over neighbours.

table     row k of a table holds every agent's k-th neighbour: k gathers, added up in one pass
segments  one gather over all links, added up by owner: where degrees differ so much that a table is mostly empty
dense     a product with the whole matrix, on small networks
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from tacit.errors import AlgorithmError
from tacit.network import Network, mixing_weights
from tacit.runtimes.jax.arrays import DeviceArray
from tacit.typing import Array

_DENSE = 64  # up to here a dense product is faster
_WHOLE = 16  # numbers: a line of a GPU's memory
_FILLED = 0.25  # a table that is emptier is not worth its gathers


def rows_of(matrix: sp.csr_array) -> dict[str, Any]:
    """Return the arrays that `product` takes for this matrix."""
    n = matrix.shape[0]
    if n <= _DENSE:
        return {"dense": matrix.toarray()}
    lengths = np.diff(matrix.indptr)
    owner = np.repeat(np.arange(n), lengths)
    most = int(lengths.max())
    if len(owner) < _FILLED * n * most:
        return {"owner": owner.astype(np.int32), "column": matrix.indices.astype(np.int32), "weight": matrix.data}
    place = np.arange(len(owner)) - np.repeat(matrix.indptr[:-1], lengths)
    columns, weights = np.tile(np.arange(n, dtype=np.int32), (most, 1)), np.zeros((most, n))
    columns[place, owner], weights[place, owner] = matrix.indices, matrix.data
    return {"columns": columns, "weights": weights}


@jax.jit  # type: ignore[untyped-decorator]  # JAX is not followed: it may be absent
def product(rows: dict[str, Any], x: Any) -> Any:
    """Return the matrix behind *rows* times x, (n, m)."""
    if "dense" in rows:
        return rows["dense"] @ x
    if "owner" in rows:
        terms = rows["weight"][:, None] * x[rows["column"]]
        return jax.ops.segment_sum(terms, rows["owner"], num_segments=len(x), indices_are_sorted=True)
    columns, weights, m = rows["columns"], rows["weights"], x.shape[1]
    whole = jax.lax.optimization_barrier  # or a compiler gathers what is left of the rows after cutting them
    wide = whole(jnp.pad(x, ((0, 0), (0, _width(m) - m))))
    terms = (w[:, None] * wide.at[c].get(mode="promise_in_bounds") for w, c in zip(weights, columns, strict=True))
    return whole(whole(sum(terms))[:, :m])


def _width(m: int) -> int:
    """Return how long rows should be to be gathered: on a GPU, short ones cost less where they do not straddle."""
    return 1 << (m - 1).bit_length() if m < _WHOLE and jax.default_backend() != "cpu" else m


class Tables:
    """What gossip on a network needs on the device."""

    def __init__(self, network: Network, weights: str) -> None:
        self.links = 2 * len(network.links)
        self.arrays = {
            "mix": rows_of(mixing_weights(network, weights)),
            "gather": rows_of(network.adjacency),
            "degree": network.degrees.astype(np.float64)[:, None],
        }


class DevicePeers:
    """`Peers` of all agents at once, on a device. Counts what is exchanged while it is traced or run."""

    resolution = 0.0

    def __init__(self, arrays: dict[str, Any], links: int) -> None:
        self._arrays, self.links = arrays, links
        self.degree = DeviceArray(arrays["degree"])
        self.gossips = self.gossiped = 0  # times, and bytes of all agents' own rows

    def mix(self, x: Any) -> Any:
        """Return W x."""
        return self._gossip("mix", x)

    def gather(self, x: Any) -> Any:
        """Return the sums over the neighbours."""
        return self._gossip("gather", x)

    def _gossip(self, kind: str, x: Any) -> DeviceArray:
        value = jnp.asarray(x.value if isinstance(x, DeviceArray) else x)
        self.gossips += 1
        self.gossiped += int(value.size) * int(value.dtype.itemsize)
        return DeviceArray(product(self._arrays[kind], value))

    @property
    def first(self) -> Any:
        """Refused, as are all rows of links."""
        raise _refusal()

    def swap(self, r: Any, **options: Any) -> Array:
        """Refused: no algorithm that gossips trades rows of links."""
        raise _refusal()

    def total(self, r: Any) -> Array:
        """Refused."""
        raise _refusal()

    def sum(self, v: Any, add: Any = np.add) -> Array:
        """Refused: an algorithm that adds up says so."""
        raise _refusal()


def _refusal() -> AlgorithmError:
    return AlgorithmError("runtime 'jax' mixes and gathers, and this algorithm asks for more; use 'stacked'.")
