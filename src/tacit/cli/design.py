"""`tacit design`: a graph and its σ from a target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.certify import show
from tacit.cli.graphs import (
    Bound,
    Delta,
    Epsilon,
    Guess,
    Hide,
    Json,
    print_json,
    refuse_to_overwrite,
    refuse_untargeted,
)
from tacit.cli.progress import share_bar
from tacit.cli.reports import Html, refuse_unwritable, write_report


def design_command(
    agents: Annotated[int, typer.Option(help="How many agents there are.")],
    any_: Annotated[int, typer.Option("--any", help="Guard against every coalition of at most so many agents.")],
    epsilon: Epsilon = None,
    delta: Delta = None,
    guess: Guess = None,
    hide: Hide = 1.0,
    links: Annotated[int | None, typer.Option(help="Links per agent; 2·any + 2 unless given.")] = None,
    draws: Annotated[int, typer.Option(help="How many random graphs to compare.")] = 30,
    seed: Annotated[int | None, typer.Option(help="Repeat a design. The graph is public anyway.")] = None,
    bound: Bound = None,
    out: Annotated[Path, typer.Option(help="Where to write the graph.")] = Path("graph.graphml"),
    json: Json = False,
    html: Html = None,
) -> None:
    """Draw the best of some random regular graphs, certify it and choose σ."""
    from tacit.certificates import design, remedy
    from tacit.network import Network, write_graph

    refuse_untargeted(epsilon, guess)
    refuse_to_overwrite(out)
    refuse_unwritable(html)
    with share_bar("Comparing graphs", quiet=json) as on_progress:
        plan = design(
            agents=agents, any=any_, epsilon=epsilon, delta=delta, guess=guess, hide=hide, links=links, draws=draws,
            seed=seed, bound=bound, on_progress=on_progress,
        )  # fmt: skip
    write_graph(plan.graph, out)
    write_report(plan, html)
    if json:
        print_json({"graph": str(out), **plan.certificate.to_dict()})
        return
    typer.echo(f"graph = {out}\nsigma = {plan.sigma!r}\n")
    show(plan.certificate, remedy(Network(plan.graph), plan.certificate))
