"""`tacit federation new`: the manifest from the members' cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tacit.cli import plan_options as options
from tacit.cli.defaults import MAX_ROUNDS, PATIENCE, SILENCE, TOLERANCE
from tacit.cli.graphs import refuse_to_overwrite
from tacit.cli.sheets import Columns, Decimal, Drop, Encoding, Separator, announced_sheet, chosen, names_of
from tacit.errors import InputError
from tacit.spelling import did_you_mean

if TYPE_CHECKING:
    from tacit.federation.fitting import Fitting
    from tacit.federation.manifest import Manifest
    from tacit.federation.sections import Repeat
    from tacit.tables import Dictionary, Reading


def new(
    file: options.NewManifest, cards: options.Cards = None, unknowns: options.Unknowns = 0,
    links: options.Degree = 4,
    level: options.ProtectionLevel = "sums", sigma: options.MaskSigma = None, any_: options.Colluding = 1,
    guess: options.RightGuesses = None, hide: options.Difference = None, bound: options.PublicBound = None,
    words: options.Words = None, pairing: options.Pairing = "both",
    epsilon: options.Epsilon = None, clip: options.Clip = None, labels: options.LabelLimit = None,
    sums: options.NoisySums = None,
    like: options.Like = None, columns: Columns = None, drop: Drop = None, missing: options.Gaps = "refuse",
    separator: Separator = None, decimal: Decimal = None, encoding: Encoding = None,
    cost: options.CostFamily = None, target: options.Target = None, intercept: options.Intercept = False,
    l1: options.L1Penalty = 0.0, l2: options.L2Penalty = 0.0, delta: options.Delta = None,
    records: options.FewestRecords = None, count_columns: options.CountColumns = False,
    algorithm: options.AlgorithmName = "auto", setting: options.Settings = None,
    tolerance: options.Tolerance = TOLERANCE, max_rounds: options.MaxRounds = MAX_ROUNDS,
    patience: options.Patience = PATIENCE, silence: options.Silence = SILENCE, dropout: options.Dropout = "wait",
    title: options.Title = "a federation", run: options.RunNumber = 1, relay: options.RelayPlace = "",
    every: options.Every = None, runs: options.Runs = 1, changes: options.Changes = "refuse",
) -> None:  # fmt: skip
    """Write the manifest from the members' cards: links, masks and algorithm. It holds nothing secret."""
    from tacit.federation.drawing_up import Plan, draw_up
    from tacit.federation.fitting import Fitting
    from tacit.federation.gathering import read_cards
    from tacit.federation.hiding import Hiding
    from tacit.federation.promising import answer_section
    from tacit.federation.sections import Stop
    from tacit.tables import Reading

    refuse_to_overwrite(file)
    answer = answer_section(epsilon, delta, clip=clip, labels=labels, sums=sums)
    delta = delta if answer is None else None
    fitting = Fitting(cost=cost, target=target, intercept=intercept, l1=l1, l2=l2, delta=delta, records=records)
    if like is None and (columns or drop or missing != "refuse"):
        raise InputError("--columns, --drop and --missing need --like, the file that they are about.")
    reading = Reading(separator, decimal, encoding)
    hiding = Hiding(
        level=level, sigma=sigma, any=any_, guess=guess, hide=hide, bound=bound, words=words, pairing=pairing,
        answer=answer,
    )  # fmt: skip
    plan = Plan(
        unknowns=unknowns,
        links=links,
        hiding=hiding,
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
        repeat=_repeated(every, runs, changes),
    )
    manifest = draw_up(read_cards(cards or sorted(Path().glob("*.card"))), plan)
    file.write_bytes(manifest.to_toml())
    _say_what_is_next(file, manifest)


def _say_what_is_next(file: Path, manifest: Manifest) -> None:
    from tacit.federation.identity import spelled

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


def _repeated(every: str | None, runs: int, changes: str) -> Repeat:
    """Return how often the run is repeated."""
    from tacit.federation.durations import seconds_of
    from tacit.federation.sections import Repeat

    if changes not in ("refuse", "accept"):
        raise InputError(
            f"--changes {changes}: must be refuse or accept.{did_you_mean(changes, ('refuse', 'accept'))}"
        )
    seconds = 0.0 if every is None else seconds_of(every, field="every")
    return Repeat(runs=runs, every=seconds, changes="accept" if changes == "accept" else "refuse")


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
