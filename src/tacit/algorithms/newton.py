"""Damped Newton's method by sums: the speed of the centralised method, in 2·depth hops a step.

    (f, g, H) = Σ_i (h_i, ∇h_i, ∇²h_i)(x + t p)             one sum a round
    p = argmin_p gᵀp + ½ pᵀHp + ψ(x + p)                    by every agent for itself
    t = 1, and half as much until f falls by ¼ of what p promised

All agents are at the same point. A round tries a point: where it is good enough it becomes x, and its gradient and
Hessian are already there. With penalties or a box this is the proximal Newton method (Lee, Sun, Saunders, SIAM J.
Optim. 24(3), 2014). Boyd & Vandenberghe, *Convex Optimization*, 9.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.algorithms.penalised import Penalty, minimise
from tacit.costs import pack, packed_size, unpack
from tacit.errors import AlgorithmError, RangeError
from tacit.typing import Array, Cost, Peers

_DROWNED = 1e-11  # a promised decrease below this share of the value is lost in its rounding
_ARMIJO = 0.25
_LEGIBLE = 1e-4  # a step of more than this share of x, hidden by the resolution of sums, leaves x unknown


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the best point so far
    error: Array  # max |p|: how far the optimum is, once steps are full ones
    p: Array  # the step to try from x
    t: Array  # and how much of it
    value: Array  # the sum of all costs at x
    promise: Array  # what the whole of p should change it by
    H: Array  # the Hessian at the first point


@dataclass(frozen=True, slots=True)
class Newton:
    """Settings of Newton's method: there are none."""

    exact: ClassVar[bool] = True
    handles_rough: ClassVar[bool] = True
    handles_nonconvex: ClassVar[bool] = True
    sums: ClassVar[tuple[str, ...]] = ("values", "gradients", "Hessians")
    weights: ClassVar[str] = "metropolis"

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return the settings."""
        return cls()

    def init(self, x: Array, cost: Cost) -> State:
        """Try the starting point first."""
        infinite = np.array(np.inf)
        limits = Penalty.of(np.zeros(2 * cost.dim), cost.limits)
        x = np.clip(x, limits.lower, limits.upper)
        return State(
            x=x, error=infinite, p=np.zeros_like(x), t=np.array(1.0), value=infinite, promise=infinite,
            H=np.zeros((cost.dim, cost.dim)),
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Try one point: one sum."""
        trial, m = state.x + state.t * state.p, cost.dim
        total = tried(_told(trial, cost), peers, first=bool(np.isinf(state.value)))
        if total is None or not _is_good(total[0], state):
            return state._replace(t=state.t / 2)
        value, g, H = total[0], total[1 : m + 1], unpack(total[m + 1 : -2 * m], m)
        penalty = Penalty.of(total[-2 * m :], cost.limits)
        p = minimise(trial, g, H, penalty) - trial
        promise = g @ p + penalty.value(trial + p) - penalty.value(trial)
        first = H if np.isinf(state.value) else state.H
        hidden = _hidden_step(first, H, np.diag(penalty.l2), peers.resolution)
        error = np.asarray(np.abs(p).max() if hidden <= _LEGIBLE * np.abs(trial).max() else np.inf)
        return State(trial, error, p=p, t=np.array(1.0), value=value, promise=np.asarray(promise), H=first)


def _told(x: Array, cost: Cost) -> Array:
    """Return what an agent adds to the sum."""
    g = cost.grad(x)
    H = np.broadcast_to(pack(cost.hess(x)), (*g.shape[:-1], packed_size(cost.dim)))
    value = np.broadcast_to(cost.value(x)[..., None], (*g.shape[:-1], 1))
    return np.concatenate([value, g, H, cost.penalty], axis=-1)


def tried(told: Array, peers: Peers, *, first: bool) -> Array | None:
    """Return the sum over all agents; None where a cost explodes at a point that was only an attempt."""
    try:
        total = peers.sum(told)
    except RangeError:
        if first:
            raise
        return None
    if np.isfinite(total).all():
        return total
    if first:
        raise AlgorithmError("the costs have no finite sum at the starting point; start elsewhere, x0=….")
    return None


def _hidden_step(first: Array, H: Array, ridge: Array, resolution: float) -> float:
    """Return how long a step may hide below the resolution of sums, along curvature that was there at first.

    Costs that flatten out, because they have no minimum, end with gradients of zero in fixed point. What was flat
    from the start does not count.
    """
    if not resolution:
        return 0.0
    values, vectors = np.linalg.eigh(H + ridge)
    curved = np.einsum("ik,ij,jk->k", vectors, first + ridge, vectors) > 1e3 * len(H) * resolution
    return float((resolution / np.maximum(values[curved], resolution)).max(initial=0.0))


def _is_good(value: Array, state: State) -> bool:
    if np.isinf(state.value):
        return True
    drowned = abs(state.promise) <= _DROWNED * (1.0 + abs(state.value))
    return bool(drowned or value <= state.value + _ARMIJO * state.t * state.promise)
