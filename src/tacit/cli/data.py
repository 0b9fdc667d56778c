"""`tacit data`: a member's own file against the data dictionary, at home and before anything is sent."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tacit.cli.graphs import Json, print_json
from tacit.cli.sheets import Columns, Decimal, Drop, Encoding, Separator, chosen, names_of, told_sheet
from tacit.tables import Reading, Review, draft, read_dictionary, review

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
    dictionary = read_dictionary(file)
    found = review(told_sheet(data, Reading(separator, decimal, encoding)), dictionary)
    if json:
        print_json({**asdict(found), "matches": found.matches})
    else:
        _show(found, {column.name: column.becomes for column in dictionary.columns})
    if not found.matches:
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
    sheet = told_sheet(data, Reading(separator, decimal, encoding))
    found = draft(chosen(sheet, target, names_of(columns), names_of(drop)), target)
    for note in found.notes:
        typer.echo(f"tacit: {note}", err=True)
    typer.echo(msgspec.toml.encode({"data": msgspec.to_builtins(found.dictionary)}).decode(), nl=False)


def _show(found: Review, becomes: dict[str, str]) -> None:
    typer.echo(f"{found.label}: {found.records} records.")
    for name, count in found.missing.items():
        gaps = f"; {count} missing" if count else ""
        typer.echo(f"  {name}: {becomes[name]}{gaps}")
    if found.ignored:
        typer.echo(f"Not used: {', '.join(found.ignored)}.")
    if found.dropped:
        typer.echo(f"{found.dropped} record(s) with missing values are left out.")
    for finding in found.findings:
        typer.echo(f"Problem: {finding.sentence}")
    typer.echo("It does not match: nothing would be sent." if found.findings else "It matches.")
