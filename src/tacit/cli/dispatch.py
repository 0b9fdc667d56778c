"""`tacit dispatch`: the cheapest dispatch of a grid, without showing demands or cost curves."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from tacit.cli.agents_table import agents_table
from tacit.cli.graphs import Json, refuse_to_overwrite
from tacit.cli.progress import progress_bar
from tacit.dispatch import DAY, Schedule, dispatch, read_grid
from tacit.dispatch.agents import Kind
from tacit.dispatch.market import SlowWarning
from tacit.errors import FileError, InputError
from tacit.listing import listed
from tacit.typing import Array

_SHOWN = 15  # generators in the table; --out has all of them


def dispatch_command(
    case: Annotated[
        str, typer.Argument(help="A MATPOWER file, the name of one of its cases (case118), or a pandapower .json.")
    ],
    agents: Annotated[str, typer.Option(help="bus, area or generator: who keeps its numbers to itself.")] = "bus",
    links: Annotated[
        int | None, typer.Option(help="Design a graph with so many links each; the grid's branches otherwise.")
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            help="Hide demands alone, by masks of so many MW and gossip; whole costs by secret sums otherwise."
        ),
    ] = None,
    hide: Annotated[
        float | None,
        typer.Option(help="With --sigma: how many MW are to be hidden."),
    ] = None,
    no_masks: Annotated[bool, typer.Option("--no-masks", help="Hide nothing: for comparison.")] = False,
    profile: Annotated[
        str | None,
        typer.Option(help="Factors of the demand, one a period: 0.6,0.8,1.0, a file with them, or day (24 hours)."),
    ] = None,
    island: Annotated[
        str | None, typer.Option(help="Dispatch the island of this bus, where no branch joins the whole grid.")
    ] = None,
    no_ramps: Annotated[bool, typer.Option("--no-ramps", help="Leave ramp limits out.")] = False,
    runtime: Annotated[
        str,
        typer.Option(help="stacked (all agents as arrays), agents (one thread each) or peers (one process each)."),
    ] = "stacked",
    out: Annotated[Path | None, typer.Option(help="Write every generator's MW to this file, as CSV.")] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no table.")] = False,
) -> None:
    """Dispatch a grid: the cheapest outputs that meet the demand.

    Prints price, cost and outputs, how they were found, and whose demand and cost curve was hidden from whom. Exit
    code 1 if generators cannot meet the demand: the message says by how many MW.
    """
    if out is not None:
        refuse_to_overwrite(out)
    if sigma is not None and no_masks:
        raise InputError("--sigma asks for masks, and --no-masks for none: give one of the two.")
    grid = read_grid(case, profile=None if profile is None else factors(profile))
    if island is not None:
        grid = grid.island(next((bus for bus in grid.buses if str(bus) == island), island))
    if no_ramps:
        grid = grid.without_ramps()
    shown = agents_table if runtime == "peers" else progress_bar
    with warnings.catch_warnings(), shown("Agreeing", quiet=quiet or json) as on_progress:
        warnings.simplefilter("always", SlowWarning)
        warnings.showwarning = cast(Any, _before_the_run)
        found = dispatch(
            grid,
            agents=cast(Kind, agents),
            links=links,
            sigma=sigma,
            hide=hide,
            masked=not no_masks,
            runtime=runtime,
            on_progress=cast(Any, on_progress),
        )
    if json:
        sys.stdout.write(found.to_json() + "\n")
    else:
        show(found, quiet=quiet)
    if out is not None:
        try:
            out.write_text(found.to_csv(), encoding="utf-8")
        except OSError as error:
            raise FileError(f"{out}: cannot be written ({error.strerror}).") from error


def _before_the_run(message: Warning | str, *_: Any) -> None:
    """Print a warning on standard error, as a sentence and nothing else."""
    sys.stderr.write(f"tacit: {message}\n")


def factors(given: str) -> Array:
    """Return a profile from a list, a file or a name."""
    if given == "day":
        return np.array(DAY)
    found = _numbers(given)
    if found is None and Path(given).suffix:
        try:
            found = _numbers(Path(given).read_text(encoding="utf-8"))
        except OSError as error:
            raise FileError(f"{given}: cannot be read ({error.strerror}).") from error
    if found is None or not len(found) or not np.isfinite(found).all():
        raise InputError(
            f"--profile {given}: a profile is a list of numbers, one a period, as 0.6,0.8,1.0; a file with "
            "such a list; or day."
        )
    return found


def _numbers(text: str) -> Array | None:
    """Return the numbers in a text, with commas, semicolons or spaces between them; None if there is more."""
    try:
        return np.array([float(word) for word in text.replace(",", " ").replace(";", " ").split()])
    except ValueError:
        return None


def show(found: Schedule, *, quiet: bool) -> None:
    """Print a dispatch for people."""
    console = Console(highlight=False)
    for name, text in summary(found):
        console.print(f"{name + ':':<12}{text}", soft_wrap=True, markup=False)
    if quiet:
        return
    hours = [0] if len(found.price) == 1 else [int(found.demand.argmin()), int(found.demand.argmax())]
    table = Table("generator", "bus", *("MW" if len(found.price) == 1 else f"MW in period {t + 1}" for t in hours))
    order = np.argsort(-np.abs(found.output).max(axis=1), kind="stable")[:_SHOWN]
    for k in order:
        table.add_row(found.units[k], str(found.buses[k]), *(f"{found.output[k, t]:.4f}" for t in hours))
    console.print(table)
    if len(found.units) > _SHOWN:
        console.print(
            f"The {_SHOWN} largest of {len(found.units)} generators; --out FILE writes all.", markup=False
        )


def summary(found: Schedule) -> list[tuple[str, str]]:
    """Return pairs of a heading and a sentence."""
    periods = len(found.price)
    low, high = found.price.min(), found.price.max()
    price = f"{low:.6f} $/MWh" if periods == 1 else f"{low:.6f} to {high:.6f} $/MWh over {periods} periods"
    lines = [
        ("price", price + _not_unique(found)),
        ("cost", f"{found.total_cost:.4f} $" + " an hour" * (periods == 1)),
        ("demand", f"{found.demand.max():.3f} MW{' at most' * (periods > 1)}, met to {found.balance_error:.0e} MW"),
        ("grid", f"{found.grid}: {len(found.units)} generators in service, "
                 f"{len(found.records[0].agents)} agents ({found.agents}), {found.links} links"),
        ("how", f"{found.algorithm}, {found.rounds} rounds in {found.exchanges} exchanges, {found.seconds:.2f} s"),
    ]  # fmt: skip
    return [*lines, *_on_lines(found), *(("privacy", sentence) for sentence in found.says)]


def _on_lines(found: Schedule) -> list[tuple[str, str]]:
    """Say what the plan would put on the lines, loudly where that is too much."""
    open_ = "Limits of lines are no part of this dispatch: it is the cheapest plan without them"
    if found.lines_checked is None:
        return [("lines", f"{open_}, and flows could not be computed from this source.")]
    if not found.lines_checked:
        return [("lines", f"{open_}, and this grid gives none.")]
    by = "by the DC flows of the plan, which only a simulation that holds all of it knows"
    if not found.overloads:
        return [("lines", f"{open_}. None of {found.lines_checked} limits is exceeded, {by}.")]
    named = [
        f"{o.line} {abs(o.mw):.1f} MW of {o.limit:g} ({o.loading:.0f} %)"
        + f" in period {o.period}" * (len(found.price) > 1)
        for o in found.overloads
    ]
    count = f"{len(found.overloads)} of {found.lines_checked} limits exceeded"
    return [
        ("OVERLOADED", f"{count}, {by}: {listed(named)}."),
        ("lines", f"{open_}; what respects them costs more."),
    ]


def _not_unique(found: Schedule) -> str:
    """Say of which periods the price is one of many: the demand is exactly at all units' limits."""
    said = ""
    for limit, side in (("lower", "lower"), ("upper", "higher")):
        periods = [str(t + 1) for t, at in enumerate(found.at_limits) if at == limit]
        if periods:
            when = f" in period{'s' * (len(periods) > 1)} {listed(periods)}" if len(found.price) > 1 else ""
            said += f"; not unique{when}: all units are at their {limit} limits, and any {side} price balances too"
    return said
