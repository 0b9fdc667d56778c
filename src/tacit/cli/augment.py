"""`tacit augment`: the fewest extra links against cuts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.certificates import augment
from tacit.cli.graphs import GraphFile, Json, load, print_json, share_bar, write_graph


def augment_command(
    graph: GraphFile,
    any_: Annotated[int, typer.Option("--any", help="Guard against every coalition of at most so many agents.")],
    mu: Annotated[float | None, typer.Option(help="Also reach this algebraic connectivity m_t.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the new graph here.")] = None,
    json: Json = False,
) -> None:
    """Find the fewest links after which no such coalition cuts the honest agents apart."""
    network = load(graph)
    with share_bar("Looking for links", quiet=json) as on_progress:
        found = augment(network, any=any_, mu=mu, on_progress=on_progress)
    if out is not None:
        write_graph(found.graph, out)
    if json:
        print_json(
            {
                "links": [[str(a), str(b)] for a, b in found.links],
                "count": len(found.links),
                "at_least": found.at_least,
                "exact": found.exact,
                "mu": found.mu,
                "graph": None if out is None else str(out),
            }
        )
        return
    if not found.links:
        typer.echo(f"No link is needed: no coalition of {any_} cuts this graph.")
        return
    proof = "no fewer suffice" if found.exact else f"at least {found.at_least} are needed"
    typer.echo(f"{len(found.links)} link(s) suffice, and {proof}:")
    for a, b in found.links:
        typer.echo(f"  {a} – {b}")
    if found.mu is not None:
        typer.echo(f"m_t is then {found.mu:.6g}.")
