"""Progress bars on standard error, where somebody is looking; elsewhere nothing, and nothing is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from tacit.runtimes import Progress


@contextmanager
def _bar(title: str, *columns: str, quiet: bool, **fields: Any) -> Iterator[Callable[..., None] | None]:
    """Yield what updates a bar; None where no terminal is there to see it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    texts = (TextColumn(column) for column in columns)
    shown = (TextColumn("{task.description}"), BarColumn(), *texts, TimeElapsedColumn())
    with Bars(*shown, console=console, transient=True) as bars:
        bar = bars.add_task(title, total=1.0, **fields)
        yield lambda **news: bars.update(bar, **news)


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None] | None]:
    """Yield what `solve` takes as on_progress."""
    column = "round {task.fields[round]}, agents disagree by {task.fields[disagreement]:.0e}"
    with _bar(title, column, quiet=quiet, round=0, disagreement=1.0) as update:

        def show(progress: Progress) -> None:
            check = progress.check
            if update is not None:
                update(completed=progress.fraction, round=check.round, disagreement=check.disagreement)

        yield None if update is None else show


@contextmanager
def share_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[float], None] | None]:
    """Yield a callback for the share of work that is done."""
    with _bar(title, quiet=quiet) as update:
        yield None if update is None else lambda share: update(completed=share)


@contextmanager
def step_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[float, str], None] | None]:
    """Yield a callback for the share of work that is done and the step that follows."""
    with _bar(title, quiet=quiet) as update:
        yield (
            None if update is None else lambda share, step: update(completed=share, description=f"{title}: {step}")
        )


def timekeeper(on_progress: Any, runtime: str, *, wanted: bool) -> Any:
    """Return what keeps the times of links beside what is shown, where processes run and a report wants them."""
    if runtime != "peers" or not wanted:
        return None
    from tacit.runtimes.peers import Timekeeper

    return Timekeeper(on_progress)


@contextmanager
def noticed(on_progress: Any, port: int | None) -> Iterator[Any]:
    """Yield what hears of all processes and serves how they are on a port of the loopback, where one is given."""
    if port is None:
        yield on_progress
        return
    from tacit.runtimes.peers import Noticeboard, serve_noticeboard

    board = Noticeboard(on_progress)
    with serve_noticeboard(board, port) as taken:
        address = f"127.0.0.1:{taken}"
        typer.echo(
            f"tacit: http://{address}/status says how the agents are; tacit explore --watch {address}", err=True
        )
        yield board


@contextmanager
def live(title: str, runtime: str, *, quiet: bool = False) -> Iterator[Any]:
    """Yield what `solve` takes as on_progress: a bar, or of processes a table of all agents."""
    if runtime == "peers":
        from tacit.cli.agents_table import agents_table

        with agents_table(title, quiet=quiet) as table:
            yield table
    else:
        with progress_bar(title, quiet=quiet) as on_progress:
            yield on_progress
