"""`tacit federation new`: the manifest from the members' cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.completing import ALGORITHMS, DROPOUTS, FAMILIES, LEVELS, PAIRINGS, one_of
from tacit.cli.defaults import DELTA, MAX_ROUNDS, PATIENCE, SILENCE, TOLERANCE
from tacit.cli.graphs import refuse_to_overwrite
from tacit.cli.sheets import Columns, Decimal, Drop, Encoding, Separator, announced_sheet, chosen, names_of
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.federation.fitting import Fitting
    from tacit.tables import Dictionary, Reading


def new(
    file: Annotated[Path, typer.Argument(help="The manifest to write.")],
    cards: Annotated[
        list[Path] | None, typer.Argument(help="The members' cards; all *.card here unless given.")
    ] = None,
    unknowns: Annotated[int, typer.Option(help="How many unknowns the costs have, an intercept included.")] = 0,
    links: Annotated[int, typer.Option(help="How many neighbours each member has.")] = 4,
    level: Annotated[
        str, typer.Option(help="sums, affine, quadratic or none.", autocompletion=one_of(*LEVELS))
    ] = "sums",
    sigma: Annotated[float | None, typer.Option(help="σ of affine or quadratic masks.")] = None,
    any_: Annotated[
        int, typer.Option("--any", help="How many members may collude. Links, σ, checks and statements follow it.")
    ] = 1,
    guess: Annotated[
        float | None, typer.Option(help="Choose σ so that they guess right at most so often …")
    ] = None,
    hide: Annotated[
        float | None,
        typer.Option(help="… between worlds that differ by so much. Statements are about it, too."),
    ] = None,
    bound: Annotated[
        float | None, typer.Option(help="Public limit on every number that is masked; chosen unless given.")
    ] = None,
    words: Annotated[
        int | None, typer.Option(help="Of secret sums: 64-bit words a number, 1 or 2; chosen unless given.")
    ] = None,
    pairing: Annotated[
        str,
        typer.Option(
            help="How the ends of a link come to share its masks. both: each draws and sends half. one-sided: one "
            "draws and sends all. seeds: they agree on keys and send none; all guarantees are then computational.",
            autocompletion=one_of(*PAIRINGS),
        ),
    ] = "both",
    like: Annotated[
        Path | None, typer.Option(help="Draft the data dictionary from this CSV file: names, types, levels.")
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    missing: Annotated[
        str, typer.Option(help="With --like. refuse: no record may have gaps. drop: those that have are left out.")
    ] = "refuse",
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    cost: Annotated[
        str | None,
        typer.Option(help="What is fitted: ridge, logistic, poisson, lasso, …", autocompletion=one_of(*FAMILIES)),
    ] = None,
    target: Annotated[str | None, typer.Option(help="The label's column in the members' files.")] = None,
    intercept: Annotated[bool, typer.Option("--intercept", help="Fit an intercept, the last unknown.")] = False,
    l1: Annotated[float, typer.Option(help="Total L1 penalty.")] = 0.0,
    l2: Annotated[float, typer.Option(help="Total L2 penalty.")] = 0.0,
    delta: Annotated[
        float | None, typer.Option(help=f"Of huber: up to where residuals are squared; {DELTA} unless given.")
    ] = None,
    records: Annotated[
        int | None,
        typer.Option(min=1, help="Every member holds at least so many records; what the answer tells is counted."),
    ] = None,
    count_columns: Annotated[
        bool,
        typer.Option(
            "--count-columns",
            help="Count in secret, before the fit, how many members have each column; refuse those of one or two.",
        ),
    ] = False,
    algorithm: Annotated[
        str, typer.Option(help="auto, or a name.", autocompletion=one_of("auto", *ALGORITHMS))
    ] = "auto",
    setting: Annotated[
        list[str] | None, typer.Option(help="A setting of the algorithm, such as step_size=0.01.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Stop at this relative error.")] = TOLERANCE,
    max_rounds: Annotated[int, typer.Option(help="Stop after so many rounds.")] = MAX_ROUNDS,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a neighbour before giving up; a day unless given.")
    ] = PATIENCE,
    silence: Annotated[
        float, typer.Option("--idle", help="Seconds of silence after which a link is dialled again.")
    ] = SILENCE,
    dropout: Annotated[
        str,
        typer.Option(
            help="If somebody stays away for good. wait: all wait or give up. exclude: the others may go on "
            "without it, and that can expose it (`tacit federation without`).",
            autocompletion=one_of(*DROPOUTS),
        ),
    ] = "wait",
    title: Annotated[str, typer.Option(help="A name for people.")] = "a federation",
    run: Annotated[int, typer.Option(help="The number of this run with these members.")] = 1,
    relay: Annotated[
        str, typer.Option(help="Where neighbours meet who both only dial out: host:port of a `tacit relay`.")
    ] = "",
) -> None:
    """Write the manifest from the members' cards: links, masks and algorithm. It holds nothing secret."""
    from tacit.federation.cards import read_cards
    from tacit.federation.drawing_up import Plan, draw_up
    from tacit.federation.fitting import Fitting
    from tacit.federation.hiding import Hiding
    from tacit.federation.identity import spelled
    from tacit.federation.sections import Stop
    from tacit.tables import Reading

    refuse_to_overwrite(file)
    fitting = Fitting(cost=cost, target=target, intercept=intercept, l1=l1, l2=l2, delta=delta, records=records)
    if like is None and (columns or drop or missing != "refuse"):
        raise InputError("--columns, --drop and --missing need --like, the file that they are about.")
    reading = Reading(separator, decimal, encoding)
    plan = Plan(
        unknowns=unknowns,
        links=links,
        hiding=Hiding(
            level=level, sigma=sigma, any=any_, guess=guess, hide=hide, bound=bound, words=words, pairing=pairing
        ),
        fitting=fitting,
        data=None if like is None else _meaning(like, fitting, reading, columns, drop, missing),
        algorithm=algorithm,
        settings=_numbers(setting or []),
        count_columns=count_columns,
        stop=Stop(tolerance=tolerance, max_rounds=max_rounds, patience=patience, idle=silence),
        dropout=dropout,
        title=title,
        run=run,
        relay=relay,
    )
    manifest = draw_up(read_cards(cards or sorted(Path().glob("*.card"))), plan)
    file.write_bytes(manifest.to_toml())
    members, linked = len(manifest.members), len(manifest.links)
    typer.echo(f"Wrote {file}: {members} members, {linked} links. Send it to all of them.")
    typer.echo("Session:")
    for line in spelled(manifest.session()):
        typer.echo(f"  {line}")
    typer.echo(f"Next: tacit federation check {file}")


def _meaning(
    like: Path, fitting: Fitting, reading: Reading, columns: str | None, drop: str | None, missing: str
) -> Dictionary:
    """Return the dictionary that a file suggests; say what to look at before it is sent."""
    from tacit.federation.fitting import dictionary_like

    model = fitting.model()
    if model is None:
        raise InputError("--like needs --cost, which says what is fitted.")
    sheet = chosen(announced_sheet(like, reading), model.target, names_of(columns), names_of(drop))
    suggested = dictionary_like(sheet, model, missing=missing)
    for note in suggested.notes:
        typer.echo(f"tacit: {note}", err=True)
    return suggested.dictionary


def _numbers(settings: list[str]) -> dict[str, float]:
    """Return settings of an algorithm, each written as a name and a number."""
    numbers = {}
    for text in settings:
        name, _, value = text.partition("=")
        try:
            numbers[name] = float(value)
        except ValueError as error:
            raise InputError(f"--setting {text}: must be a name and a number, such as step_size=0.01.") from error
    return numbers
