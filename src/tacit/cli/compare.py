"""`tacit compare`: one problem, every approach to privacy, attacked alike; or a race of algorithms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tacit.cli.completing import one_of
from tacit.cli.progress import step_bar
from tacit.cli.reports import Html, refuse_unwritable, write_report
from tacit.cli.tables import table
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.comparing import ComparisonReport, Race
    from tacit.masks import Mechanism

_WIDE = 200  # columns where no terminal limits them
_PRESETS = ("paper", "clinics", "dispatch", "decor")


def compare_command(
    problem: Annotated[Path | None, typer.Argument(help="A problem file; `tacit init` writes an example.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="paper, clinics, dispatch or decor, instead of a file.", autocompletion=one_of(*_PRESETS)
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="A file of a9a in LIBSVM's format, for --preset decor.")] = None,
    only: Annotated[str | None, typer.Option(help="These approaches alone: names with commas between.")] = None,
    algorithms: Annotated[
        str | None, typer.Option(help="Race these algorithms instead: all, or names with commas between.")
    ] = None,
    sigma: Annotated[float | None, typer.Option(help="σ of masks; 1000, or what suits the preset.")] = None,
    epsilon: Annotated[float, typer.Option(help="The budget of differential privacy.")] = 1.0,
    repeats: Annotated[int, typer.Option(min=1, help="How often masks and noise are drawn for attacks.")] = 20,
    seed: Annotated[int | None, typer.Option(help="Make masks and noise reproducible.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole comparison as JSON.")] = False,
    html: Html = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Compare approaches to privacy on one problem.

    Every approach runs on the same network and is attacked by the same audit. The table says what the answer is
    worth, what it took, and what one neighbour and two colluders recover of the others. With --algorithms it is a
    race of algorithms, behind the masks that the file names.
    """
    from tacit.comparing import Preset, compare
    from tacit.comparing import preset as called
    from tacit.solving import load_problem

    refuse_unwritable(html)
    if (problem is None) == (preset is None):
        raise InputError("name either a problem file or a preset.")
    task = called(preset or "", data=data) if problem is None else load_problem(problem)
    ready = task if isinstance(task, Preset) else None
    title = ready.title if ready is not None else problem.stem if problem is not None else ""
    privacy = _masks(sigma) if isinstance(task, Preset) else task.privacy
    with step_bar("Comparing", quiet=quiet or json) as on_progress:
        outcome: ComparisonReport | Race
        if algorithms is not None:
            names = "all" if algorithms == "all" else _split(algorithms)
            outcome = compare(
                task.problem, algorithms=names or "all", privacy=privacy, title=title, on_progress=on_progress
            )
        else:
            width = sigma if sigma is not None else ready.sigma if ready is not None else 1e3
            outcome = compare(
                task.problem, only=_split(only), sigma=width, epsilon=epsilon, repeats=repeats, seed=seed,
                title=title, on_progress=on_progress,
            )  # fmt: skip
    typer.echo(outcome.to_json()) if json else show(outcome)
    write_report(outcome, html)


def show(outcome: ComparisonReport | Race, console: Console | None = None) -> None:
    """Print the sentence, the table, and what is guaranteed."""
    console = console or Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=max(console.width, _WIDE))
    console.print(outcome.sentence(), markup=False, soft_wrap=not console.is_terminal)
    rows = table(*outcome.headings())
    for cells in outcome.table():
        rows.add_row(*cells)
    console.print(rows)
    for line in outcome.notes():
        console.print(line, markup=False, soft_wrap=not console.is_terminal)


def _masks(sigma: float | None) -> Mechanism | None:
    from tacit.masks import AffineMasks

    return None if sigma is None else AffineMasks(sigma)


def _split(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",")]
