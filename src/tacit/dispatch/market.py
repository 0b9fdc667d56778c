"""The price that balances a grid, where periods do not depend on each other: one run.

secret sums     Bracket: what all offer together at many prices a round, until two neighbours are left
affine masks    ADMM by gossip: every agent keeps its cost curve, and tells a price of its own each round
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from tacit.algorithms import ADMM, Bracket
from tacit.dispatch.agents import Agents
from tacit.dispatch.curves import summed
from tacit.dispatch.dual import Supply
from tacit.dispatch.generators import Generator
from tacit.masks import AffineMasks, SumMasks
from tacit.runtimes import Progress
from tacit.solving import Answer, Problem, solve

BOUND = 2.0**20
"""MW that no number of one agent exceeds: public, and beyond any grid."""
CLOSE, GOSSIPED = 1e-12, 1e-8
"""Relative errors of the price at which a run ends: by sums, and by gossip."""
_STIFF = 5.0  # ADMM's penalty, in units of the average supply curve's slope
_MOST = 300_000  # rounds of gossip
_MANY = 1000  # agents from which gossip along the branches of a grid takes minutes


class SlowWarning(UserWarning):
    """The run will take long, and another way would not."""


def slowness(agents: Agents, *, links: int | None, sigma: float | None) -> str | None:
    """Say before a run that it will take long, and what would not; None where it will not.

    Grids are long and thin: news takes as many rounds from end to end as there are buses between, many times over.
    """
    if sigma is None or links is not None or len(agents.holds) < _MANY:
        return None
    return (
        f"gossip along the branches of {len(agents.holds)} agents takes ten thousand rounds and more, some "
        "minutes; a designed graph, of 6 links each, takes about a tenth of them, and secret sums, without "
        "sigma, a dozen."
    )


def agree_on_price(
    generators: tuple[Generator, ...],
    agents: Agents,
    *,
    sigma: float | None,
    hide: float | None = None,
    masked: bool,
    runtime: str,
    slack: float = 0.0,
    on_progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """Return the run in which the agents find the price of every period; *sigma* in MW asks for affine masks.

    *slack* is by how many MW the demand may be beyond all units' limits together, where it is meant to be at them.
    """
    costs = [
        Supply(summed([generators[k].curve for k in held]), need)
        for held, need in zip(agents.holds, agents.demand, strict=True)
    ]
    problem = Problem(agents.graph, costs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # agents with one neighbour: the statement names them
        if sigma is not None:
            return solve(
                problem,
                privacy=AffineMasks(sigma, bound=max(BOUND, sigma)),
                hide=hide,
                algorithm=ADMM(penalty=_STIFF * slope_of(generators) / len(costs)),
                tolerance=GOSSIPED,
                max_rounds=_MOST,
                runtime=runtime,
                on_progress=on_progress,
            )
        return solve(
            problem,
            privacy=SumMasks(bound=BOUND) if masked else None,
            algorithm=Bracket(slack=slack),
            tolerance=CLOSE,
            runtime=runtime,
            on_progress=on_progress,
        )


def slope_of(generators: tuple[Generator, ...]) -> float:
    """Return MW per $/MWh of all units together, roughly: their room over their typical price."""
    room = np.array([unit.high - unit.low for unit in generators])
    return float(max(room.sum(), 1.0) / price_level(generators))


def price_level(generators: tuple[Generator, ...]) -> float:
    """Return the average of marginal costs, weighted by room; 1 where everything is free."""
    room = np.array([unit.high - unit.low for unit in generators])
    middle = np.array([(unit.curve.price[0] + unit.curve.price[-1]) / 2 for unit in generators])
    level = float((room * np.abs(middle)).sum() / max(room.sum(), 1e-9))
    return level if level > 0 else 1.0
