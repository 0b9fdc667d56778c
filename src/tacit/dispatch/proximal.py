"""Dispatch with ramp limits: a few smooth problems, one after the other.

    λ⁺ = argmin_λ Σ h_i(λ; c_i, ρ) + ½τ|λ − λᵏ|²          one run of Newton's method by secret sums
    c⁺ = P(λ⁺)                                            every generator for itself

The proximal method of multipliers (Rockafellar, Math. Oper. Res. 1(2), 1976). Its two proximal terms vanish in the
limit, at any ρ and τ; both shrink as long as a run is easy, and grow again where one is not. It ends when

    Σ ρ|P − c|·(Pmax − Pmin)  ≤  10⁻⁹ of the cost         by how much the cost can still fall
    |ΣP − Σd|                 ≤  10⁻⁹ of the demand

which two secret totals tell.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.dispatch.agents import Agents
from tacit.dispatch.generators import Generator
from tacit.dispatch.market import price_level, slope_of
from tacit.dispatch.ramped import RampedSupply
from tacit.dispatch.recovery import added_up, per_agent
from tacit.errors import InfeasibleError, TacitError
from tacit.masks import SumMasks
from tacit.runtimes import Progress
from tacit.solving import Answer, Problem, solve
from tacit.typing import Array

_GAP, _BALANCE = 1e-9, 1e-9
_RUNS = 60  # at most
_ROUNDS = 25  # of Newton's method in one run
_EASY = 8  # rounds of a run after which the terms shrink
_STIFF, _LEAST, _FALL = 0.5, 1e-4, 0.5  # ρ in units of the price level over a unit's range
_SLACK = 0.3  # τ, in units of all units' slope
_BEYOND = 1e4  # times the price level: nobody asks that much, so the demand cannot be met
_UNIT = 1e6  # $: values are added up in millions, within the public bound
_BOUND = 2.0**40


class Followed(NamedTuple):
    """Prices, (T,), outputs in MW, (G, T), and the runs it took."""

    price: Array
    output: Array
    answers: list[Answer]


def follow_ramps(
    generators: tuple[Generator, ...],
    agents: Agents,
    *,
    masked: bool,
    runtime: str,
    on_progress: Callable[[Progress], None] | None = None,
) -> Followed:
    """Return the prices, and outputs that respect all limits and ramps."""
    level, slope = price_level(generators), slope_of(generators)
    room = np.array([max(unit.high - unit.low, 1e-3) for unit in generators])
    periods = agents.demand.shape[1]
    centre = np.tile([[(unit.low + unit.high) / 2] for unit in generators], (1, periods))
    price, stiff, answers = np.full(periods, level), _STIFF, list[Answer]()
    for _ in range(_RUNS):
        rho, tau = stiff * level / room, _SLACK * stiff * slope / len(agents.holds)
        problem = Problem(
            agents.graph,
            [
                RampedSupply(
                    [generators[k] for k in held],
                    need,
                    rho=rho[list(held)],
                    centre=centre[list(held)],
                    tau=tau,
                    start=price,
                )
                for held, need in zip(agents.holds, agents.demand, strict=True)
            ],
            x0=price,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # agents with one neighbour: the statement names them
            answer = solve(
                problem,
                privacy=SumMasks(bound=_BOUND, words=2) if masked else None,
                algorithm="newton",
                tolerance=1e-11,
                max_rounds=_ROUNDS,
                runtime=runtime,
                on_progress=on_progress,
            )
        answers.append(answer)
        price = answer.x
        output = _outputs(problem, agents, price)
        moved = (rho * room)[:, None] * np.abs(output - centre)
        spent = np.array([unit.cost(path) for unit, path in zip(generators, output, strict=True)])
        parts = [per_agent(agents, output) - agents.demand, agents.demand]
        parts += [per_agent(agents, part.sum(axis=1, keepdims=True)) / _UNIT for part in (moved, spent)]
        counted = added_up(agents, np.concatenate(parts, axis=1), masked=masked, runtime=runtime)
        answers.append(counted)
        totals = counted.x
        imbalance, demand = np.abs(totals[:periods]), np.abs(totals[periods : 2 * periods])
        gap, cost = totals[-2:]
        centre = output
        if gap <= _GAP * abs(cost) and (imbalance <= _BALANCE * np.maximum(demand, 1.0)).all():
            return Followed(price, output, answers)
        if np.abs(price).max() > _BEYOND * level:
            raise InfeasibleError(
                f"generators cannot follow the demand within their ramp limits: at any price "
                f"{imbalance.max():.4g} MW are out of balance in period {int(imbalance.argmax()) + 1}; allow "
                "faster ramps, or smooth the profile."
            )
        easy, converged = answer.record.phase2.rounds <= _EASY, answer.converged
        stiff = max(_FALL * stiff, _LEAST) if easy else stiff if converged else 2.0 * stiff
    raise TacitError(
        f"{_RUNS} runs were not enough for these ramp limits: {imbalance.max():.1e} MW are out of balance, and the "
        f"cost may be {gap / cost:.1e} too high."
    )


def _outputs(problem: Problem, agents: Agents, price: Array) -> Array:
    """Return the path of every generator, in the order of the grid."""
    paths = [cost.paths(price) for cost in problem.costs if isinstance(cost, RampedSupply)]
    output = np.concatenate(paths)
    output[[k for held in agents.holds for k in held]] = np.concatenate(paths)
    return output
