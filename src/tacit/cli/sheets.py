"""Options about CSV files, and what was assumed about one: a line on standard error."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.completing import one_of

if TYPE_CHECKING:
    from tacit.tables import Reading, Sheet

Separator = Annotated[
    str | None,
    typer.Option(
        help="What stands between columns: comma, semicolon, tab; read off the file unless given.",
        autocompletion=one_of("comma", "semicolon", "tab"),
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(help="point or comma; read off the file unless given.", autocompletion=one_of("point", "comma")),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="utf-8, latin-1, …; read off the file unless given.", autocompletion=one_of("utf-8", "latin-1")
    ),
]

Columns = Annotated[str | None, typer.Option(help="Use these columns only, and the target: names with commas.")]
Drop = Annotated[str | None, typer.Option(help="Leave these columns out, such as identifiers: names with commas.")]


def names_of(text: str | None) -> list[str]:
    """Return the names in a list with commas.

    >>> names_of("north, west,"), names_of(None)
    (['north', 'west'], [])
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def chosen(sheet: Sheet, target: str | None, columns: Collection[str], drop: Collection[str]) -> Sheet:
    """Return the sheet with the columns that are asked for, and the target; none are named for all of them."""
    return sheet.only([*columns, target or sheet.columns[-1]] if columns else None, drop)


def announced_sheet(path: Path, reading: Reading, *, label: str | None = None) -> Sheet:
    """Return what stands in a CSV file, and say what was assumed about it."""
    from tacit.tables import read_sheet

    return announced(read_sheet(path, reading, label=label))


def announced(sheet: Sheet) -> Sheet:
    """Return the same, and say what was assumed about it."""
    if sheet.assumption:
        typer.echo(f"tacit: {sheet.assumption}", err=True)
    return sheet
