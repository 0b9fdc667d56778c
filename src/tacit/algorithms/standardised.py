"""A regression in standard units, from records in anybody's units: sums of columns, of squares, and then a fit.

    how many agents have column k     before anything else, where that is asked for: one alone is refused
    n, Σ a_k, facts                   first sum: centre c_k = Σ a_k / n
    Σ (a_k − c_k)²                    second sum: scale s_k = √(· / n); more, in smaller units, of a column that
                                      is small, or varies by its last digits
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
_LOOKS = 8  # at most, between the second sum and the fit, at columns that hardly vary
_EPS = float(np.finfo(float).eps)
_DROWNED = 2.0**20  # resolutions of a sum: squares that add up to less are known to a few digits
_FAR = 1e11  # scales from zero: α of a column farther out, moved to its centre, has lost what a fit needs
_LEVEL = 1e-9  # of squares about a centre: deviations that vary by less are one number


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

    def refuse(self, x: Array, cost: Any) -> None:
        """Refuse a cost that has no columns, or does not say how many records it has."""
        self.init(x, cost)

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
        if state.stage < _FIT:
            return self._enlarged(state, peers, cost)
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
        terms = [cost.column_sums(), cost.facts] if self.intercept else [cost.facts]
        total = peers.sum(np.concatenate(terms, axis=-1))
        facts = total[-len(state.facts) :]
        p = len(state.units.scale)
        centre = total[:p] / facts[0] if self.intercept else np.zeros(p)
        inner = self._fits.init(state.x, cost)
        return self._state(state.x, np.inf, _SECOND, Units(centre, state.units.scale), facts, inner)

    def _scaled(self, state: State, peers: Peers, cost: Any) -> State:
        centre, count = state.units.centre, float(state.facts[0])
        variance = peers.sum(cost.column_squares(centre)) / count
        rounding = (4.0 * centre * _EPS) ** 2 + _DROWNED * peers.resolution / count
        return self._measured(state, cost, np.where(variance > rounding, np.sqrt(np.maximum(variance, 0.0)), 0.0))

    def _enlarged(self, state: State, peers: Peers, cost: Any) -> State:
        """Look again at columns that hardly vary, in a unit so small that their deviations fill a sum."""
        (centre, scale), count = state.units, float(state.facts[0])
        near, looks = scale == 0.0, round((state.stage - _SECOND) * _LOOKS)
        unit = 1.0
        for _ in range(looks if peers.resolution else 0):  # Σd/unit is then 2¹⁰ at most
            unit *= float(np.sqrt(_DROWNED * peers.resolution * count)) / 2.0**10
        turned = cost.in_units(Units(centre, np.where(near, unit, 1.0)))
        about = turned.column_sums() if self.intercept else np.zeros((*cost.affine.shape[:-1], len(scale)))
        terms = np.concatenate([about[..., near], turned.column_squares(np.zeros_like(centre))[..., near]], axis=-1)
        first, second = np.split(peers.sum(terms), 2)
        spread = second - first**2 / count  # the centre is known to a rounding only
        varies = spread > _DROWNED * peers.resolution + _LEVEL * second
        over = unit <= 2.0**-12 * np.spacing(np.abs(centre[near])) if peers.resolution else ~varies
        same = ~varies & (over | (looks + 1 >= _LOOKS))
        if same.any():
            flat = "is the same number" if self.intercept else "is zero"
            small = "" if peers.resolution == 0.0 else ", or varies by less than secret sums show"
            raise CostError(
                f"column {np.flatnonzero(near)[same][0] + 1} of the features {flat} in all records of all agents"
                f"{small}: nothing can be learnt from it; leave it out, or use smaller units."
            )
        scale = scale.copy()
        scale[near] = np.where(varies, unit * np.sqrt(np.maximum(spread, 0.0) / count), 0.0)
        return self._measured(state, cost, scale)

    def _measured(self, state: State, cost: Any, scale: Array) -> State:
        """Return the state with these scales: ready to fit, or to look again where one is still 0."""
        if not scale.all():
            units = Units(state.units.centre, scale)
            return self._state(
                state.x, np.inf, state.stage + 1.0 / _LOOKS, units, state.facts, self._fits.init(state.x, cost)
            )
        far = np.flatnonzero(np.abs(state.units.centre) > _FAR * scale)
        if len(far):
            raise CostError(
                f"column {far[0] + 1} of the features varies by less than {1.0 / _FAR:.0e} of its size, which "
                "leaves too few digits of what it says about labels; take the same number off it at all agents."
            )
        units = Units(state.units.centre, scale)
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
