"""`tacit init`: write a commented example problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.errors import FileError
from tacit.solving import EXAMPLE


def init(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("problem.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a commented example problem, ready for [bold]tacit solve[/bold]."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(EXAMPLE)
    except FileExistsError as error:
        raise FileError(f"{path}: is already there; name another file, or use --force to replace it.") from error
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from error
    typer.echo(f"Wrote {path}. Next: tacit solve {path}")
