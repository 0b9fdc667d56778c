"""From the price to outputs that balance: exactly, and fairly where several units are marginal.

    P⁻ = P(λ − δ),  P⁺ = P(λ + δ)               what every unit puts out just below and just above the price
    θ  = (Σd − ΣP⁻) / Σ(P⁺ − P⁻)                by one secret sum
    P  = P⁻ + θ (P⁺ − P⁻)

Every unit stays within its limits, because P⁻ and P⁺ do. Units whose cost is linear jump from one limit to the
other at the price: all of them then run at the same share θ of their room, which is the split that favours
nobody. The cost is within 2δ·Σ(P⁺ − P⁻) of the least, where the true price is in between; if θ is not in [0, 1]
it is not, and δ grows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.dispatch.agents import Agents
from tacit.dispatch.curves import along, padded
from tacit.dispatch.generators import Generator
from tacit.dispatch.market import BOUND
from tacit.errors import TacitError
from tacit.masks import SumMasks
from tacit.network import Network
from tacit.solving import Answer
from tacit.solving.total import total
from tacit.typing import Array

_WIDER = 8  # attempts, each ten times as wide as the one before
_LEFT = 1e-9  # of the demand: an imbalance of rounding


class Recovered(NamedTuple):
    """Outputs in MW, (G, T), the shares θ, (T,), and the runs it took."""

    output: Array
    share: Array
    answers: list[Answer]


def recover(
    generators: tuple[Generator, ...], agents: Agents, price: Array, *, width: float, masked: bool, runtime: str
) -> Recovered:
    """Return what every generator puts out at *price*, (T,), known to a relative *width*."""
    answers: list[Answer] = []
    room = np.maximum(np.abs(price), 1e-3) * width
    offers = offering(generators)
    for _ in range(_WIDER):
        below, above = offers(price - room), offers(price + room)
        short = agents.demand - per_agent(agents, below)
        parts = np.concatenate([short, per_agent(agents, above - below)], axis=1)
        answer = added_up(agents, parts, masked=masked, runtime=runtime)
        answers.append(answer)
        missing, spread = np.split(answer.x, 2)
        share = np.clip(np.where(spread > 0, missing / np.where(spread > 0, spread, 1.0), 0.0), 0.0, 1.0)
        imbalance = np.abs(missing - share * spread)
        least = _LEFT * np.maximum(np.abs(agents.demand).sum(axis=0), 1.0) + 4.0 * resolution(answer)
        if (imbalance <= least).all():
            return Recovered(below + share * (above - below), share, answers)
        room = np.where(imbalance <= least, room, 10.0 * room)
    raise TacitError(
        f"the price is not known well enough to balance the grid: {imbalance.max():.1e} MW are left; design a "
        "graph with more links, or use secret sums."
    )


def offering(generators: tuple[Generator, ...]) -> Callable[[Array], Array]:
    """Return a function of the price, (T,), that says what every generator would put out, (G, T)."""
    price = padded([unit.curve.price for unit in generators])
    power = padded([unit.curve.power for unit in generators])
    return lambda x: along(price, power, x)


def per_agent(agents: Agents, output: Array) -> Array:
    """Return the outputs added up for every agent, (n, T)."""
    sums = np.zeros((len(agents.holds), output.shape[1]))
    owner = np.repeat(np.arange(len(agents.holds)), [len(held) for held in agents.holds])
    which = [k for held in agents.holds for k in held]
    np.add.at(sums, owner, output[which])
    return sums


def added_up(agents: Agents, parts: Array, *, masked: bool, runtime: str) -> Answer:
    """Return the run that adds up the agents' rows of *parts*, (n, k) in MW: its x is their total."""
    privacy = SumMasks(bound=BOUND) if masked else None
    return total(Network(agents.graph), list(parts), privacy=privacy, runtime=runtime)


def resolution(answer: Answer) -> float:
    """Return to how many MW a total of that run is exact."""
    phase1 = answer.record.phase1
    return 0.0 if phase1 is None or phase1.sum_error is None else phase1.sum_error
