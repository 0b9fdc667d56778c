"""A progress bar on standard error, where somebody is looking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from tacit.runtimes import Progress


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None] | None]:
    """Yield what `solve` takes as on_progress; None where no terminal is there to see it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("round {task.fields[round]}, agents disagree by {task.fields[disagreement]:.0e}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        bar = bars.add_task(title, total=1.0, round=0, disagreement=1.0)

        def show(progress: Progress) -> None:
            check = progress.check
            bars.update(bar, completed=progress.fraction, round=check.round, disagreement=check.disagreement)

        yield show
