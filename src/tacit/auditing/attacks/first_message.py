"""The first message of gradient tracking, multi-consensus and OPAPC: a gradient in all but name.

    gradient tracking   x₀ − α y₀,  y₀ = ∇h(x₀)
    multi-consensus     s₀ + ∇h(x₀) − ∇h(x₀) = ∇h(x₀)
    OPAPC               (x₀ − η(∇h(x₀) − μx₀)) / (1 + ημ)

It goes to every neighbour; no closed neighbourhood is needed (for gradient tracking: arXiv 2509.18134).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.readings import Reading, estimated
from tacit.auditing.public import Public
from tacit.auditing.view import View, received
from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class FirstMessage:
    """Read the first message of every neighbour."""

    name: str = "first message"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where the algorithm is another one."""
        known = public.algorithm in ("gradient-tracking", "multi-consensus", "opapc")
        return None if known else f"the algorithm is {public.algorithm}"

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="the first message holds the gradient")

    def readings(self, view: View, public: Public) -> list[Reading]:
        """Return the gradient of every neighbour at x₀."""
        said = view.only("mix")
        if not said:
            return []
        return [Reading(i, public.start, _gradient(v, public)) for i, v in received(said[0]).items()]


def _gradient(said: Array, public: Public) -> Array:
    x = public.start
    if public.algorithm == "multi-consensus":
        return said
    if public.algorithm == "gradient-tracking":
        return (x - said) / public.setting("step_size")
    eta, mu = opapc_steps(public)[1:3]
    return (x - (1.0 + eta * mu) * said) / eta + mu * x


def opapc_steps(public: Public) -> tuple[float, float, float, float]:
    """Return τ, η, μ and θ of OPAPC from its public settings."""
    exchanges, gap, largest = public.settings["gossip"]
    low, high = gap * largest, largest
    if exchanges > 1 and gap < 1.0:
        peak = math.cosh(exchanges * math.acosh((1.0 + gap) / (1.0 - gap)))
        low, high = 1.0 - 1.0 / peak, 1.0 + 1.0 / peak
    L, mu = public.setting("smoothness"), public.setting("strong_convexity")
    tau = min(1.0, 0.5 * math.sqrt(high / low * mu / L))
    eta = 1.0 / (4.0 * tau * L)
    return tau, eta, mu, 1.0 / (eta * high)
