"""Newton's method from noisy sums: one sum of Hessians, then a fixed number of gradients.

    Ĥ = Σ_i ∇²h_i(0) + noise + λI             at 0 a logistic cost bends most: Ĥ bounds its Hessian everywhere
    x⁺ = x − Ĥ⁻¹(Σ_i ∇h_i(x) + noise)         K times; the answer is the mean of the last half of the points

Every sum is scaled so that one record moves it by its part of the promise: μ² = μ²·(w + K·(1 − w)/K), w the first
sum's part. What follows from the sums costs nothing more; the mean takes some of the last steps' noise away again.
(Böhning & Lindsay, Ann. Inst. Stat. Math. 40, 1988, for the fixed Hessian.)
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


@dataclass(frozen=True, slots=True)
class NoisyNewton(Algorithm):
    """How far one record moves slopes and bends, the noise in units of that, and how many gradients are taken."""

    slope: float
    bend: float
    noise: float
    gradients: int = 8
    first: float = 0.3  # the part of μ² that the sum of Hessians spends

    bounded = True
    handles_nonconvex = True
    sums = (Summand.GRADIENTS, Summand.HESSIANS)

    def findings(self, state: State) -> Findings:
        """Return Ĥ."""
        return Findings(hessian=state.hessian)

    def init(self, x: Array, cost: Cost) -> State:
        """Begin at the public point."""
        m, nothing = cost.dim, np.array(0.0)
        return State(
            x=x, error=np.array(np.inf), point=x, hessian=np.zeros((m, m)), done=nothing, together=np.zeros(m)
        )  # fmt: skip

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Take one sum."""
        m = cost.dim
        if not state.hessian.any():
            unit = self.bend / math.sqrt(self.first)
            H = np.broadcast_to(framed(cost.hess(np.zeros(m))), (*cost.affine.shape[:-1], packed_size(m)))
            return state._replace(hessian=ridged(unframed(unit * peers.sum(H / unit), m), unit * self.noise))
        unit = self.slope / math.sqrt((1.0 - self.first) / self.gradients)
        g = unit * peers.sum(cost.grad(state.point) / unit)
        point, done = state.point - np.linalg.solve(state.hessian, g), float(state.done) + 1.0
        later = done - self.gradients // 2
        together = state.together + point if later > 0 else state.together
        x = together / later if later > 0 else point
        ended = done >= self.gradients
        error = np.asarray(_EPS * np.abs(x).max() if ended else np.inf)
        return state._replace(x=x, error=error, point=point, done=np.array(done), together=together)
