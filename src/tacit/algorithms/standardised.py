"""A regression in standard units, from records in anybody's units: sums of columns, of squares, and then a fit.

    how many agents have column k     before anything else, where that is asked for: one alone is refused
    n, Σ a_k, facts                   first sum: centre c_k = Σ a_k / n
    Σ (a_k − c_k)²                    second sum: scale s_k = √(· / n)
    minimise over u, x = T u          an algorithm that needs sums only, on the costs in standard units

One Π made of stages, all written against `peers.sum`: masks, durability and bit-equality hold for it as for every
other. The centres and scales are told to all agents, like every sum. *Facts* are what a table needs besides the
minimum, beginning with the number of records: sums of labels and the like, which a cost's gradients do not tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from tacit.algorithms.lbfgs import LBFGS
from tacit.algorithms.newton import Newton
from tacit.algorithms.newton import State as NewtonState
from tacit.costs.columns import Units
from tacit.errors import CostError
from tacit.typing import Algorithm, Array, Findings, Peers, Summand

_INNER: dict[str, Callable[[], Any]] = {"newton": Newton, "lbfgs": LBFGS}
_COUNT, _FIRST, _SECOND, _FIT = -1.0, 0.0, 1.0, 2.0


class State(tuple[Array, ...]):
    """x in the agents' own units, its error, the stage, units, facts, value, Hessian; then the state of the fit."""

    __slots__ = ()

    def __new__(cls, *arrays: Array) -> Self:
        """Return the state with these arrays."""
        return super().__new__(cls, arrays)

    @property
    def x(self) -> Array:
        """The minimiser."""
        return self[0]

    @property
    def error(self) -> Array:
        """Of x, as large relative to x as that of u relative to u."""
        return self[1]

    @property
    def stage(self) -> float:
        """Which sum is next."""
        return float(self[2])

    @property
    def units(self) -> Units:
        """Centre and scale of the columns."""
        return Units(self[3], self[4])

    @property
    def facts(self) -> Array:
        """What all agents' records are besides, added up."""
        return self[5]

    @property
    def value(self) -> Array:
        """The sum of all costs at x; infinite before the fit."""
        return self[6]

    @property
    def hessian(self) -> Array | None:
        """The Hessian at x, in the agents' own units, where the fit has it."""
        return self.units.own_hessian(self[7]) if self[7].ndim == 2 else None

    @property
    def loose(self) -> Array | None:
        """How much every unknown has to do with what no sum can tell, where the fit knows."""
        return self._newton.loose if self._newton is not None else None

    @property
    def bound(self) -> float:
        """The most that is left to gain."""
        return float(self._newton.bound) if self._newton is not None else np.inf

    @property
    def fell(self) -> float:
        """By how much the sum of the costs has fallen."""
        return float(self._newton.fell) if self._newton is not None else 0.0

    @property
    def _newton(self) -> NewtonState | None:
        return NewtonState(*self.inner) if len(self.inner) == len(NewtonState._fields) else None

    @property
    def inner(self) -> tuple[Array, ...]:
        """The state of the fit, in standard units."""
        return tuple(self[8:])


@dataclass(frozen=True, slots=True)
class Standardised(Algorithm):
    """Settings: what fits, whether the last unknown is an intercept, and whether columns are counted first.

    A column that is zero at all agents but one or two makes its sums theirs. With *counted* a sum says how many
    agents have each column, and such columns are refused before any of their sums is taken.
    """

    inner: Literal["newton", "lbfgs"] = "newton"
    intercept: bool = False
    counted: bool = False

    handles_rough = True
    handles_nonconvex = True

    def findings(self, state: State) -> Findings:
        """Return what the fit knows, in the agents' own units, and what their records are besides."""
        return Findings(state.value, state.hessian, state.facts, state.loose, state.bound, state.fell)

    @property
    def sums(self) -> tuple[Summand, ...]:
        """What is added up: numbers of the columns first."""
        return (Summand.NUMBERS, *self._fits.sums)

    @property
    def _fits(self) -> Any:
        return _INNER[self.inner]()

    def init(self, x: Array, cost: Any) -> State:
        """Start with nothing known; a cost must say how many records it has (`facts`)."""
        if not cost.facts.shape[-1]:
            raise CostError("the cost does not say how many records it has; read it from a file, or use 'newton'.")
        p = cost.dim - self.intercept
        units = Units(np.zeros(p), np.ones(p))
        facts = np.zeros(cost.facts.shape[-1])
        return self._state(x, np.inf, _COUNT if self.counted else _FIRST, units, facts, self._fits.init(x, cost))

    def step(self, state: State, peers: Peers, cost: Any) -> State:
        """Add up one thing more."""
        if state.stage == _COUNT:
            return self._with_columns_of_many(state, peers, cost)
        if state.stage == _FIRST:
            return self._centred(state, peers, cost)
        if state.stage == _SECOND:
            return self._scaled(state, peers, cost)
        turned = cost.in_units(state.units)
        inner = type(self._fits.init(state.x, turned))(*state.inner)
        return self._shown(state, self._fits.step(inner, peers, turned))

    def _with_columns_of_many(self, state: State, peers: Peers, cost: Any) -> State:
        held = np.rint(peers.sum(cost.columns_held(len(state.units.scale))))
        own = np.flatnonzero((held == 1) | (held == 2))
        if len(own):
            who = "one agent alone has" if held[own[0]] == 1 else "two agents alone have"
            raise CostError(
                f"{who} column {own[0] + 1} of the features other than 0: its sums would be theirs, and no mask "
                "hides that; leave it out, or join its categories."
            )
        inner = self._fits.init(state.x, cost)
        return self._state(state.x, np.inf, _FIRST, state.units, state.facts, inner)

    def _centred(self, state: State, peers: Peers, cost: Any) -> State:
        told = [cost.column_sums(), cost.facts] if self.intercept else [cost.facts]
        total = peers.sum(np.concatenate(told, axis=-1))
        facts = total[-len(state.facts) :]
        p = len(state.units.scale)
        centre = total[:p] / facts[0] if self.intercept else np.zeros(p)
        inner = self._fits.init(state.x, cost)
        return self._state(state.x, np.inf, _SECOND, Units(centre, state.units.scale), facts, inner)

    def _scaled(self, state: State, peers: Peers, cost: Any) -> State:
        centre, count = state.units.centre, float(state.facts[0])
        variance = peers.sum(cost.column_squares(centre)) / count
        slack = (4.0 * centre * np.finfo(float).eps) ** 2 + peers.resolution / count
        flat = np.flatnonzero(variance <= slack)
        if len(flat):
            same = "is the same number" if self.intercept else "is zero"
            raise CostError(
                f"column {flat[0] + 1} of the features {same} in all records of all agents: nothing can be learnt "
                "from it; leave it out."
            )
        units = Units(centre, np.sqrt(variance))
        inner = self._fits.init(units.into(state.x), cost.in_units(units))
        return self._state(state.x, np.inf, _FIT, units, state.facts, inner)

    def _shown(self, state: State, inner: Any) -> State:
        """Return the state with x in the agents' own units."""
        x = state.units.back(inner.x)
        size, shown = float(np.abs(inner.x).max()), float(np.abs(x).max())
        error = float(inner.error) * (shown / size if size and shown else 1.0)
        return self._state(x, error, _FIT, state.units, state.facts, inner)

    def _state(self, x: Array, error: float, stage: float, units: Units, facts: Array, inner: Any) -> State:
        known = self._fits.findings(inner)
        bent = np.zeros(1) if known.hessian is None else known.hessian
        return State(x, np.array(error), np.array(stage), *units, facts, np.asarray(known.value), bent, *inner)
