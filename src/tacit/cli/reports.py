"""`--html FILE`: a report to look at, beside what a command prints."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.graphs import refuse_to_overwrite
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.showing import Shown

Html = Annotated[
    Path | None, typer.Option("--html", help="Also write a report to this file, to look at in a browser.")
]
_NEEDED = ("plotly", "jinja2")


def refuse_unwritable(path: Path | None) -> None:
    """Refuse a report that could not be written, before any work is done for it."""
    refuse_to_overwrite(path)
    refuse_undrawable(path)


def refuse_undrawable(path: Path | None) -> None:
    """Refuse a report where nothing is installed that draws."""
    missing = next((name for name in _NEEDED if find_spec(name) is None), None)
    if path is not None and missing is not None:
        raise InputError(f"reports need {missing}: pip install 'tacit[report]'.")


def write_report(result: Shown, path: Path | None, **context: Any) -> None:
    """Write the report where one was asked for, and say so."""
    if path is not None:
        result.report(path, **context)
        typer.echo(f"tacit: {path} is written.", err=True)
