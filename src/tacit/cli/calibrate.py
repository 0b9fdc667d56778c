"""`tacit calibrate`: the σ that reaches a target on a given graph."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.certify import priced, show, show_price
from tacit.cli.graphs import (
    Any_,
    Bound,
    Clip,
    Coalition,
    Deadline,
    Delta,
    Epsilon,
    GraphFile,
    Guess,
    Hide,
    Json,
    PublicRecords,
    Quick,
    load,
    members,
    print_json,
    refuse_unnamed,
    refuse_untargeted,
)
from tacit.cli.progress import share_bar
from tacit.cli.reports import Html, refuse_unwritable, write_report


def calibrate_command(
    graph: GraphFile,
    coalition: Coalition = None,
    any_: Any_ = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    guess: Guess = None,
    hide: Hide = 1.0,
    bound: Bound = None,
    clip: Clip = None,
    records: PublicRecords = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="With --clip, --records and --delta: the ε at which noise in a mean has this deviation."),
    ] = None,
    resolution: Annotated[float | None, typer.Option(help="How coarsely masks may round coefficients.")] = None,
    quick: Quick = False,
    deadline: Deadline = None,
    json: Json = False,
    html: Html = None,
) -> None:
    """Choose σ: --epsilon 0.01, or --hide 5 --guess 0.55, or --hide 5 --epsilon 1 --delta 1e-6.

    With --clip it is about noise in the answer itself: --epsilon says what that costs, and --accuracy which ε can
    be had.
    """
    from tacit.certificates import calibrated, remedy

    if clip is not None or accuracy is not None:
        price = priced(load(graph), epsilon, delta, clip, any_, records, accuracy=accuracy)
        print_json(price.to_dict()) if json else show_price(price)
        return
    refuse_unnamed(coalition, any_)
    refuse_untargeted(epsilon, guess)
    refuse_unwritable(html)
    network = load(graph)
    with share_bar("Searching for the worst coalition", quiet=json or any_ is None) as on_progress:
        certificate = calibrated(
            network, members(network, coalition), any=any_, epsilon=epsilon, delta=delta, guess=guess, hide=hide,
            bound=bound, resolution=resolution, quick=quick, deadline=deadline, on_progress=on_progress,
        )  # fmt: skip
    write_report(certificate, html, network=network)
    if json:
        print_json(certificate.to_dict())
        return
    typer.echo(f"sigma = {certificate.sigma!r}\n")
    show(certificate, remedy(network, certificate))
