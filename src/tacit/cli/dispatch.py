"""`tacit dispatch`: the cheapest dispatch of a grid, without showing demands or cost curves."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console

from tacit.cli.completing import AGENTS, cases, one_of
from tacit.cli.graphs import Json, Runtime, refuse_to_overwrite, write_text
from tacit.cli.progress import live
from tacit.cli.reports import Html, refuse_unwritable, write_report
from tacit.cli.tables import table
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.dispatch import Schedule

_SHOWN = 15  # generators in the table; --out has all of them


Case = Annotated[
    str,
    typer.Argument(
        help="A MATPOWER file, the name of one of its cases (case118), or a pandapower .json.",
        autocompletion=cases,
    ),
]
Agents = Annotated[
    str,
    typer.Option(help="bus, area or generator: who keeps its numbers to itself.", autocompletion=one_of(*AGENTS)),
]
Links = Annotated[
    int | None, typer.Option(help="Design a graph with so many links each; the grid's branches otherwise.")
]
DemandSigma = Annotated[
    float | None,
    typer.Option(
        help="Hide demands alone, by masks of so many MW and gossip; whole costs by secret sums otherwise."
    ),
]
HiddenDemand = Annotated[float | None, typer.Option(help="With --sigma: how many MW are to be hidden.")]
Unmasked = Annotated[bool, typer.Option("--no-masks", help="Hide nothing: for comparison.")]
Profile = Annotated[
    str | None,
    typer.Option(
        help="Factors of the demand, one a period: 0.6,0.8,1.0, a file with them, or day (24 hours).",
        autocompletion=one_of("day"),
    ),
]
Island = Annotated[
    str | None, typer.Option(help="Dispatch the island of this bus, where no branch joins the whole grid.")
]
NoRamps = Annotated[bool, typer.Option("--no-ramps", help="Leave ramp limits out.")]
Outputs = Annotated[Path | None, typer.Option("--out", help="Write every generator's MW to this file, as CSV.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no table.")]


def dispatch_command(
    case: Case,
    agents: Agents = "bus",
    links: Links = None,
    sigma: DemandSigma = None,
    hide: HiddenDemand = None,
    no_masks: Unmasked = False,
    profile: Profile = None,
    island: Island = None,
    no_ramps: NoRamps = False,
    runtime: Runtime = "stacked",
    out: Outputs = None,
    json: Json = False,
    html: Html = None,
    quiet: Quiet = False,
) -> None:
    """Dispatch a grid: the cheapest outputs that meet the demand.

    Prints price, cost and outputs, how they were found, and whose demand and cost curve was hidden from whom. Exit
    code 1 if generators cannot meet the demand: the message says by how many MW.
    """
    from tacit.dispatch import dispatch, read_grid, read_profile
    from tacit.dispatch.market import SlowWarning

    refuse_to_overwrite(out)
    refuse_unwritable(html)
    if sigma is not None and no_masks:
        raise InputError("--sigma asks for masks, and --no-masks for none: give one of the two.")
    grid = read_grid(case, profile=None if profile is None else read_profile(profile))
    grid = grid if island is None else grid.island(island)
    grid = grid.without_ramps() if no_ramps else grid
    with warnings.catch_warnings(), live("Agreeing", runtime, quiet=quiet or json) as on_progress:
        warnings.simplefilter("always", SlowWarning)
        warnings.showwarning = cast(Any, _before_the_run)
        schedule = dispatch(
            grid,
            agents=cast(Any, agents),
            links=links,
            sigma=sigma,
            hide=hide,
            masked=not no_masks,
            runtime=runtime,
            on_progress=cast(Any, on_progress),
        )
    if json:
        typer.echo(schedule.to_json())
    else:
        show(schedule, quiet=quiet)
    if out is not None:
        write_text(out, schedule.to_csv())
    write_report(schedule, html)


def _before_the_run(message: Warning | str, *_: Any) -> None:
    """Print a warning on standard error, as a sentence and nothing else."""
    sys.stderr.write(f"tacit: {message}\n")


def show(schedule: Schedule, *, quiet: bool) -> None:
    """Print a dispatch for people."""
    from tacit.dispatch import summary

    console = Console(highlight=False)
    for name, text in summary(schedule):
        console.print(f"{name + ':':<12}{text}", soft_wrap=True, markup=False)
    if quiet:
        return
    one = len(schedule.price) == 1
    hours = [0] if one else [int(schedule.demand.argmin()), int(schedule.demand.argmax())]
    outputs = table("generator", "bus", *("MW" if one else f"MW in period {t + 1}" for t in hours))
    for k in schedule.largest(_SHOWN):
        outputs.add_row(schedule.units[k], str(schedule.buses[k]), *(f"{schedule.output[k, t]:.4f}" for t in hours))
    console.print(outputs)
    if len(schedule.units) > _SHOWN:
        console.print(
            f"The {_SHOWN} largest of {len(schedule.units)} generators; --out FILE writes all.", markup=False
        )
