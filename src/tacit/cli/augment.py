"""`tacit augment`: the fewest extra links against cuts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.graphs import GraphFile, Json, load, print_json
from tacit.cli.progress import share_bar
from tacit.cli.reports import Html, refuse_unwritable, write_report


def augment_command(
    graph: GraphFile,
    any_: Annotated[int, typer.Option("--any", help="Guard against every coalition of at most so many agents.")],
    mu: Annotated[float | None, typer.Option(help="Also reach this algebraic connectivity m_t.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the new graph here.")] = None,
    json: Json = False,
    html: Html = None,
) -> None:
    """Find the fewest links after which no such coalition cuts the honest agents apart."""
    from tacit.certificates import augment
    from tacit.network import write_graph

    refuse_unwritable(html)
    network = load(graph)
    with share_bar("Looking for links", quiet=json) as on_progress:
        augmentation = augment(network, any=any_, mu=mu, on_progress=on_progress)
    if out is not None:
        write_graph(augmentation.graph, out)
    write_report(augmentation, html)
    if json:
        print_json({**augmentation.to_dict(), "graph": None if out is None else str(out)})
        return
    if not augmentation.links:
        typer.echo(f"No link is needed: no coalition of {any_} cuts this graph.")
        return
    proof = "no fewer suffice" if augmentation.exact else f"at least {augmentation.at_least} are needed"
    typer.echo(f"{len(augmentation.links)} link(s) suffice, and {proof}:")
    for a, b in augmentation.links:
        typer.echo(f"  {a} – {b}")
    if augmentation.mu is not None:
        typer.echo(f"m_t is then {augmentation.mu:.6g}.")
