"""Economic dispatch: the cheapest outputs that meet the demand, agreed on by agents who show neither.

    minimise Σ f_i(P_i)   subject to   Σ P_i = Σ d_i in every period,   Pmin ≤ P ≤ Pmax,   ramps

1. Can it be met at all? One secret total.                               `_room`
2. The price λ at which offers meet needs: consensus on the dual.        `market`, `proximal`
3. The outputs, balanced and split fairly: one more secret total.        `recovery`
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tacit.dispatch.agents import AgentKind, Agents, agents_of
from tacit.dispatch.flows import LineFlow, Overload, flows, line_flows, overloads
from tacit.dispatch.grid import Grid
from tacit.dispatch.grid_files import read_grid
from tacit.dispatch.market import CLOSE, GOSSIPED, SlowWarning, agree_on_price, slowness
from tacit.dispatch.proximal import follow_ramps
from tacit.dispatch.recovery import added_up, per_agent, recover, resolution
from tacit.dispatch.schedule import Limit, Schedule
from tacit.dispatch.statement import exposed, protecting_links, statement
from tacit.errors import InfeasibleError, InputError, ProtectionError, TacitError
from tacit.listing import listed
from tacit.runtimes import Progress
from tacit.solving import Answer
from tacit.typing import Array


def dispatch(
    source: Grid | str | Path | Any,
    *,
    agents: AgentKind = "bus",
    links: int | None = None,
    sigma: float | None = None,
    hide: float | None = None,
    masked: bool = True,
    profile: ArrayLike | None = None,
    runtime: str = "stacked",
    on_progress: Callable[[Progress], None] | None = None,
) -> Schedule:
    """Return the cheapest dispatch of a grid, found without anybody showing its demand.

    *source* is a MATPOWER file or the name of one of MATPOWER's cases, a pandapower network or its JSON file, or a
    `Grid`. *agents* are buses, areas or generators; *links* designs a graph with so many links each, where the
    branches of the grid are taken otherwise. Whole costs are hidden by secret sums; *sigma* in MW hides demands
    alone, by affine masks and gossip, and *hide* is how many MW are to be hidden by them; *masked* = False hides
    nothing. *profile* has one factor a period for all demands, or one row per bus in MW; periods are hours to ramp
    limits.
    """
    start = time.perf_counter()
    grid = read_grid(source, profile=profile)
    _refuse_islands(grid)
    who = agents_of(grid, agents, links=links)
    if sigma is not None and not masked:
        raise ProtectionError("sigma asks for masks, and masked = False for none: give one of the two.")
    if hide is not None and sigma is None:
        raise ProtectionError("hide goes with sigma: secret sums hide every difference alike.")
    if sigma is not None and grid.has_ramps:
        raise ProtectionError(
            "ramp limits tie the periods together, and are dispatched by secret sums only; leave sigma out, or "
            "the ramp limits."
        )
    slow = slowness(who, links=links, sigma=sigma)
    if slow is not None:
        warnings.warn(slow, SlowWarning, stacklevel=2)
    room, counted = _room(grid, who, masked=masked, runtime=runtime)
    answers = [counted]
    if grid.has_ramps:
        price, output, more = follow_ramps(
            grid.generators, who, masked=masked, runtime=runtime, on_progress=on_progress
        )
        agreed, share = more[0], np.zeros(grid.periods)
    else:
        agreed = agree_on_price(
            grid.generators,
            who,
            sigma=sigma,
            hide=hide,
            masked=masked,
            runtime=runtime,
            slack=room.slack,
            on_progress=on_progress,
        )
        if not agreed.converged and sigma is None:
            raise TacitError(f"the agents did not agree on a price. {agreed.sentence}")
        width = 10.0 * CLOSE if sigma is None else 10.0 * GOSSIPED
        output, share, splits = recover(grid.generators, who, agreed.x, width=width, masked=masked, runtime=runtime)
        price, more = agreed.x, [agreed, *splits]
    answers += more
    leaves = exposed(who) if masked else []
    checked, full, on_lines = _lines(grid, output)
    return Schedule(
        grid=grid.name,
        agents=agents,
        links=len(who.graph.edges),
        price=price,
        output=output,
        units=tuple(unit.name for unit in grid.generators),
        buses=tuple(unit.bus for unit in grid.generators),
        demand=grid.demand.sum(axis=0),
        cost=_cost(grid, output),
        at_limits=room.at_limits,
        share=share,
        records=tuple(answer.record for answer in answers),
        seconds=time.perf_counter() - start,
        overloads=full,
        flows=on_lines,
        lines_checked=checked,
        says=tuple(statement(who, agreed, sigma=sigma, masked=masked, ramps=grid.has_ramps)),
        protection=agreed.protection(),
        exposed=tuple(leaves),
        helpful=tuple(protecting_links(who.graph)) if leaves else (),
    )


def _cost(grid: Grid, output: Array) -> Array:
    """Return $ of every period, (T,)."""
    return np.sum([unit.cost(path) for unit, path in zip(grid.generators, output, strict=True)], axis=0)


def _refuse_islands(grid: Grid) -> None:
    """Raise where pieces that no branch joins would have to balance each other."""
    islands = grid.islands()
    if len(islands) > 1:
        units = [sum(unit.bus in island for unit in grid.generators) for island in islands]
        named = listed(
            f"that of bus {island[0]} ({len(island)} bus{'es' * (len(island) > 1)}, {count} "
            f"generator{'s' * (count != 1)})"
            for island, count in zip(islands, units, strict=True)
        )
        raise InputError(
            f"{grid.name} falls into {len(islands)} islands that no branch joins, and each has a balance of its "
            f"own: {named}; dispatch them one at a time, as the island of bus {islands[0][0]}."
        )


def _lines(grid: Grid, output: Array) -> tuple[int | None, tuple[Overload, ...], tuple[LineFlow, ...]]:
    """Return how many lines' limits were looked at, those that these outputs would overload, and all flows."""
    if grid.lines is None:
        return None, (), ()
    injected = dict(zip(grid.buses, -grid.demand, strict=True))
    for unit, path in zip(grid.generators, output, strict=True):
        injected[unit.bus] = injected[unit.bus] + path
    flow = flows(grid.lines, injected)
    limited = np.isfinite(grid.lines.limit) & np.isfinite(flow).all(axis=1)
    return int(limited.sum()), overloads(grid.lines, flow), line_flows(grid.lines, flow)


class _Room(NamedTuple):
    """How far the demand is from what all units can do together."""

    at_limits: tuple[Limit, ...]
    """Of every period, which limits of all units the demand is at, if any."""
    slack: float
    """MW by which rounding puts a demand beyond them."""


def _room(grid: Grid, who: Agents, *, masked: bool, runtime: str) -> tuple[_Room, Answer]:
    """Return how far the demand is from all units' limits; raise if it is beyond them in some period."""
    least, most = (
        np.tile([[getattr(unit, end)] for unit in grid.generators], (1, grid.periods)) for end in ("low", "high")
    )
    parts = [per_agent(who, most) - who.demand, who.demand - per_agent(who, least)]
    answer = added_up(who, np.concatenate(parts, axis=1), masked=masked, runtime=runtime)
    spare, above = np.split(answer.x, 2)
    fine = 1e-9 * np.maximum(np.abs(grid.demand).sum(axis=0), 1.0)
    for room, what, remedy in (
        (spare, "more than all generators can give", "commit more units, or shed load"),
        (above, "less than all generators must run at", "take units out of service, or lower their PMIN"),
    ):
        if (room < -fine).any():
            worst = int(room.argmin())
            when = f" in period {worst + 1} of {grid.periods}" if grid.periods > 1 else ""
            raise InfeasibleError(f"{grid.name}: the demand{when} is {-room[worst]:.6g} MW {what}; {remedy}.")
    limits: list[Limit] = [
        "lower" if low else "upper" if high else None
        for low, high in zip(above <= fine, spare <= fine, strict=True)
    ]
    beyond = float(np.maximum(-np.minimum(spare, above), 0.0).max())
    return _Room(tuple(limits), 2.0 * (beyond + resolution(answer))), answer
