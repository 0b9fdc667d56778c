"""`tacit solve`: solve a problem file and say what was computed and what was hidden."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from tacit.cli.completing import ALGORITHMS, PROTECTIONS, RUNTIMES, one_of
from tacit.cli.graphs import refuse_to_overwrite, write_text
from tacit.cli.progress import live, noticed, timekeeper
from tacit.cli.reports import Html, refuse_unwritable, write_report
from tacit.errors import InputError

StatusPort = Annotated[
    int | None,
    typer.Option(
        min=0, max=65535,
        help="Of processes: serve how every agent is, as JSON, at /status on this port of the loopback, for "
        "`tacit explore --watch`; 0 takes a free one.",
    ),
]  # fmt: skip


def refuse_status(port: int | None, runtime: str) -> None:
    """Refuse to serve how processes are where none run."""
    if port is not None and runtime != "peers":
        raise InputError(f"status is of processes, and the runtime is {runtime}: use peers.")


def solve(
    problem: Annotated[Path, typer.Argument(help="A problem file; `tacit init` writes an example.")],
    json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the record to this file, as JSON.")] = None,
    html: Html = None,
    sigma: Annotated[float | None, typer.Option(help="Mask with this σ, whatever the file says.")] = None,
    sums: Annotated[
        bool, typer.Option("--sums", help="Hide whole costs behind secret sums, whatever the file says.")
    ] = False,
    protect: Annotated[
        str | None,
        typer.Option(
            help="affine or whole: refuse to run if less than that is hidden.", autocompletion=one_of(*PROTECTIONS)
        ),
    ] = None,
    hide: Annotated[
        float | None,
        typer.Option(help="How large a difference is to be hidden; prints how often a guess is right."),
    ] = None,
    no_tree: Annotated[bool, typer.Option("--no-tree", help="Gossip only: no sums over a spanning tree.")] = False,
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="Use this algorithm, whatever the file says.", autocompletion=one_of("auto", *ALGORITHMS)
        ),
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option(
            help="stacked (all as arrays), jax (the same, compiled), ray (blocks on a cluster), agents (threads) "
            "or peers (processes).",
            autocompletion=one_of(*RUNTIMES),
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Of ray: so many blocks of agents.")] = None,
    address: Annotated[
        str | None, typer.Option(help="Of ray: a cluster that runs, auto or host:port; else this machine.")
    ] = None,
    max_rounds: Annotated[int | None, typer.Option(help="Stop after so many rounds.")] = None,
    status: StatusPort = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no table.")] = False,
) -> None:
    """Solve a private problem.

    Prints the minimiser that all agents agree on, how it was reached, and what was hidden from whom. Exit code 1
    if the agents did not converge.
    """
    from tacit.cli.summary import show_answer
    from tacit.solving import load_problem, overridden

    refuse_to_overwrite(out)
    refuse_unwritable(html)
    task = load_problem(problem)
    for note in task.notes:
        typer.echo(f"tacit: {note}", err=True)
    task = overridden(
        task, sigma=sigma, sums=sums, protect=cast(Any, protect), hide=hide, tree=not no_tree, algorithm=algorithm,
        runtime=runtime, workers=workers, address=address, max_rounds=max_rounds,
    )  # fmt: skip
    runs_on = str(task.runtime)
    refuse_status(status, runs_on)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stamps and cautions are in the record, and the summary shows them
        with live("Agreeing", runs_on, quiet=quiet) as shown, noticed(shown, status) as on_progress:
            keeper = timekeeper(on_progress, runs_on, wanted=html is not None)
            answer = task.solve(keeper or on_progress)
    if json:
        typer.echo(answer.to_json())
    else:
        show_answer(answer, answer.privacy())
    if out is not None:
        write_text(out, answer.to_json() + "\n")
    write_report(answer, html, **({} if keeper is None else {"links": keeper.times()}))
    if not answer.converged:
        raise typer.Exit(1)
