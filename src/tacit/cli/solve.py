"""`tacit solve`: solve a problem file and say what was computed and what was hidden."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from pathlib import Path
from typing import Annotated, cast

import typer

from tacit.cli.agents_table import agents_table
from tacit.cli.graphs import refuse_to_overwrite
from tacit.cli.progress import progress_bar
from tacit.cli.summary import show_answer
from tacit.errors import FileError, InputError
from tacit.masks import SumMasks, drawn_afresh, with_sigma
from tacit.solving import Protection, load_problem


def solve(
    problem: Annotated[Path, typer.Argument(help="A problem file; `tacit init` writes an example.")],
    json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the record to this file, as JSON.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Mask with this σ, whatever the file says.")] = None,
    sums: Annotated[
        bool, typer.Option("--sums", help="Hide whole costs behind secret sums, whatever the file says.")
    ] = False,
    protect: Annotated[
        str | None, typer.Option(help="affine or whole: refuse to run if less than that is hidden.")
    ] = None,
    hide: Annotated[
        float | None,
        typer.Option(help="How large a difference is to be hidden; prints how often a guess is right."),
    ] = None,
    no_tree: Annotated[bool, typer.Option("--no-tree", help="Gossip only: no sums over a spanning tree.")] = False,
    algorithm: Annotated[str | None, typer.Option(help="Use this algorithm, whatever the file says.")] = None,
    runtime: Annotated[
        str | None,
        typer.Option(help="stacked (all agents as arrays), agents (one thread each) or peers (one process each)."),
    ] = None,
    max_rounds: Annotated[int | None, typer.Option(help="Stop after so many rounds.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no table.")] = False,
) -> None:
    """Solve a private problem.

    Prints the minimiser that all agents agree on, how it was reached, and what was hidden from whom. Exit code 1
    if the agents did not converge.
    """
    if out is not None:
        refuse_to_overwrite(out)
    task = load_problem(problem)
    for note in task.notes:
        typer.echo(f"tacit: {note}", err=True)
    if sigma is not None and sums:
        raise InputError("--sums has no σ: give --sigma or --sums, not both.")
    if sigma is not None and drawn_afresh(task.privacy):
        raise InputError(
            f"{problem} asks for secret sums, which have no σ; change its level, or leave --sigma out."
        )
    if sigma is not None:
        task = dataclasses.replace(task, privacy=with_sigma(task.privacy, sigma))
    if sums and not drawn_afresh(task.privacy):
        task = dataclasses.replace(task, privacy=SumMasks())
    task = dataclasses.replace(
        task,
        protect="whole" if "whole" in (protect, task.protect) else cast(Protection | None, protect) or task.protect,
        hide=task.hide if hide is None else hide,
        tree=task.tree and not no_tree,
        algorithm=algorithm or task.algorithm,
        runtime=runtime or task.runtime,
        max_rounds=task.max_rounds if max_rounds is None else max_rounds,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stamps and cautions are in the record, and the summary shows them
        shown = agents_table if task.runtime == "peers" else progress_bar
        with shown("Agreeing", quiet=quiet) as on_progress:
            answer = task.solve(on_progress)
    if json:
        sys.stdout.write(answer.to_json() + "\n")
    else:
        show_answer(answer)
    if out is not None:
        try:
            out.write_text(answer.to_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise FileError(f"{out}: cannot be written ({error.strerror}).") from error
    if not answer.converged:
        raise typer.Exit(1)
