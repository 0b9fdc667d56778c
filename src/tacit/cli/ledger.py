"""`tacit ledger`: what I have already released."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tacit.cli.completing import one_of
from tacit.cli.graphs import Coalition, GraphFile, Json, load, print_json, refuse_to_overwrite, width
from tacit.cli.sheets import names_of
from tacit.cli.tables import table
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.certificates import Exposure, Ledger, Release
    from tacit.differential import AnswerBudget

app = typer.Typer(no_args_is_help=True, help="Keep account of what you have released: new, show, check, add.")

File = Annotated[Path, typer.Option("--ledger", help="The ledger's file.")]
Run = Annotated[str, typer.Argument(help="A name for the run.")]
Sigma = Annotated[float | None, typer.Option(help="Standard deviation of the run's masks.")]
Sums = Annotated[bool, typer.Option("--sums", help="The run added up in secret, with uniform masks and no σ.")]
Version = Annotated[str, typer.Option(help="Of your data: another one whenever they have changed.")]
Changed = Annotated[
    list[str] | None, typer.Option(help="Somebody else who says that its data have changed since its last run.")
]
Accept = Annotated[
    list[str] | None, typer.Option(help="An agent of which others may learn how its data have changed.")
]
Masks = Annotated[str, typer.Option(help="The earlier run whose masks are used again; fresh ones unless given.")]
Basis = Annotated[
    str | None,
    typer.Option(
        help="What Gaussian masks were on: affine parts unless given.",
        autocompletion=one_of("affine", "quadratic"),
    ),
]
Budget = Annotated[float | None, typer.Option(help="For a new ledger: the largest total ε.")]
Guards = Annotated[
    int | None, typer.Option("--any", help="For a new ledger: count ε against coalitions of this size.")
]
Epsilon = Annotated[
    float | None, typer.Option(help="Differential privacy of the answer: ε. For a new ledger, of all together.")
]
Delta = Annotated[float | None, typer.Option(help="With --epsilon: δ.")]
Owner = Annotated[str | None, typer.Option("--me", help="For a new ledger: whose it is.")]
Unit = Annotated[
    str,
    typer.Option(
        help="For a new ledger, with --epsilon: what is protected, a record or a label.",
        autocompletion=one_of("record", "label"),
    ),
]
_HERE = Path("ledger.sqlite")
_DATE = "%Y-%m-%d %H:%M"


@app.command("new")
def new(
    ledger: File = _HERE, me: Owner = None, budget: Budget = None, any_: Guards = None,
    epsilon: Epsilon = None, delta: Delta = None, unit: Unit = "record",
) -> None:  # fmt: skip
    """Start a ledger; whose it is, its budgets and the size of coalitions stay as they are for good."""
    from tacit.certificates import Ledger

    refuse_to_overwrite(ledger)
    with Ledger(ledger, owner=me, budget=budget, any=any_, answers=_answers(epsilon, delta, unit)) as book:
        whose = "" if book.owner is None else f" of {book.owner}"
        limit = "no budget" if book.budget is None else f"a budget of ε = {book.budget:g}"
        typer.echo(f"Wrote {ledger}, the ledger{whose}: {limit} against any {book.guards}.")
        if (answers := book.answers) is not None:
            typer.echo(
                f"All noisy answers together may tell ({answers.epsilon:g}, {answers.delta:g}) of a "
                f"{answers.unit}: μ = {answers.mu:.4g}."
            )


def _answers(epsilon: float | None, delta: float | None, unit: str) -> AnswerBudget | None:
    from tacit.differential import AnswerBudget

    if epsilon is None and delta is None:
        return None
    if epsilon is None or delta is None:
        raise InputError("--epsilon and --delta go together: what all noisy answers may tell.")
    if unit not in ("record", "label"):
        raise InputError(f"--unit {unit}: must be record or label.")
    return AnswerBudget(epsilon, delta, unit="label" if unit == "label" else "record")


@app.command("show")
def show(ledger: File = _HERE, coalition: Coalition = None, json: Json = False) -> None:
    """List the runs, what they cost, and who is exposed by all of them together."""
    from tacit.certificates import Ledger

    with Ledger.existing(ledger) as book:
        against = book.named(names_of(coalition))
        if json:
            print_json(book.to_dict(against))
        else:
            _print_book(book, book.exposed(against))


@app.command("check")
def check(
    run: Run,
    graph: GraphFile,
    sigma: Sigma = None,
    sums: Sums = False,
    cost_version: Version = "1",
    changed: Changed = None,
    masks: Masks = "",
    basis: Basis = None,
    ledger: File = _HERE,
    accept_change: Accept = None,
    json: Json = False,
) -> None:
    """Judge a run before it happens; exit code 1 if it must not. Nothing is recorded."""
    from tacit.certificates import Ledger

    with Ledger.existing(ledger) as book:
        release = _release(run, graph, sigma, sums, basis, masks, cost_version, changed)
        review = book.check(release, accept_changes=accept_change or ())
    if json:
        print_json(review.to_dict())
    else:
        lines = [f"Accepted: ε = {review.epsilon:.3g} on top of {review.spent:.3g}."] * review.accepted
        lines += [f"Refused: {reason}." for reason in review.reasons]
        typer.echo("\n".join([*lines, *(f"Caution: {exposure}." for exposure in review.joint)]))
    if not review.accepted:
        raise typer.Exit(1)


@app.command("add")
def add(
    run: Run,
    graph: GraphFile,
    sigma: Sigma = None,
    sums: Sums = False,
    cost_version: Version = "1",
    changed: Changed = None,
    masks: Masks = "",
    basis: Basis = None,
    ledger: File = _HERE,
    accept_change: Accept = None,
    budget: Budget = None,
    any_: Guards = None,
    me: Owner = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="It has happened: count it, whatever it exposes.")
    ] = False,
    json: Json = False,
) -> None:
    """Record a run; refused with exit code 1 if it exceeds the budget or exposes somebody."""
    from tacit.certificates import Ledger
    from tacit.certificates.finite import finite_or_none

    release = _release(run, graph, sigma, sums, basis, masks, cost_version, changed)
    with Ledger(ledger, owner=me, budget=budget, any=any_) as book:
        entry = book.add(release, accept_changes=accept_change or (), anyway=anyway)
        spent = book.spent(cost_version)
    if json:
        row = entry.to_dict()
        print_json({**{name: row[name] for name in ("number", "run", "epsilon")}, "spent": finite_or_none(spent)})
    else:
        typer.echo(
            f"Recorded as number {entry.number}: ε = {entry.epsilon:.3g}, {spent:.3g} in all for these costs."
        )


def _release(
    run: str, graph: Path, sigma: float | None, sums: bool, basis: str | None, masks: str, version: str,
    changed: list[str] | None,
) -> Release:  # fmt: skip
    from tacit.certificates import Release

    if sums and basis is not None:
        raise InputError(f"--basis {basis} is about Gaussian masks, and --sums says there were none: leave it out.")
    return Release.of(
        run, load(graph).graph, sigma=width(sigma, sums=sums), basis="sums" if sums else basis or "affine",
        masks=masks, cost_version=version, changed=changed or (),
    )  # fmt: skip


def _print_book(book: Ledger, exposed: tuple[Exposure, ...]) -> None:
    entries = book.entries()
    noisy = any(e.release.answer is not None for e in entries)
    headings = ("number", "run", "recorded", "agents", "σ", "basis", "costs", "ε", *["μ of the answer"] * noisy)
    runs = table(*headings, whole=("recorded", "ε"))
    for e in entries:
        release, when = e.release, datetime.datetime.fromtimestamp(e.recorded).strftime(_DATE)
        sigmas = ", ".join(f"{s:g}" for s in release.sigmas) or "uniform"
        row = (str(e.number), release.run, when, str(len(release.participants)), sigmas)
        answer = "exact" if release.answer is None else f"{release.answer.mu:.4g}"
        runs.add_row(*row, release.basis, release.cost_version, f"{e.epsilon:.3g}", *[answer] * noisy)
    console = Console(highlight=False, markup=False)
    console.print(runs)
    for version in dict.fromkeys(e.release.cost_version for e in entries):
        limit = "" if book.budget is None else f" of {book.budget:.3g}"
        console.print(f"Costs {version}: ε = {book.spent(version):.3g}{limit} against any {book.guards}.")
        if (spent := book.answered(version)) is not None:
            console.print(
                f"Answers about costs {version}: μ = {spent.mu_spent:.4g} of {spent.mu:.4g} is spent, and "
                f"{spent.mu_left:.4g} is left; all of it is ({spent.epsilon:g}, {spent.delta:g}) for every "
                f"{spent.unit}."
            )
    for exposure in exposed:
        console.print(str(exposure), style="red", markup=False)
