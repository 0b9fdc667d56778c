"""Direct solution from noisy sums: one sum of statistics in which one record hardly shows.

    (q̂, P̂) = Σ_i (q_i, P_i) + noise                      each half scaled to what one record can move
    x = argmin ½ xᵀ(P̂ + λI)x + q̂ᵀx,   λ = max(0, √(2m)·s − λ_min(P̂))

s is the public deviation of the noise in P̂, and √(2m)·s about its norm: λ is zero where the sum of the records
outweighs the noise, and all that comes after the sum is a function of it (after AdaSSP: Wang, UAI 2018). To first
order noise moves x by −(P̂ + λI)⁻¹(δq + δP x), with a covariance of s_q² + s²(|x|² + xxᵀ)/2 in the middle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.costs import pack, packed_size, unpack
from tacit.typing import Algorithm, Array, Cost, Findings, Peers, Summand

_EPS = float(np.finfo(float).eps)


class State(NamedTuple):
    """What all agents know."""

    x: Array
    error: Array  # infinite before the sum
    hessian: Array  # P̂ + λI
    noise: Array  # the deviation of every unknown


@dataclass(frozen=True, slots=True)
class NoisyDirect(Algorithm):
    """How far one record moves slopes and bends at most, and the deviation of the noise in units of that."""

    slope: float
    bend: float
    noise: float

    bounded = True
    handles_nonconvex = True
    sums = (Summand.GRADIENTS, Summand.HESSIANS)

    def findings(self, state: State) -> Findings:
        """Return the noise of x."""
        return Findings(hessian=state.hessian, noise=state.noise)

    def init(self, x: Array, cost: Cost) -> State:
        """Start with nothing known."""
        m = cost.dim
        return State(x=x, error=np.array(np.inf), hessian=np.zeros((m, m)), noise=np.full(m, np.inf))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Add up scaled gradients and Hessians at 0, and minimise."""
        m, half = cost.dim, math.sqrt(2.0)
        at = np.zeros(m)
        H = np.broadcast_to(framed(cost.hess(at)), (*cost.affine.shape[:-1], packed_size(m)))
        total = peers.sum(np.concatenate([cost.grad(at) / (half * self.slope), H / (half * self.bend)], axis=-1))
        g, P = half * self.slope * total[:m], unframed(half * self.bend * total[m:], m)
        P = ridged(P, half * self.bend * self.noise)
        inverse = np.linalg.inv(P)
        x = -inverse @ g
        slope, bend = half * self.slope * self.noise, half * self.bend * self.noise
        middle = slope**2 * np.eye(m) + 0.5 * bend**2 * ((x @ x) * np.eye(m) + np.outer(x, x))
        spread = np.sqrt(np.diag(inverse @ middle @ inverse))
        return State(x=x, error=np.asarray(_EPS * np.abs(x).max()), hessian=P, noise=spread)


def framed(S: Array) -> Array:
    """Return a symmetric matrix as a vector whose length is the Frobenius norm."""
    return pack(S) * _weights(S.shape[-1])


def unframed(v: Array, dim: int) -> Array:
    """Return the matrix again."""
    return unpack(v / _weights(dim), dim)


def ridged(P: Array, deviation: float) -> Array:
    """Return P̂ + λI, safely positive beside noise of that deviation."""
    least = math.sqrt(2.0 * len(P)) * deviation
    return P + max(0.0, least - float(np.linalg.eigvalsh(P)[0])) * np.eye(len(P))


def _weights(dim: int) -> Array:
    rows, columns = np.triu_indices(dim)
    return np.where(rows == columns, 1.0, math.sqrt(2.0))
