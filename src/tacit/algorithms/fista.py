"""Accelerated (proximal) gradient steps by sums: FISTA with restarts.

    x⁺ = prox_{ψ/L}( y − Σ_i ∇h_i(y) / L )                  one sum a round
    y⁺ = x⁺ and momentum

L = ΣL_i and the penalties are added up once, in secret like all the rest: no agent shows its own constants. Only
gradients are added up, and no values.

Beck & Teboulle, SIAM J. Imaging Sci. 2(1), 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tacit.algorithms.landscape import Landscape
from tacit.algorithms.momentum import accelerate
from tacit.algorithms.penalised import Penalty
from tacit.errors import AlgorithmError
from tacit.typing import Algorithm, Array, Cost, Peers, Summand


class State(NamedTuple):
    """What all agents know."""

    x: Array  # estimate of the minimiser
    ahead: Array  # y, the extrapolated point
    theta: Array  # the momentum's sequence
    L: Array  # ΣL_i; 0 before it is known
    shared: Array  # the penalties' sums, l1 and l2


@dataclass(frozen=True, slots=True)
class FISTA(Algorithm):
    """Settings of FISTA: there are none."""

    handles_rough = True
    handles_nonconvex = True
    sums = (Summand.GRADIENTS,)

    @classmethod
    def tuned(cls, landscape: Landscape) -> Self:
        """Return the settings; refuse costs whose gradient is not Lipschitz."""
        if not np.isfinite(landscape.cost.smoothness).all():
            raise AlgorithmError(
                "FISTA needs costs with a Lipschitz gradient to choose its step, and one of these has none; use "
                "'newton', or give the cost's smoothness."
            )
        return cls()

    def init(self, x: Array, cost: Cost) -> State:
        """Start without momentum, and without a step."""
        return State(x=x, ahead=x, theta=np.array(1.0), L=np.array(0.0), shared=np.zeros(2 * cost.dim))

    def step(self, state: State, peers: Peers, cost: Cost) -> State:
        """Run one round: one sum, and one more in the first."""
        L, shared = state.L, state.shared
        if not L:
            own = np.broadcast_to(cost.smoothness[..., None], (*cost.affine.shape[:-1], 1))
            agreed = peers.sum(np.concatenate([own, cost.penalty], axis=-1))
            L, shared = agreed[0] if agreed[0] > 0 else np.array(1.0), agreed[1:]
        penalty = Penalty.of(shared, cost.limits)
        g = peers.sum(cost.grad(state.ahead))
        x = penalty.prox(state.ahead - g / L, 1.0 / L)
        ahead, theta = accelerate(state.x, state.ahead, x, state.theta)
        return State(x=x, ahead=ahead, theta=theta, L=np.asarray(L), shared=shared)
