"""Many agents' costs evaluated at once on an (n, m) array.

Agents of one family become one object with a leading agent axis. A network with several families is
a `CostStack` of such objects: a round loops over the families present, never over the agents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.costs.columns import Units
from tacit.costs.family import Curvature, Family
from tacit.errors import CostError
from tacit.typing import Array

Selection = slice | NDArray[np.intp]


class Group:
    """The agents of one family: their positions, and their costs as one object."""

    def __init__(self, rows: Selection, cost: Family) -> None:
        self.rows, self.cost = rows, cost

    @classmethod
    def of(cls, agents: NDArray[np.intp], cost: Family) -> Group:
        """Return the group of these agents; those in a row are a slice, which needs no copy."""
        run = len(agents) > 0 and bool((np.diff(agents) == 1).all())
        return cls(slice(int(agents[0]), int(agents[-1]) + 1) if run else agents, cost)

    def points(self, x: Array) -> Array:
        """Return the group's part of all agents' x; x itself where all agents hold the same."""
        return x if x.ndim == 1 else x[self.rows]

    def scale(self, t: Array | float) -> Array | float:
        """Return the group's part of a proximal weight."""
        return t if isinstance(t, float) or not t.ndim else t[self.rows]


class CostStack:
    """The costs of all agents, grouped by family."""

    def __init__(self, groups: Sequence[Group], shape: tuple[int, int]) -> None:
        self.groups, self.shape = tuple(groups), shape

    def __repr__(self) -> str:
        return f"CostStack({', '.join(repr(group.cost) for group in self.groups)})"

    @property
    def dim(self) -> int:
        """m, the number of unknowns."""
        return self.shape[1]

    @cached_property
    def affine(self) -> Array:
        """α of all agents, (n, m)."""
        return self.spread(lambda group: group.cost.affine, self.shape)

    @property
    def is_rough(self) -> bool:
        """True if any agent's cost is."""
        return any(group.cost.is_rough for group in self.groups)

    @property
    def splits_exactly(self) -> bool:
        """True if every family does."""
        return all(group.cost.splits_exactly for group in self.groups)

    @property
    def outside(self) -> bool:
        """True if any agent's records stay outside of memory."""
        return any(group.cost.outside for group in self.groups)

    @property
    def separable(self) -> bool:
        """True if every family is."""
        return all(group.cost.separable for group in self.groups)

    @property
    def smoothness(self) -> Array:
        """One constant per agent."""
        return self.spread(lambda group: group.cost.smoothness, self.shape[:1])

    @property
    def strong_convexity(self) -> Array:
        """One constant per agent."""
        return self.spread(lambda group: group.cost.strong_convexity, self.shape[:1])

    @property
    def penalty(self) -> Array:
        """One row per agent."""
        return self.spread(lambda group: group.cost.penalty, (self.shape[0], 2 * self.dim))

    @property
    def limits(self) -> Array:
        """One row per agent."""
        return self.spread(lambda group: group.cost.limits, (self.shape[0], 2 * self.dim))

    @property
    def facts(self) -> Array:
        """One row per agent."""
        return self.spread(lambda group: group.cost.facts, (self.shape[0], self.groups[0].cost.facts.shape[-1]))

    def column_sums(self) -> Array:
        """Return one row per agent."""
        return self.spread(lambda group: group.cost.column_sums(), (self.shape[0], self.dim - 1))

    def columns_held(self, columns: int) -> Array:
        """Return one row per agent."""
        return self.spread(lambda group: group.cost.columns_held(columns), (self.shape[0], columns))

    def column_squares(self, centre: Array) -> Array:
        """Return one row per agent."""
        return self.spread(lambda group: group.cost.column_squares(centre), (self.shape[0], len(centre)))

    def in_units(self, units: Units) -> CostStack:
        """Return the same costs as functions of u, x = T u."""
        return self.regrouped(lambda cost, _: cost.in_units(units))

    def total_curvature(self) -> Curvature:
        """Of the sum over all agents."""
        parts = [group.cost.total_curvature() for group in self.groups]
        below = np.sum([part.below for part in parts], axis=0)
        return Curvature(below=below, above=np.sum([part.above for part in parts], axis=0))

    def value(self, x: Array) -> Array:
        """Return all h_i(x_i), (n,)."""
        return self.spread(lambda group: group.cost.value(group.points(x)), self.shape[:1])

    def grad(self, x: Array) -> Array:
        """Return all gradients of the smooth parts, (n, m)."""
        return self.spread(lambda group: group.cost.grad(group.points(x)), self.shape)

    def hess(self, x: Array) -> Array:
        """Return all Hessians of the smooth parts, (n, m, m)."""
        return self.spread(lambda group: group.cost.hess(group.points(x)), (*self.shape, self.dim))

    def hess_rows(self, x: Array, start: int, stop: int) -> Array:
        """Return some rows of all Hessians, (n, stop − start, m)."""
        shape = (self.shape[0], stop - start, self.dim)
        return self.spread(lambda group: group.cost.hess_rows(group.points(x), start, stop), shape)

    def total_hess(self, x: Array) -> Array:
        """Return the sum of all Hessians, (m, m)."""
        return np.sum([group.cost.total_hess(group.points(x)) for group in self.groups], axis=0)

    def slope_right(self, x: Array) -> Array:
        """Return all derivatives to the right, (n, m)."""
        return self.spread(lambda group: group.cost.slope_right(group.points(x)), self.shape)

    @property
    def has_slopes(self) -> bool:
        """True if every family does."""
        return all(group.cost.has_slopes for group in self.groups)

    @property
    def adds_up(self) -> bool:
        """True if every family's rough terms do."""
        return all(group.cost.adds_up for group in self.groups)

    def grad_along(self, x: Array, B: Array) -> Array:
        """Return all gradients along the columns of *B*, (n, q)."""
        shape = (self.shape[0], B.shape[1])
        return self.spread(lambda group: group.cost.grad_along(group.points(x), B), shape)

    def hess_along(self, x: Array, B: Array) -> Array:
        """Return all Hessians along the columns of *B*, (n, q, q)."""
        shape = (self.shape[0], B.shape[1], B.shape[1])
        return self.spread(lambda group: group.cost.hess_along(group.points(x), B), shape)

    @property
    def lowest(self) -> Array:
        """One number per agent."""
        return self.spread(lambda group: group.cost.lowest, self.shape[:1])

    @property
    def factored(self) -> Array:
        """Of every agent, whether its family is: 1 or 0."""
        return self.spread(lambda group: np.asarray(float(np.all(group.cost.factored))), self.shape[:1])

    def prox(self, v: Array, t: Array | float) -> Array:
        """Return all proximal points, (n, m)."""
        return self.spread(lambda group: group.cost.prox(v[group.rows], group.scale(t)), self.shape)

    def rough_prox(self, v: Array, t: Array | float) -> Array:
        """Return the proximal points of the rough parts, (n, m)."""
        return self.spread(lambda group: group.cost.rough_prox(v[group.rows], group.scale(t)), self.shape)

    def with_affine(self, affine: Array) -> CostStack:
        """Return the same costs with other affine coefficients, (n, m)."""
        return self.regrouped(lambda cost, rows: cost.with_affine(affine[rows]))

    def regrouped(self, effective: Callable[[Family, Selection], Family]) -> CostStack:
        """Return the stack of the costs that *effective* makes of every group's."""
        groups = [Group(group.rows, effective(group.cost, group.rows)) for group in self.groups]
        return CostStack(groups, self.shape)

    def spread(self, part: Callable[[Group], Array], shape: tuple[int, ...]) -> Array:
        """Return one row per agent, from one array per group."""
        first = part(self.groups[0])
        out = np.empty_like(first, shape=shape, order="C")
        out[self.groups[0].rows] = first
        for group in self.groups[1:]:
            out[group.rows] = part(group)
        return out


def groups(cost: Family | CostStack) -> tuple[Group, ...]:
    """Return the families in a stack, with the agents that have them."""
    return cost.groups if isinstance(cost, CostStack) else (Group(slice(None), cost),)


def stack(costs: Sequence[Family]) -> Family | CostStack:
    """Return all *costs* as one object with a leading agent axis; one family stays that family."""
    dims = {cost.dim for cost in costs}
    if len(dims) > 1:
        first = next(i for i, cost in enumerate(costs) if cost.dim != costs[0].dim)
        raise CostError(
            f"cost number {first} has {costs[first].dim} unknown(s) and cost number 0 has {costs[0].dim}; "
            "all agents must optimise the same x."
        )
    members: dict[tuple[Any, ...], list[int]] = {}
    for i, cost in enumerate(costs):
        members.setdefault(cost.stacking_key(), []).append(i)
    families = [
        Group.of(np.array(agents), type(costs[agents[0]]).stacked([costs[i] for i in agents]))
        for agents in members.values()
    ]
    return families[0].cost if len(families) == 1 else CostStack(families, (len(costs), costs[0].dim))
