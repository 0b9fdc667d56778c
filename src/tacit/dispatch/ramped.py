"""The dual of economic dispatch where ramp limits tie the periods together.

    h_i(λ) = Σ_g max_P (λᵀP − f_g(P) − ½ρ_g|P − c_g|²) − d_iᵀλ       over the paths P that g can follow
    ∇h_i   = Σ_g P_g(λ) − d_i

The proximal term makes h_i differentiable although costs may be linear: small changes of the price move outputs
by small amounts. The centre c_g is the generator's own last path, which it tells nobody; as paths and centres
meet, the term vanishes (the proximal point method, Rockafellar, SIAM J. Control Optim. 14(5), 1976: after
finitely many steps where costs are piecewise linear).

    dP/dλ   periods that are tied to each other by ramps move together, by 1/Σ(f'' + ρ); those at a limit do not
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tacit.costs import Curvature, Family
from tacit.coverage import AffinePart
from tacit.dispatch.chains import best_path, steep
from tacit.dispatch.curves import Curve, area, padded, slope
from tacit.dispatch.generators import Generator
from tacit.errors import CostError
from tacit.typing import Array

_TOUCHES = 1e-7  # MW within which a limit counts as reached


class RampedSupply(Family):
    """h(λ) for an agent with these generators, each near a path of its own, and this demand."""

    affine_part = AffinePart("demands", open=("generators and their paths",))
    _stacks: ClassVar[tuple[str, ...]] = ()
    _last: tuple[Array, Array] | None = None
    _earned_at_zero: Array | None = None

    def __init__(
        self,
        generators: Sequence[Generator],
        demand: ArrayLike,
        *,
        rho: ArrayLike,
        centre: ArrayLike,
        tau: float,
        start: ArrayLike,
    ) -> None:
        need = np.atleast_1d(np.asarray(demand, dtype=np.float64))
        if need.ndim != 1 or not np.isfinite(need).all():
            raise CostError("a demand is one number of MW for each period, and none may be missing.")
        self.affine, self.owner = -need, np.zeros(len(generators), dtype=np.intp)
        knots = [steep(generator.curve.power, generator.curve.price) for generator in generators]
        self.power, self.price = (padded([k[i] for k in knots]) if knots else np.zeros((0, 1)) for i in (0, 1))
        self.ramp = np.array([min(g.ramp, 1.0 + g.high - g.low) for g in generators])
        self.rho = np.broadcast_to(np.asarray(rho, dtype=np.float64), self.owner.shape)
        self.centre = np.asarray(centre, dtype=np.float64).reshape(len(generators), len(need))
        self.tau, self.start = tau, np.asarray(start, dtype=np.float64)

    def paths(self, x: Array) -> Array:
        """Return what every generator would put out at prices x, (G, T); the last answer is kept."""
        if not len(self.owner):
            return np.zeros((0, self.dim))
        if self._last is None or not np.array_equal(self._last[0], x):
            each = x[self.owner] if x.ndim == 2 else np.broadcast_to(x, (len(self.owner), self.dim))
            P = best_path(each, self.power, self.price, rho=self.rho, centre=self.centre, ramp=self.ramp)
            self._last = (x.copy(), P)
        return self._last[1]

    def curved_value(self, x: Array) -> Array:
        """Return what the generators would earn at prices x, less what they would at 0."""
        if self._earned_at_zero is None:
            self._earned_at_zero = self._earned(np.zeros(self.dim))
        earned = self._added(self._earned(x) - self._earned_at_zero)
        return np.asarray(earned + 0.5 * self.tau * (x * (x - 2.0 * self.start)).sum(axis=-1))

    def _earned(self, x: Array) -> Array:
        P = self.paths(x)
        each = x[self.owner] if x.ndim == 2 else x
        spent = area(Curve(self.power, self.price), P)
        return np.asarray((each * P - spent - 0.5 * self.rho[:, None] * (P - self.centre) ** 2).sum(axis=-1))

    def curved_grad(self, x: Array) -> Array:
        """Return the outputs, added up over the agent's generators."""
        return np.asarray(self._added(self.paths(x)) + self.tau * (x - self.start))

    def curved_hess(self, x: Array) -> Array:
        """Return how outputs follow prices: together where ramps tie periods, not at all at limits."""
        P = self.paths(x)
        q = slope(Curve(self.power, self.price), P) + self.rho[:, None]
        tied = np.abs(np.diff(P, axis=1)) >= self.ramp[:, None] - _TOUCHES
        block = np.concatenate([np.zeros((len(P), 1)), np.cumsum(~tied, axis=1)], axis=1)
        same = block[:, :, None] == block[:, None, :]
        low, high = self.power[:, :1], self.power[:, -1:]
        stuck = (low + _TOUCHES >= P) | (high - _TOUCHES <= P)
        stiff = np.matvec(same.astype(float), q)
        free = ~(same & stuck[:, None, :]).any(axis=2)
        return np.asarray(self._added(same * (free / stiff)[:, :, None]) + self.tau * np.eye(self.dim))

    def _added(self, part: Array) -> Array:
        """Return the sum over every agent's own generators."""
        if self.affine.ndim == 1:
            return part.sum(axis=0)
        out = np.zeros((len(self.affine), *part.shape[1:]))
        np.add.at(out, self.owner, part)
        return out

    @property
    def smoothness(self) -> Array:
        """Σ 1/ρ over the generators: a path moves by that much, at most."""
        return np.asarray(self._added(1.0 / self.rho))

    @property
    def strong_convexity(self) -> Array:
        """Zero: beyond their limits generators offer nothing more."""
        return np.zeros(self.affine.shape[:-1])

    def total_curvature(self) -> Curvature:
        """Between nothing and Σ 1/ρ."""
        above = float(np.sum(1.0 / self.rho)) * np.eye(self.dim)
        return Curvature(below=np.zeros((self.dim, self.dim)), above=above)

    @classmethod
    def stacked(cls, members: Sequence[Self]) -> Self:
        """Return one object for all *members*: their generators one after the other."""
        together = object.__new__(cls)
        together.affine = np.stack([member.affine for member in members])
        together.owner = np.repeat(np.arange(len(members)), [len(member.owner) for member in members])
        for name in ("power", "price"):
            rows = [row for member in members for row in getattr(member, name)]
            setattr(together, name, padded(rows) if rows else np.zeros((0, 1)))
        for name in ("ramp", "rho"):
            setattr(together, name, np.concatenate([getattr(member, name) for member in members]))
        together.tau, together.start = members[0].tau, members[0].start
        together.centre = np.concatenate([member.centre for member in members])
        return together

    def stacking_key(self) -> tuple[Any, ...]:
        """All agents together: generators are stored one after the other, and not padded by agent."""
        return super().stacking_key()
