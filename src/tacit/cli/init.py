"""`tacit init`: write a commented example problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("problem.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a commented example problem, ready for [bold]tacit solve[/bold]."""
    from tacit.solving import write_example

    write_example(path, replace=force)
    typer.echo(f"Wrote {path}. Next: tacit solve {path}")
