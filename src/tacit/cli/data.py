"""`tacit data`: a member's own file against the data dictionary, at home and before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.graphs import Json, print_json
from tacit.cli.sheets import Columns, Decimal, Drop, Encoding, Separator, announced_sheet, chosen, names_of

if TYPE_CHECKING:
    from tacit.tables import Comparison, Dictionary

app = typer.Typer(
    no_args_is_help=True, help="Your own file at home: check it against a data dictionary, or draft one."
)


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="A manifest or a problem file with a data dictionary.")],
    data: Annotated[Path, typer.Option(help="Your own CSV file. It stays here.")],
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Compare a file with the dictionary: columns, levels, missing values, limits. Nothing is sent.

    Exit code 1 if the file does not match.
    """
    from tacit.tables import Reading, read_dictionary, review

    dictionary = read_dictionary(file)
    comparison = review(announced_sheet(data, Reading(separator, decimal, encoding)), dictionary)
    if json:
        print_json(comparison.to_dict())
    else:
        _show(comparison, dictionary)
    if not comparison.matches:
        raise typer.Exit(1)


@app.command("draft")
def draft_command(
    data: Annotated[Path, typer.Argument(help="A CSV file.")],
    target: Annotated[str | None, typer.Option(help="The column to be explained; the last unless given.")] = None,
    columns: Columns = None,
    drop: Drop = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Print a data dictionary for a file, to be corrected by people: names, types and levels, and no limits."""
    from tacit.tables import Reading, draft

    sheet = announced_sheet(data, Reading(separator, decimal, encoding))
    drafted = draft(chosen(sheet, target, names_of(columns), names_of(drop)), target)
    for note in drafted.notes:
        typer.echo(f"tacit: {note}", err=True)
    typer.echo(drafted.to_toml(), nl=False)


def _show(comparison: Comparison, dictionary: Dictionary) -> None:
    becomes = {column.name: column.becomes for column in dictionary.columns}
    typer.echo(f"{comparison.label}: {comparison.records} records.")
    for name, count in comparison.missing.items():
        gaps = f"; {count} missing" if count else ""
        typer.echo(f"  {name}: {becomes[name]}{gaps}")
    if comparison.ignored:
        typer.echo(f"Not used: {', '.join(comparison.ignored)}.")
    if comparison.dropped:
        typer.echo(f"{comparison.dropped} record(s) with missing values are left out.")
    for finding in comparison.findings:
        typer.echo(f"Problem: {finding.sentence}")
    typer.echo("It does not match: nothing would be sent." if comparison.findings else "It matches.")
