"""What everybody knows before a run begins, and so does whoever attacks it.

The network, the weights, the algorithm with its settings, the starting point, the kind of masks with their σ: all
of it is in the manifest that members compare. The theorem also concedes everything but what the masks hide: for
affine masks that is the curvature of every cost, and the features of a regression.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.network import Topology
from tacit.typing import Algorithm, Array, Cost


class Public(msgspec.Struct, frozen=True, kw_only=True):
    """Public knowledge about one run. Agents are numbered by their position."""

    links: NDArray[Any]
    """(E, 2)."""
    weights: Array
    """W, (n, n)."""
    algorithm: Algorithm | None = None
    """Its settings, ready to run (`tacit.typing.Algorithm`); None where none runs, as in phase 1 by itself."""
    start: Array
    """x₀, (m,): where all agents start."""
    point: Array
    """Where the gradients are taken that masks hide, (m,)."""
    mechanism: str = "none"
    """none, affine, quadratic, basis or sums."""
    sigma: float | None = None
    link_scales: Array | None = None
    """σ of every link as a multiple of sigma, (E,); None where all are 1."""
    step: float = 0.0
    """The lattice's, or the fixed point's."""
    words: int = 1
    rough: bool = False
    """Whether costs have parts without a gradient: then proximal steps blur what messages tell."""
    curvatures: Array | None = None
    """Conceded: ∇²h_i of costs that are quadratic, (n, m, m); None where they are hidden, or not constant."""
    features: list[Array] | None = None
    """Conceded: A_i of logistic regressions, (records, m) each; None where they are hidden."""
    slopes: Array | None = None
    """Conceded with the features: the gradient of the curved part at the point, (n, m)."""
    family: Callable[..., Cost] | None = None
    """The class of all agents' costs, where they are of one: makes costs from made-up data, and holds nobody's."""

    @property
    def agents(self) -> int:
        """n."""
        return len(self.weights)

    @property
    def unknowns(self) -> int:
        """m."""
        return len(self.point)

    @property
    def network(self) -> Topology:
        """The graph, with positions for names."""
        return Topology(range(self.agents), self.links)

    def honest(self, coalition: NDArray[Any]) -> NDArray[np.intp]:
        """Return who is not in the coalition, in order."""
        return np.setdiff1d(np.arange(self.agents), coalition).astype(np.intp)

    def honest_laplacian(self, coalition: NDArray[Any]) -> Array:
        """Return L_H, with scaled links where links have a σ of their own."""
        corrupted = np.isin(self.links, coalition).any(axis=1)
        scales = None if self.link_scales is None else self.link_scales[~corrupted]
        return np.asarray(self.network.without(coalition.tolist()).scaled_laplacian(scales).toarray())

    def components(self, coalition: NDArray[Any]) -> list[NDArray[np.intp]]:
        """Return the connected pieces of the honest graph."""
        pieces = self.network.without(coalition.tolist()).components
        return [np.array(piece, dtype=np.intp) for piece in pieces]
