"""The dyadic lattice on which everything masked lives.

    step = 2^max(⌈log₂ σ⌉ − 46, ⌈log₂ reach⌉ − 53)

Coefficients are rounded to multiples of the step before they are masked, and masks are multiples of
it. As long as no partial sum over the network exceeds *reach* = 2⁵³ steps, every sum of them is exact
in float64 and independent of its order: Σ aᵢ = 0 bit for bit, and no low-order bit of α + a tells α
from another coefficient. (Plain float64 masks fail at both; Mironov, CCS 2012.)

The step follows from public numbers alone: σ, the size of the network, and a bound on the
coefficients that all agents agree on beforehand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.errors import MaskError
from tacit.typing import Array

_BITS = 46  # below σ, where the reach allows it
_FEWEST = 12  # below which the rounding of a mask would show: σ must be at least 2¹² steps
_COARSEST = 2.0**-6  # to which coefficients of ordinary size may be rounded
_EXACT = 53  # consecutive integers in a float64


@dataclass(frozen=True, slots=True)
class Lattice:
    """Multiples of 2^exponent, for masks of standard deviation sigma."""

    exponent: int
    sigma: float
    bound: float

    @classmethod
    def fit(cls, sigma: float, *, bound: float, agents: int, links: int) -> Lattice:
        """Return the finest lattice that carries every sum over this network exactly."""
        if not (math.isfinite(sigma) and sigma > 0):
            raise MaskError(f"sigma = {sigma} must be a positive number: it is the masks' standard deviation.")
        if not (math.isfinite(bound) and bound > 0):
            raise MaskError(f"bound = {bound} must be a positive number: no coefficient may exceed it.")
        masks = sigma * _spread(links)
        reach = agents * bound + masks
        if not math.isfinite(reach):
            raise MaskError(f"sigma = {sigma:g} and bound = {bound:g} are too large to add up.")
        exponent = max(math.ceil(math.log2(sigma)) - _BITS, math.ceil(math.log2(reach)) - _EXACT)
        lattice = cls(exponent=exponent, sigma=sigma, bound=bound)
        if not lattice.carries(sigma):
            largest = 0.99 * sigma * 2.0 ** (_EXACT - _FEWEST - 1) / agents
            raise MaskError(
                f"sigma = {sigma:g} is too small beside coefficients of up to {bound:g} for {agents} agents: "
                f"float64 has no room for both; use a sigma of at least {1.01 * 2.0 ** (exponent + _FEWEST):.3g}, "
                f"or a public bound of at most {largest:.3g}."
            )
        return lattice

    @staticmethod
    def largest_sigma(resolution: float, *, bound: float | None, agents: int, links: int) -> float:
        """Return the largest σ whose lattice still has a step of at most *resolution*; 0 where none has."""
        exponent = math.floor(math.log2(resolution))
        room = 2.0 ** (exponent + _EXACT)
        largest = (room - agents * (default_bound(0.0) if bound is None else bound)) / _spread(links)
        if bound is None and largest > default_bound(0.0):  # then σ itself is the bound
            largest = room / (agents + _spread(links))
        return max(0.999999 * min(largest, 2.0 ** (exponent + _BITS)), 0.0)

    def carries(self, sigma: float) -> bool:
        """Tell whether a mask of that deviation has enough points to be Gaussian."""
        return sigma >= 2.0 ** (self.exponent + _FEWEST)

    @property
    def step(self) -> float:
        """The distance of neighbouring points."""
        return 2.0**self.exponent

    @property
    def reach(self) -> float:
        """Up to which every multiple of the step is a float64."""
        return 2.0 ** (self.exponent + _EXACT)

    @property
    def bits(self) -> int:
        """How many bits of a mask lie below σ."""
        return math.ceil(math.log2(self.sigma)) - self.exponent

    def round(self, coefficients: Array) -> Array:
        """Return the nearest lattice points; refuse what exceeds the public bound."""
        if not (np.abs(coefficients) <= self.bound).all():
            raise MaskError(
                f"a cost has a coefficient beyond the public bound of {self.bound:g}; agree on a larger "
                "bound, or use smaller units."
            )
        return np.ldexp(np.rint(np.ldexp(coefficients, -self.exponent)), self.exponent)


def refuse_coarse(sigma: float, *, bound: float | None, agents: int = 2, links: int = 1) -> None:
    """Refuse a σ so large that coefficients would be rounded away: the one range for masks, manifests and commands.

    Coefficients up to 65 536 may be rounded to 2⁻⁶ and no coarser; a larger public *bound* is another unit, and its
    share of that is allowed.
    """
    coarsest = _COARSEST * max(1.0, (bound or 0.0) / default_bound(0.0))
    lattice = Lattice.fit(sigma, bound=default_bound(sigma) if bound is None else bound, agents=agents, links=links)
    if lattice.step > coarsest:
        largest = Lattice.largest_sigma(coarsest, bound=bound, agents=agents, links=links)
        raise MaskError(
            f"sigma = {sigma:g} is more than float64 carries: coefficients would be rounded to {lattice.step:.1e}, "
            f"and the answer with them; use a sigma of at most {largest:.3g}, or, where coefficients are as large "
            "as that, give their public bound."
        )


def default_bound(sigma: float) -> float:
    """Return the public bound on coefficients where nobody gives one: 65 536, or σ if that is larger."""
    return max(2.0**16, sigma)


def _spread(links: int) -> float:
    """Return what Σ|b_e|/σ over the links stays below: its mean of 1.13 a link, and 12 deviations more."""
    return 1.13 * links + 12 * 0.853 * math.sqrt(links)
