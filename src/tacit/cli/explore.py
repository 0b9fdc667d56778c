"""`tacit explore`: a page on this machine to look at networks, runs and federations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def explore_command(
    file: Annotated[
        Path | None, typer.Argument(help="A graph, a problem file or a federation's manifest to begin with.")
    ] = None,
    watch: Annotated[
        str,
        typer.Option(
            help="Begin with this federation: the port of `tacit up --status`, of agents' metrics, or a manifest."
        ),
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port on 127.0.0.1; a free one unless given.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
) -> None:
    """Open a page on this machine: who learns what in a network, runs and attacks, federations as they go.

    The page answers on 127.0.0.1 alone, to whoever has the address that is printed, and fetches nothing from
    outside. Ctrl-C ends it.
    """
    from tacit.explore.server import refuse_without_extra, serve

    refuse_without_extra()
    from tacit.explore.lookouts import lookouts_in
    from tacit.explore.sketch import Sketch
    from tacit.explore.sources import opening, read_network

    network, name = opening() if file is None else (read_network(file), file.name)
    lookouts_in(watch)  # or refused before a page opens
    serve(
        Sketch.of(network), name, watched=watch, port=port,
        on_ready=lambda address: _announce(address, browser=not no_browser),
    )  # fmt: skip


def _announce(address: str, *, browser: bool) -> None:
    typer.echo(f"tacit explore: {address}")
    if browser:
        typer.launch(address)
