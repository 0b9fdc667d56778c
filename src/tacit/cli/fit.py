"""`tacit fit`: one model from several parties' files, each file one party."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.completing import RUNTIMES, one_of
from tacit.cli.graphs import Json, print_json
from tacit.cli.reports import Html, refuse_unwritable, write_report
from tacit.cli.sheets import Columns, Decimal, Drop, Encoding, Separator, names_of
from tacit.learning.models import MODELS, classes_of, model_of
from tacit.listing import conjoined

if TYPE_CHECKING:
    from tacit.learning.outcome import FitReport

_NAMES = tuple(MODELS)


PartyFiles = Annotated[
    list[str],
    typer.Argument(
        help="The records of each party, all with the same columns: a CSV file; or, read in batches, a Parquet or "
        "Feather file, a folder of them, or a table or query of a database, as duckdb:FILE::TABLE.",
    ),
]
Explained = Annotated[str, typer.Option("--target", help="The column to be explained.")]
ModelName = Annotated[str, typer.Option(help=f"{conjoined(_NAMES, last=' or ')}.", autocompletion=one_of(*_NAMES))]
Alpha = Annotated[
    float | None,
    typer.Option(help="Weight of the penalty; scikit-learn's default, and for poisson 0, unless given."),
]
InversePenalty = Annotated[
    float | None, typer.Option("--C", help="Of logistic: inverse weight of the penalty; none unless given.")
]
L1Ratio = Annotated[float | None, typer.Option(help="Share of the penalty that is L1.")]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="With --delta and --clip, of ridge and logistic: make the answer (ε, δ)-differentially private. Of "
        "huber: from how many deviations on residuals count less."
    ),
]
Delta = Annotated[float | None, typer.Option(help="With --epsilon: δ, far below one over all records.")]
Clip = Annotated[
    float | None, typer.Option(help="With --epsilon: rows are shortened to this length, with their 1 included.")
]
LabelLimit = Annotated[
    float | None, typer.Option("--labels", help="With --epsilon, of ridge: labels are cut off at ±this.")
]
Classes = Annotated[
    str | None, typer.Option(help="With --epsilon, of logistic: the two classes, with a comma; declared, not read.")
]
PublicRecords = Annotated[
    int | None, typer.Option("--records", help="With --epsilon: the number of records, if it is public.")
]
Missing = Annotated[
    str,
    typer.Option(
        help="refuse, or drop: leave records with gaps out, and add up how many these are.",
        autocompletion=one_of("refuse", "drop"),
    ),
]
Weight = Annotated[str | None, typer.Option(help="The column with the records' weights.")]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="Of logistic. balanced: rare classes count as much as frequent ones.",
        autocompletion=one_of("balanced"),
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(help="The column that is added to the linear predictor, with a coefficient of one."),
]
Exposed = Annotated[
    str | None,
    typer.Option("--exposure", help="Of poisson: the column with the exposures, such as days at risk."),
]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Fit no intercept.")]
PartyNetwork = Annotated[
    str,
    typer.Option(
        "--network", help="auto, complete or 4-regular: who talks to whom.",
        autocompletion=one_of("auto", "complete"),
    ),
]  # fmt: skip
Colluding = Annotated[int, typer.Option("--any", help="How many parties may collude.")]
NoMasks = Annotated[bool, typer.Option("--no-masks", help="Hide nothing: for comparison.")]
PartyRuntime = Annotated[
    str,
    typer.Option(
        "--runtime",
        help="stacked (all parties as arrays), agents (one thread each) or peers (one process each).",
        autocompletion=one_of(*RUNTIMES),
    ),
]
SharedLedger = Annotated[
    Path | None, typer.Option("--ledger", help="Ask this ledger first, and enter the run in it.")
]
AcceptChanges = Annotated[
    list[str] | None,
    typer.Option(
        "--accept-change",
        help="With --ledger: a party of which others may learn what has changed since an earlier fit.",
    ),
]


def fit_command(
    files: PartyFiles,
    target: Explained,
    model: ModelName = "linear",
    alpha: Alpha = None,
    C: InversePenalty = None,
    l1_ratio: L1Ratio = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    clip: Clip = None,
    labels: LabelLimit = None,
    classes: Classes = None,
    records: PublicRecords = None,
    columns: Columns = None,
    drop: Drop = None,
    missing: Missing = "refuse",
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    weight: Weight = None,
    class_weight: ClassWeight = None,
    offset: Offset = None,
    exposure: Exposed = None,
    no_intercept: NoIntercept = False,
    network: PartyNetwork = "auto",
    any_: Colluding = 1,
    no_masks: NoMasks = False,
    runtime: PartyRuntime = "stacked",
    ledger: SharedLedger = None,
    accept_change: AcceptChanges = None,
    json: Json = False,
    html: Html = None,
) -> None:
    """Fit one model on several parties' records, without anybody seeing another's.

    Prints the coefficients with standard errors from the summed Hessian, what was added up, and what any of the
    parties could have learnt. Exit code 1 if the fit did not converge.
    """
    refuse_unwritable(html)
    estimator = model_of(
        model,
        {"alpha": alpha, "C": C, "l1_ratio": l1_ratio, "class_weight": class_weight, "exposure": exposure,
         "epsilon": epsilon, "delta": delta, "clip": clip, "labels": labels, "records": records,
         "classes": classes_of(names_of(classes))},
        fit_intercept=not no_intercept, network=network, any=any_, runtime=runtime, ledger=ledger,
        accept_changes=tuple(accept_change or ()),
        privacy=None if no_masks else "sums",
    )  # fmt: skip
    from tacit.learning.files import UsedColumns
    from tacit.learning.outcome import fit_sources
    from tacit.tables import Reading

    outcome = fit_sources(
        estimator, files, target, words=MODELS[model].takes_words, reading=Reading(separator, decimal, encoding),
        selection=UsedColumns(names_of(columns), names_of(drop), missing, weight, offset, exposure),
        unquestioned=epsilon is not None and model != "huber",
    )  # fmt: skip
    for note in outcome.notes:
        typer.echo(f"tacit: {note}", err=True)
    if json:
        print_json(outcome.to_dict())
    else:
        _show(outcome)
    write_report(outcome, html)
    if not estimator.answer_.converged:
        raise typer.Exit(1)


def _show(outcome: FitReport) -> None:
    record = outcome.model.answer_.record
    for line in outcome.model.summary_.lines():
        typer.echo(line)
    typer.echo(f"status:       {record.status}. {record.sentence}")
    for entry in outcome.model.ledger_.sums:
        typer.echo(f"told:         {entry}")
    for sentence in outcome.privacy:
        typer.echo(f"privacy:      {sentence}")
    for sentence in outcome.cautions:
        typer.echo(f"warning:      {sentence}")
