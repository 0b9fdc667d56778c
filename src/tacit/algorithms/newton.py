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
from tacit.algorithms.trial import hessian, tried, value
from tacit.costs import unpack
from tacit.typing import Array, Cost, Peers, Summand

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
    ridge: Array  # what was added to the Hessian where it was flat
    misses: Array  # points tried at which some cost exploded
    hessian: Array  # the Hessian at x, which standard errors are made of


@dataclass(frozen=True, slots=True)
class Newton:
    """Settings of Newton's method: there are none."""

    exact: ClassVar[bool] = True
    handles_rough: ClassVar[bool] = True
    handles_nonconvex: ClassVar[bool] = True
    sums: ClassVar[tuple[Summand, ...]] = (Summand.VALUES, Summand.GRADIENTS, Summand.HESSIANS)
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
            H=np.zeros((cost.dim, cost.dim)), ridge=np.array(0.0), misses=np.array(0),
            hessian=np.zeros((cost.dim, cost.dim)),
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Try one point: one sum."""
        trial, m = state.x + state.t * state.p, cost.dim
        told = [value(trial, cost), cost.grad(trial), hessian(trial, cost), cost.penalty]
        total = tried(np.concatenate(told, axis=-1), peers, state)
        if total is None:
            return state._replace(t=state.t / 2, misses=state.misses + 1)
        if not _is_good(total[0], state, peers.resolution):
            return state._replace(t=state.t / 2)
        g, H = total[1 : m + 1], unpack(total[m + 1 : -2 * m], m)
        penalty = Penalty.of(total[-2 * m :], cost.limits)
        first = H if np.isinf(state.value) else state.H
        blur = m * max(peers.resolution, float(np.finfo(float).eps) * float(np.trace(first)))
        ridge, lost = _missing_curvature(trial, g, H, first, penalty, blur=blur, before=float(state.ridge))
        p = minimise(trial, g, H + ridge * np.eye(m), penalty, blur=blur) - trial
        promise = g @ p + penalty.value(trial + p) - penalty.value(trial)
        error = np.asarray(np.inf if ridge or lost else np.abs(p).max())
        return State(
            x=trial, error=error, p=p, t=np.array(1.0), value=total[0], promise=np.asarray(promise),
            H=first, ridge=np.array(ridge), misses=state.misses, hessian=H,
        )  # fmt: skip


def _missing_curvature(
    x: Array, g: Array, H: Array, first: Array, penalty: Penalty, *, blur: float, before: float
) -> tuple[float, bool]:
    """Return a curvature to add, where the slope has none under it, and whether curvature was lost on the way here.

    *Add.* Far from the optimum a cost may be straight: Newton's step is then what the ridge makes it, as long as x
    at first and eight times as long each time. *Lost.* Costs without a minimum flatten out until their gradients
    vanish in rounding; that is not convergence. What was flat from the start, and is not sloping, is neither.
    """
    curvature = H + np.diag(penalty.l2)
    values, vectors = np.linalg.eigh(curvature)
    slope = np.abs(vectors.T @ (g + penalty.l2 * x))
    flat = values <= blur
    if slope[flat].max(initial=0.0) > 10.0 * blur + 1e-9 * slope.max():
        return before / 8.0 if before else float(slope.max()) / max(1.0, float(np.abs(x).max())), True
    was = np.einsum("ik,ij,jk->k", vectors, first + np.diag(penalty.l2), vectors) > 1e3 * blur
    hidden = np.where(flat, np.inf, blur / np.maximum(values, np.finfo(float).tiny))[was].max(initial=0.0)
    return 0.0, bool(hidden > _LEGIBLE * max(float(np.abs(x).max()), 1.0))


def _is_good(found: Array, state: State, resolution: float) -> bool:
    if np.isinf(state.value):
        return True
    drowned = abs(state.promise) <= max(_DROWNED * (1.0 + abs(float(state.value))), 4.0 * resolution)
    return bool(drowned or found <= state.value + _ARMIJO * state.t * state.promise)
