"""`tacit ledger`: what I have already released."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tacit.certificates import Exposure, Ledger, Release, Review
from tacit.cli.graphs import Coalition, GraphFile, Json, finite, load, print_json, refuse_to_overwrite, width
from tacit.errors import FileError, GraphError

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
Basis = Annotated[str, typer.Option(help="What was masked.")]
Budget = Annotated[float | None, typer.Option(help="For a new ledger: the largest total ε.")]
Guards = Annotated[
    int | None, typer.Option("--any", help="For a new ledger: count ε against coalitions of this size.")
]
Owner = Annotated[str | None, typer.Option("--me", help="For a new ledger: whose it is.")]
_HERE = Path("ledger.sqlite")


@app.command("new")
def new(ledger: File = _HERE, me: Owner = None, budget: Budget = None, any_: Guards = None) -> None:
    """Start a ledger; whose it is, its budget and the size of coalitions stay as they are for good."""
    refuse_to_overwrite(ledger)
    with Ledger(ledger, owner=me, budget=budget, any=any_) as book:
        whose = "" if book.owner is None else f" of {book.owner}"
        limit = "no budget" if book.budget is None else f"a budget of ε = {book.budget:g}"
        typer.echo(f"Wrote {ledger}, the ledger{whose}: {limit} against any {book.guards}.")


@app.command("show")
def show(ledger: File = _HERE, coalition: Coalition = None, json: Json = False) -> None:
    """List the runs, what they cost, and who is exposed by all of them together."""
    if not ledger.exists():
        raise FileError(
            f"{ledger}: there is no ledger; `tacit ledger add` starts one, and so does `tacit ledger new`."
        )
    with Ledger(ledger) as book:
        entries = book.entries()
        against = tuple(name.strip() for name in (coalition or "").split(",") if name.strip())
        known = {agent for e in entries for agent in e.release.participants}
        strange = [name for name in against if name not in known]
        if strange:
            raise GraphError(f"no agent is called {strange[0]} in any run of this ledger.")
        exposed = book.exposed(against)
        if json:
            print_json(
                {
                    "owner": book.owner,
                    "budget": book.budget,
                    "any": book.guards,
                    "runs": [
                        {
                            "number": e.number,
                            "run": e.release.run,
                            "recorded": e.recorded,
                            "agents": len(e.release.participants),
                            "sigma": list(e.release.sigmas),
                            "basis": e.release.basis,
                            "cost_version": e.release.cost_version,
                            "epsilon": finite(e.epsilon),
                        }
                        for e in entries
                    ],
                    "exposed": [str(e) for e in exposed],
                    "exposures": [_as_data(e) for e in exposed],
                }
            )
            return
        table = Table("number", "run", "recorded", "agents", "σ", "basis", "costs", "ε")
        for e in entries:
            when = datetime.datetime.fromtimestamp(e.recorded).strftime("%Y-%m-%d %H:%M")
            sigmas = ", ".join(f"{s:g}" for s in e.release.sigmas) or "uniform"
            agents = str(len(e.release.participants))
            release = e.release
            row = (str(e.number), release.run, when, agents, sigmas, release.basis, release.cost_version)
            table.add_row(*row, f"{e.epsilon:.3g}")
        console = Console(highlight=False)
        console.print(table)
        for version in dict.fromkeys(e.release.cost_version for e in entries):
            limit = "" if book.budget is None else f" of {book.budget:.3g}"
            console.print(f"Costs {version}: ε = {book.spent(version):.3g}{limit} against any {book.guards}.")
        for exposure in exposed:
            console.print(str(exposure), style="red", markup=False)


@app.command("check")
def check(
    run: Run,
    graph: GraphFile,
    sigma: Sigma = None,
    sums: Sums = False,
    cost_version: Version = "1",
    changed: Changed = None,
    masks: Masks = "",
    basis: Basis = "affine",
    ledger: File = _HERE,
    accept_change: Accept = None,
    json: Json = False,
) -> None:
    """Judge a run before it happens; exit code 1 if it must not. Nothing is recorded."""
    if not ledger.exists():
        raise FileError(
            f"{ledger}: there is no ledger; `tacit ledger add` starts one, and so does `tacit ledger new`."
        )
    with Ledger(ledger) as book:
        release = _release(
            run, graph, width(sigma, sums=sums), cost_version, changed, masks, "sums" if sums else basis
        )
        review = book.check(release, accept_changes=accept_change or ())
    _print_review(review, json=json)
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
    basis: Basis = "affine",
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
    release = _release(run, graph, width(sigma, sums=sums), cost_version, changed, masks, "sums" if sums else basis)
    with Ledger(ledger, owner=me, budget=budget, any=any_) as book:
        entry = book.add(release, accept_changes=accept_change or (), anyway=anyway)
        spent = book.spent(cost_version)
    if json:
        print_json({"number": entry.number, "run": run, "epsilon": finite(entry.epsilon), "spent": finite(spent)})
    else:
        typer.echo(
            f"Recorded as number {entry.number}: ε = {entry.epsilon:.3g}, {spent:.3g} in all for these costs."
        )


def _release(
    run: str, graph: Path, sigma: float, version: str, changed: list[str] | None, masks: str, basis: str
) -> Release:
    network = load(graph)
    names = [str(agent) for agent in network.agents]
    stranger = next((name for name in changed or () if name not in names), None)
    if stranger is not None:
        raise GraphError(f"--changed {stranger}: no agent of {graph} is called that.")
    return Release.of(
        run, network.graph, sigma=sigma, cost_version=version, changed=changed or (), masks=masks, basis=basis
    )


def _as_data(exposure: Exposure) -> dict[str, Any]:
    return {name: getattr(exposure, name) for name in ("kind", "agents", "coalition", "between", "runs", "parts")}


def _print_review(review: Review, *, json: bool) -> None:
    if json:
        print_json(
            {
                "accepted": review.accepted,
                "epsilon": finite(review.epsilon),
                "spent": finite(review.spent),
                "budget": review.budget,
                "reasons": list(review.reasons),
                "exposures": [_as_data(e) for e in (*review.exposed, *review.told)],
            }
        )
        return
    if review.accepted:
        typer.echo(f"Accepted: ε = {review.epsilon:.3g} on top of {review.spent:.3g}.")
    for reason in review.reasons:
        typer.echo(f"Refused: {reason}.")
    for exposure in review.told:
        typer.echo(f"Caution: {exposure}.")
