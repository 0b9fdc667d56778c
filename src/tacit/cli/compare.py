"""`tacit compare`: one problem, every approach to privacy, attacked alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tacit.cli.progress import step_bar
from tacit.cli.tables import table

if TYPE_CHECKING:
    from tacit.comparing import Comparison

_WIDE = 200  # columns where no terminal limits them


def compare_command(
    problem: Annotated[Path, typer.Argument(help="A problem file; `tacit init` writes an example.")],
    only: Annotated[str | None, typer.Option(help="These approaches alone: names with commas between.")] = None,
    sigma: Annotated[float, typer.Option(help="σ of masks.")] = 1e3,
    epsilon: Annotated[float, typer.Option(help="The budget of differential privacy.")] = 1.0,
    repeats: Annotated[int, typer.Option(min=1, help="How often masks and noise are drawn for attacks.")] = 20,
    seed: Annotated[int | None, typer.Option(help="Make masks and noise reproducible.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole comparison as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Compare approaches to privacy on one problem.

    Every approach runs on the same network and is attacked by the same audit. The table says what the answer is
    worth, what it took, and what one neighbour and two colluders recover of the others.
    """
    from tacit.comparing import compare
    from tacit.solving import load_problem

    task = load_problem(problem)
    names = None if only is None else [name.strip() for name in only.split(",")]
    with step_bar("Comparing", quiet=quiet or json) as on_progress:
        outcome = compare(
            task, only=names, sigma=sigma, epsilon=epsilon, repeats=repeats, seed=seed, title=problem.stem,
            on_progress=on_progress,
        )  # fmt: skip
    if json:
        typer.echo(outcome.to_json())
    else:
        show(outcome)


def show(outcome: Comparison, console: Console | None = None) -> None:
    """Print the table, and what is guaranteed."""
    from tacit.comparing.comparison import HEADINGS

    console = console or Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=max(console.width, _WIDE))
    rows = table(*HEADINGS)
    for cells in outcome.table():
        rows.add_row(*cells)
    console.print(outcome.sentence(), markup=False, soft_wrap=not console.is_terminal)
    console.print(rows)
