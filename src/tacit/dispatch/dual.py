"""An agent's side of the market: the dual of economic dispatch.

    minimise Σ f_i(P_i)  subject to  Σ P_i = Σ d_i,  limits
    h_i(λ) = max_P (λᵀP − f_i(P)) − d_iᵀλ               convex, and Σ h_i is least at the price that balances
    ∇h_i   = S_i(λ) − d_i                                what agent i offers at that price, less what it needs

With Pmin_i taken out of S_i, the affine part is α_i = Pmin_i − d_i: demand and must-run output are what affine
masks hide. One unknown per period; periods do not depend on each other here. Where a cost is linear, S_i jumps
and h_i has a kink: its proximal map is exact all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs import Curvature, Family
from tacit.costs.secrets import KINKED, Secrets
from tacit.coverage import AffinePart
from tacit.dispatch.curves import Curve, along, area, padded, slope
from tacit.errors import CostError
from tacit.typing import Array


class Supply(Family):
    """h(λ) for an agent with this supply curve and this demand in every period."""

    affine_part = AffinePart("demands (with must-run output taken off)", open=("cost curves",))
    separable = True
    _stacks: ClassVar[tuple[str, ...]] = ()

    def __init__(self, curve: Curve, demand: ArrayLike) -> None:
        need = np.atleast_1d(np.asarray(demand, dtype=np.float64))
        if need.ndim != 1 or not np.isfinite(need).all():
            raise CostError("a demand is one number of MW for each period, and none may be missing.")
        self.price, self.power = curve.price, curve.power - curve.power[0]
        self.affine = curve.power[0] - need

    @property
    def secrets(self) -> Secrets | None:
        """Where the curve bends, how far it rises at each piece, and the demand of every period."""
        rising = np.diff(self.price) > 0
        pieces, prices = len(rising), 1 + int(rising.sum()) if len(rising) else 0
        steps = np.zeros((max(prices - 1, 0), pieces))
        steps[np.arange(len(steps)), np.flatnonzero(rising)] = 1.0

        def invent(rng: np.random.Generator, count: int, strength: float) -> Array:
            first = rng.uniform(1.0, 2.0, (count, min(prices, 1)))
            gaps, rises = rng.uniform(0.2, 1.0, (count, len(steps))), rng.uniform(0.5, 1.5, (count, pieces))
            share = rng.uniform(0.3, 0.7, (count, self.dim))
            need = rises.sum(axis=1, keepdims=True) * share if pieces else 0.1 * (share - 0.5)
            return np.concatenate([first, gaps, rises, -need], axis=1)

        def costs(rows: Array, penalty: Array) -> Supply:
            made, zero = object.__new__(Supply), np.zeros((len(rows), 1))
            climb = np.concatenate([zero, np.cumsum(rows[:, 1:prices] @ steps, axis=1)], axis=1) if pieces else zero
            made.price = climb + (rows[:, :1] if prices else 0.0)
            made.power = np.concatenate([zero, np.cumsum(rows[:, prices : prices + pieces], axis=1)], axis=1)
            made.affine = rows[:, prices + pieces :]
            return made

        numbers, key = prices + pieces + self.dim, (Supply, self.dim, rising.tobytes())
        return Secrets(
            1, numbers, key, invent, costs, np.zeros(1), noun="unit" if pieces else "demand", step=KINKED
        )

    @property
    def curve(self) -> Curve:
        """What is offered beyond the must-run output."""
        return Curve(self.price, self.power)

    def curved_value(self, x: Array) -> Array:
        """Return ∫₀ˣ S, added up over the periods."""
        zero = np.zeros(1)
        return np.asarray((area(self.curve, x) - area(self.curve, zero)).sum(axis=-1))

    def curved_grad(self, x: Array) -> Array:
        """Return S(λ), the upper end of it where it jumps."""
        return along(self.price, self.power, x)

    def curved_hess(self, x: Array) -> Array:
        """Return dS/dλ on the diagonal."""
        return np.asarray(slope(self.curve, x)[..., None] * np.eye(self.dim))

    def curved_prox(self, v: Array, t: Array | float) -> Array:
        """Return u with u + t·S(u) = v: along the polyline, λ + tP increases strictly."""
        return np.asarray(v - t * along(self.price + t * self.power, self.power, v))

    @property
    def steepest(self) -> Array:
        """The largest dP/dλ of every agent; infinite where the curve jumps."""
        rise, run = np.diff(self.power, axis=-1), np.diff(self.price, axis=-1)
        steep = np.where(run > 0, rise / np.where(run > 0, run, 1.0), np.where(rise > 0, np.inf, 0.0))
        return steep.max(axis=-1, initial=0.0)

    @property
    def smoothness(self) -> Array:
        """As steep as the curve gets."""
        return self.steepest

    @property
    def strong_convexity(self) -> Array:
        """Zero: beyond its limits an agent offers nothing more."""
        return np.zeros(self.affine.shape[:-1])

    def total_curvature(self) -> Curvature:
        """Between nothing and the steepest of all at once."""
        most = float(self.steepest.sum())
        above = np.where(np.eye(self.dim) > 0, most, 0.0)
        return Curvature(below=np.zeros((self.dim, self.dim)), above=above)

    @classmethod
    def stacked(cls, members: Sequence[Self]) -> Self:
        """Return one object for all *members*; curves with fewer knots repeat their last."""
        together = object.__new__(cls)
        together.price = padded([member.price for member in members])
        together.power = padded([member.power for member in members])
        together.affine = np.stack([member.affine for member in members])
        return together

    def stacking_key(self) -> tuple[Any, ...]:
        """Curves within a factor of two of each other's knots: padding then at most doubles the work."""
        return (*super().stacking_key(), self.price.shape[-1].bit_length())
