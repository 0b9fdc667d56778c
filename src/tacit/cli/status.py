"""`tacit status`: how a member's agent is, from what it leaves beside its state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tacit.cli.graphs import Json, print_json

if TYPE_CHECKING:
    from tacit.federation.standing import Standing


def status_command(
    federation: Annotated[Path, typer.Argument(help="The manifest of the run.")],
    me: Annotated[str, typer.Option(help="Which member this is.")],
    key: Annotated[
        Path | None, typer.Option(help="The private key, as for the agent; it is not read, only its folder counts.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where the state is kept; beside the key unless given.")
    ] = None,
    json: Json = False,
) -> None:
    """Say how a member's agent is: running and in which phase, silent, stopped, or done.

    Only what the agent writes beside its state is read; nothing is asked, locked or changed. Exit code 0 if it is
    running or done, and 1 otherwise.
    """
    from tacit.federation.manifest import Manifest
    from tacit.federation.standing import standing_of

    home = folder or (key or federation).parent
    standing = standing_of(Manifest.read(federation), me=me, folder=home)
    if json:
        print_json(standing.to_dict())
    else:
        _show(standing)
    if not standing.is_well:
        raise typer.Exit(1)


def _show(standing: Standing) -> None:
    from tacit.cli.links_table import links_table

    console = Console(highlight=False, soft_wrap=True)
    for line in standing.lines():
        console.print(line, markup=False)
    if standing.bulletin is not None:
        console.print(links_table(standing.bulletin))
