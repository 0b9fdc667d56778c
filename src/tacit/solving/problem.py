"""The problem: a network, and one private cost per agent.

minimise Σ_i h_i(x)  over x in Rᵐ                      eq. (2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs import CostStack, Curvature, Family, stack
from tacit.errors import CostError, UnboundedError
from tacit.network import Network
from tacit.showing import Readable

if TYPE_CHECKING:
    import networkx as nx

_ROUNDING = 1e-14  # times the number of unknowns: a curvature below this is a zero with rounding


class Problem(Readable):
    """Private costs on a network.

    *costs* is one cost per agent: a sequence in the order of the graph's nodes, or a mapping from agent
    to cost. *x0* is a public starting point (zeros unless given).
    """

    def __init__(
        self,
        graph: nx.Graph[Any] | Network,
        costs: Sequence[Family] | Mapping[Any, Family],
        *,
        x0: ArrayLike | None = None,
    ) -> None:
        self.network = Network(graph)
        self.costs = _one_each(self.network, costs)
        self.stack: Family | CostStack = stack(self.costs)
        self.dim = self.stack.dim
        self.x0 = np.zeros(self.dim) if x0 is None else np.asarray(x0, dtype=np.float64)
        if self.x0.shape != (self.dim,) or not np.isfinite(self.x0).all():
            raise CostError(f"x0 must be {self.dim} finite number(s), as the costs have that many unknowns.")
        self._refuse_unbounded()

    def __repr__(self) -> str:
        families = ", ".join(self.families)
        return f"Problem({len(self.network)} agents, {len(self.network.links)} links, m={self.dim}, {families})"

    def __str__(self) -> str:
        unknowns = f"{self.dim} unknown{'s' * (self.dim != 1)}"
        costs = f"costs of the kind {', '.join(self.families)}"
        return f"{len(self.network)} agents, {len(self.network.links)} links, {unknowns}; {costs}."

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The names of the cost families present."""
        return tuple(dict.fromkeys(type(cost).__name__ for cost in self.costs))

    @cached_property
    def least_curvature(self) -> float:
        """A lower bound of the average cost's curvature; minus infinity where nothing is known."""
        below, _ = self._total_curvature
        if not np.isfinite(below).all():
            return -np.inf
        diagonal = np.diag(below)
        if np.array_equal(below, np.diag(diagonal)):
            return float(diagonal.min()) / len(self.network)
        return float(np.linalg.eigvalsh(below)[0]) / len(self.network)

    @cached_property
    def _total_curvature(self) -> Curvature:
        return self.stack.total_curvature()

    def value(self, x: ArrayLike) -> float:
        """Return Σ h_i(x), up to a constant. Needs everybody's cost: for simulations, not for agents."""
        x = np.broadcast_to(np.asarray(x, dtype=np.float64), (len(self.costs), self.dim))
        return float(self.stack.value(x).sum())

    def _refuse_unbounded(self) -> None:
        """Refuse a sum of costs that surely has no minimum, where the curvatures tell."""
        below, above = self._total_curvature
        if self.stack.is_rough or not np.array_equal(below, above) or np.isfinite(self.stack.lowest).all():
            return
        # in units in which every unknown has curvature 1, so that badly scaled columns do not look flat
        diagonal = np.abs(np.diag(below))
        unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        values, directions = np.linalg.eigh(below * unit[:, None] * unit)
        flat = np.abs(values) <= _ROUNDING * self.dim
        if (values[~flat] < 0).any():
            raise UnboundedError(
                "the sum of the costs is unbounded below: its curvature is negative "
                "in some direction; the sum must be convex, even if single costs are not."
            )
        slope, size = self.stack.affine.sum(axis=0) * unit, float(np.abs(self.stack.affine * unit).sum())
        if flat.any() and float(np.linalg.norm(slope @ directions[:, flat])) > 1e-9 * size:
            raise UnboundedError(
                f"the sum of the costs is unbounded below: it is flat in {int(flat.sum())} of {self.dim} "
                "direction(s) and slopes down along them; add data or a small l2 penalty."
            )


def _one_each(network: Network, costs: Sequence[Family] | Mapping[Any, Family]) -> tuple[Family, ...]:
    if isinstance(costs, Mapping):
        missing = [agent for agent in network.agents if agent not in costs]
        unknown = [agent for agent in costs if agent not in network.index]
        if missing or unknown:
            gaps = [f"no cost for {missing[0]!r}"] * bool(missing) + [f"no agent {unknown[0]!r}"] * bool(unknown)
            raise CostError(
                f"costs and agents do not match ({', '.join(gaps)}): name every agent of the graph once."
            )
        costs = [costs[agent] for agent in network.agents]
    costs = tuple(costs)
    if len(costs) != len(network):
        raise CostError(f"{len(costs)} cost(s) for {len(network)} agents: give every agent exactly one.")
    misfit = next((cost for cost in costs if not isinstance(cost, Family)), None)
    if misfit is not None:
        raise CostError(
            f"a {type(misfit).__name__} is not a cost; use a family such as tacit.Quadratic, or wrap your own "
            "functions in tacit.CallableCost."
        )
    return costs
