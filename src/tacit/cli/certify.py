"""`tacit certify`: what a coalition can learn, from the graph and σ alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from tacit.cli.graphs import (
    Any_,
    Clip,
    Coalition,
    Deadline,
    GraphFile,
    Json,
    PublicRecords,
    Quick,
    load,
    members,
    print_json,
    refuse_unnamed,
    width,
)
from tacit.cli.progress import share_bar
from tacit.cli.reports import Html, refuse_unwritable, write_report
from tacit.cli.tables import table
from tacit.errors import InputError
from tacit.listing import listed

if TYPE_CHECKING:
    from tacit.certificates import Augmentation, Certificate
    from tacit.differential import AnswerPrice
    from tacit.network import Network

_SHOWN = 12  # rows of a table; JSON has all


def certify_command(
    graph: GraphFile,
    sigma: Annotated[float | None, typer.Option(help="Standard deviation of Gaussian masks.")] = None,
    sums: Annotated[
        bool, typer.Option("--sums", help="Certify secret sums, which have uniform masks and no σ.")
    ] = False,
    coalition: Coalition = None,
    any_: Any_ = None,
    known: Annotated[
        str | None, typer.Option(help="Honest agents whose costs the coalition knows already.")
    ] = None,
    hide: Annotated[float | None, typer.Option(help="How large a difference is to be hidden.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Certify noise shares that make the answer (ε, δ)-differentially private.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="With --epsilon.")] = None,
    clip: Clip = None,
    records: PublicRecords = None,
    quick: Quick = False,
    deadline: Deadline = None,
    json: Json = False,
    html: Html = None,
) -> None:
    """Say exactly what a coalition can learn.

    Give --coalition a,b for certain agents, or --any 3 for every coalition of at most three. Exit code 1 if
    something is learnt exactly. With --epsilon, --delta and --clip it is about noise shares in the answer: what
    they promise, and how much noise there is; with --sigma, --hide is how far one record moves what is masked.
    """
    from tacit.certificates import certify, remedy

    if epsilon is not None or clip is not None:
        moved = hide if hide is not None and not sums else 1.0  # what one record, or label, moves
        price = priced(load(graph), epsilon, delta, clip, any_, records, sigma=width(sigma, sums=sums) / moved)
        print_json(price.to_dict()) if json else show_price(price)
        return
    refuse_unnamed(coalition, any_)
    refuse_unwritable(html)
    network = load(graph)
    with share_bar("Searching for the worst coalition", quiet=json or any_ is None) as on_progress:
        certificate = certify(
            network,
            members(network, coalition),
            any=any_,
            sigma=width(sigma, sums=sums),
            known=members(network, known) or (),
            hide=hide,
            quick=quick,
            deadline=deadline,
            on_progress=on_progress,
        )
    links = remedy(network, certificate)
    if json:
        print_json(certificate.to_dict())
    else:
        show(certificate, links)
    write_report(certificate, html, network=network, suggested=() if links is None else links.links)
    if not certificate.is_private:
        raise typer.Exit(1)


def priced(
    network: Network, epsilon: float | None, delta: float | None, clip: float | None, any_: int | None,
    records: int | None, *, sigma: float = math.inf, accuracy: float | None = None,
) -> AnswerPrice:  # fmt: skip
    """Return what noise shares promise and cost; with an *accuracy*, for the ε that it takes."""
    from tacit.differential import DifferentialPrivacy, calibrate_answer, certify_answer

    if delta is None or (epsilon is None and accuracy is None):
        raise InputError("a promise about the answer needs --delta, and --epsilon or --accuracy.")
    promise = DifferentialPrivacy(
        epsilon=1.0 if epsilon is None else epsilon, delta=delta, clip=clip, any=1 if any_ is None else any_,
        records=records,
    )  # fmt: skip
    if accuracy is not None:
        promise = calibrate_answer(network, promise, accuracy=accuracy)
    return certify_answer(network, promise, sigma=sigma)


def show_price(price: AnswerPrice) -> None:
    """Print what noise shares promise, and what they cost."""
    for sentence in (price.guarantee.statement(), *price.lines()):
        typer.echo(sentence)


def show(certificate: Certificate, remedy: Augmentation | None) -> None:
    """Print a certificate for people: the sentence, the numbers, and the links that would protect the exposed."""
    console = Console(highlight=False)
    console.print(certificate.statement(), soft_wrap=not console.is_terminal, markup=False)
    console.print()
    if certificate.is_private and certificate.is_perfect:
        console.print("Only cuts matter to secret sums, and none of these coalitions is one.")
    elif certificate.is_private:
        _numbers(console, certificate)
    else:
        _exposed(console, certificate, remedy)


def _numbers(console: Console, certificate: Certificate) -> None:
    from tacit.certificates import GUESSES

    numbers = table("what", "value")
    for guess in GUESSES:
        reach = f"{certificate.hidden_difference(guess):.4g}"
        numbers.add_row(f"guess right {100 * guess:g} % of the time", f"worlds that differ by {reach}")
    if certificate.hide is not None:
        _at(numbers, certificate, certificate.hide)
    name = "m_t" if certificate.guards is not None else "μ(L_H)"
    numbers.add_row(f"ε = 1/(4σ²·{name})", f"{certificate.epsilon:.6g}")
    numbers.add_row(f"{name}, {certificate.method}", f"{certificate.mu:.6g}")
    if certificate.guards is not None and certificate.coalition is not None:
        numbers.add_row("worst coalition", listed(certificate.coalition))
    console.print(numbers)
    least = sorted(certificate.uncertainty.items(), key=lambda item: item[1])
    shown = ", ".join(f"{agent} ± {deviation:.4g}" for agent, deviation in least[:5])
    console.print(f"Least hidden coefficients: {shown}.", markup=False)


def _at(numbers: Table, certificate: Certificate, hide: float) -> None:
    tradeoff = certificate.tradeoff(hide)
    numbers.add_row(f"of {hide:g}: guess right", f"{100 * tradeoff.guess:.2f} %")
    numbers.add_row("area under the ROC curve", f"{tradeoff.auc:.4f}")
    numbers.add_row("total variation", f"{tradeoff.total_variation:.4f}")
    numbers.add_row("D_KL, nats", f"{certificate.divergence(hide):.4g}")
    numbers.add_row("δ at ε = 1", f"{tradeoff.delta(1.0):.2e}")


def _exposed(console: Console, certificate: Certificate, remedy: Augmentation | None) -> None:
    if certificate.exposed_sums:
        pieces = table("piece of the honest graph", "learnt exactly", "ε inside")
        for component in certificate.components[:_SHOWN]:
            alone = len(component.agents) == 1
            inside = "–" if alone else f"{component.epsilon:.4g}"
            pieces.add_row(
                listed(component.agents), f"its {certificate.secret}" if alone else "the sum over the piece", inside
            )
        console.print(pieces)
        if len(certificate.components) > _SHOWN:
            console.print(f"… and {len(certificate.components) - _SHOWN} more pieces; --json lists them.")
    if certificate.without_privacy:
        console.print(
            f"{len(certificate.without_privacy)} agent(s) have at most {certificate.guards} neighbour(s), who "
            f"together know all their masks: {listed(certificate.without_privacy)}.",
            markup=False,
        )
    if certificate.method == "bound":
        console.print("The quick bound says nothing here: search without --quick, or with a longer --deadline.")
    elif remedy is not None:
        links = "; ".join(f"{a} – {b}" for a, b in remedy.links[:_SHOWN])
        rest = f" and {len(remedy.links) - _SHOWN} more" if len(remedy.links) > _SHOWN else ""
        console.print(f"{len(remedy.links)} link(s) would protect them: {links}{rest}.", markup=False)
    elif certificate.guards:
        console.print(f"`tacit augment` with --any {certificate.guards} finds the links that would protect them.")
