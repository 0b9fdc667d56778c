"""What everybody knows before a run begins, and so does whoever attacks it.

The network, the weights, the algorithm with its settings, the starting point, the kind of masks with their σ: all
of it is in the manifest that members compare. The theorem also concedes everything but what the masks hide: for
affine masks that is the curvature of every cost, and the features of a regression.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from tacit.coverage import MaskKind
from tacit.network import Topology
from tacit.typing import Algorithm, Array, Cost


class RecordShape(msgspec.Struct, frozen=True, kw_only=True):
    """What a record is, by its shape alone: whoever knows it can make records up, and costs of them."""

    counts: NDArray[Any]
    """How many records every agent holds: declared, or told by a count."""
    numbers: int
    """Real numbers in a record: the first columns of one; what follows them is discrete, such as a class."""
    invent: Callable[[np.random.Generator, int, float], Array]
    """Return so many records, with labels that follow a model of that strength."""
    of_rows: Callable[[Array, Array], Cost]
    """Return agents with one record and that penalty each, as one object."""
    penalties: Array
    """Every agent's penalty, which is public."""

    def held_by(self, agents: NDArray[np.intp]) -> int:
        """Return how many records these agents hold."""
        return int(self.counts[agents].sum())

    def costs_of(self, agents: NDArray[np.intp]) -> Callable[[Array], Cost]:
        """Return what makes costs of records that these agents may hold, with equal parts of their penalties."""
        each = self.penalties[agents].sum(axis=0) / self.held_by(agents)
        return lambda rows: self.of_rows(rows, each)


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
    mechanism: MaskKind | Literal["none", "coefficients"] = "none"
    """Which masks; "coefficients" along any basis where phase 1 runs by itself."""
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
    label_rows: list[Array] | None = None
    """Conceded: A_i of regressions whose labels enter through Aᵀy, (records, m) each; None where not."""
    records: RecordShape | None = None
    """What records are behind costs that are hidden whole; None where nothing is known of them."""
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
