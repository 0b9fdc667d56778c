"""Newton's method from noisy sums: Hessians at 0, a fixed number of gradients, and Hessians at the answer.

    Ĥ = Σ_i ∇²h_i(0) + noise + λI             at 0 a logistic cost bends most: Ĥ bounds its Hessian everywhere
    x⁺ = x − ω Ĥ⁻¹(Σ_i ∇h_i(x) + noise)       K times, 1 ≤ ω < 2; the answer x̂ is the mean of the later points
    Â = Σ_i ∇²h_i(x̂) + noise                  what errors are made of

Every sum is scaled so that one record moves it by its part of the promise: w + K·(1 − w − l)/K + l = 1 of μ², w the
first sum's part and l the last one's. What follows from the sums costs nothing more; the mean takes some of the
last steps' noise away again. (Böhning & Lindsay, Ann. Inst. Stat. Math. 40, 1988, for the fixed Hessian.)

*Errors*, to first order. In units in which Ĥ is I and Â is diagonal, b, a step is e⁺ = (1 − ωb)e − ωξ, so that the
mean of the later points is Σ_i c_i ξ_i with known c_i: that is noise. Â⁻¹ is the variance that records drawn at
random give an estimate (a ridge makes it smaller). Eigenvalues of Â below the deviation of its noise count as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.algorithms.noisy_direct import framed, ridged, unframed
from tacit.costs import packed_size
from tacit.typing import Algorithm, Array, Cost, Findings, Peers, Summand

_EPS = float(np.finfo(float).eps)


class State(NamedTuple):
    """What all agents know."""

    x: Array  # the mean of the later points, or the last one before there are any
    error: Array  # infinite before the last sum
    point: Array  # where the next gradients are taken
    hessian: Array  # Ĥ; zero before the first sum
    done: Array  # gradients added up so far
    together: Array  # the sum of the points of the later half
    there: Array  # Â; zero before the last sum


@dataclass(frozen=True, slots=True)
class NoisyNewton(Algorithm):
    """How far one record moves slopes and bends, the noise in units of that, and how many gradients are taken."""

    slope: float
    bend: float
    noise: float
    gradients: int = 8
    first: float = 0.2  # the part of μ² that the sum of Hessians at 0 spends
    last: float = 0.1  # and that at the answer
    stretch: float = 1.4  # ω

    bounded = True
    handles_nonconvex = True
    sums = (Summand.GRADIENTS, Summand.HESSIANS)

    def findings(self, state: State) -> Findings:
        """Return Ĥ at the answer, and what noise and chance make of x."""
        if not state.there.any():
            return Findings(hessian=state.hessian)
        drawn = np.diag(np.linalg.inv(state.there))
        shaken = np.diag(self._shaken(state))
        return Findings(hessian=state.there, noise=np.sqrt(shaken), errors=np.sqrt(drawn + shaken))

    def init(self, x: Array, cost: Cost) -> State:
        """Begin at the public point."""
        m, nothing = cost.dim, np.array(0.0)
        return State(
            x=x, error=np.array(np.inf), point=x, hessian=np.zeros((m, m)), done=nothing, together=np.zeros(m),
            there=np.zeros((m, m)),
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Take one sum."""
        if not state.hessian.any():
            unit = self.bend / math.sqrt(self.first)
            return state._replace(
                hessian=ridged(self._bends(np.zeros(cost.dim), unit, peers, cost), unit * self.noise)
            )
        if float(state.done) >= self.gradients:
            unit = self.bend / math.sqrt(self.last)
            there = _raised(self._bends(state.x, unit, peers, cost), unit * self.noise)
            return state._replace(there=there, error=np.asarray(_EPS * np.abs(state.x).max()))
        unit = self._unit
        g = unit * peers.sum(cost.grad(state.point) / unit)
        point = state.point - self.stretch * np.linalg.solve(state.hessian, g)
        done = float(state.done) + 1.0
        later = done - self._before
        together = state.together + point if later > 0 else state.together
        x = together / later if later > 0 else point
        return state._replace(x=x, point=point, done=np.array(done), together=together)

    @property
    def _unit(self) -> float:
        return self.slope / math.sqrt((1.0 - self.first - self.last) / self.gradients)

    @property
    def _before(self) -> int:
        """How many points the answer leaves out."""
        return self.gradients // 2

    def _bends(self, x: Array, unit: float, peers: Peers, cost: Cost) -> Array:
        """Return the noisy sum of the Hessians at x."""
        m = cost.dim
        H = np.broadcast_to(framed(cost.hess(x)), (*cost.affine.shape[:-1], packed_size(m)))
        return unframed(unit * peers.sum(H / unit), m)

    def _shaken(self, state: State) -> Array:
        """Return the covariance that noise in gradients gives the mean of the later points."""
        root = np.linalg.cholesky(state.hessian)
        inner = np.linalg.solve(root, np.linalg.solve(root, state.there).T)
        bends, turn = np.linalg.eigh((inner + inner.T) / 2.0)
        left = 1.0 - self.stretch * np.clip(bends, 0.0, 1.0)
        K, before = self.gradients, self._before
        weights = np.zeros((K, len(left)))
        for i in range(K):  # noise of step i lives on in the points i + 1 … K
            later = np.arange(max(i, before), K)
            weights[i] = self.stretch * (left[:, None] ** (later - i)).sum(axis=1) / (K - before)
        out = np.linalg.solve(root.T, turn)  # from those units to x
        middle = turn.T @ np.linalg.inv(root) @ np.linalg.inv(root).T @ turn * (weights.T @ weights)
        return np.asarray((self._unit * self.noise) ** 2 * out @ middle @ out.T)


def _raised(P: Array, least: float) -> Array:
    """Return P with no eigenvalue below the deviation of its noise."""
    values, vectors = np.linalg.eigh(P)
    return np.asarray(vectors * np.maximum(values, least) @ vectors.T)
