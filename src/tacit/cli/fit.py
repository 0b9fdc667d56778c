"""`tacit fit`: one model from several parties' files, each file one party."""

from __future__ import annotations

import json as jsonlib
import math
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.sheets import Columns, Decimal, Drop, Encoding, Separator, names_of
from tacit.errors import InputError
from tacit.tables import Reading

if TYPE_CHECKING:
    from tacit.learning.model import PrivateModel

_KINDS = {
    "linear": "PrivateLinearRegression", "ridge": "PrivateRidge", "lasso": "PrivateLasso",
    "elastic-net": "PrivateElasticNet", "logistic": "PrivateLogisticRegression",
    "poisson": "PrivatePoissonRegressor", "huber": "PrivateHuberRegressor",
}  # fmt: skip
MODELS = tuple(_KINDS)
_TAKES = {
    "alpha": ("ridge", "lasso", "elastic-net", "poisson", "huber"),
    "C": ("logistic",),
    "l1_ratio": ("elastic-net", "logistic"),
    "epsilon": ("huber",),
    "class_weight": ("logistic",),
}


def fit_command(
    files: Annotated[list[Path], typer.Argument(help="One CSV file per party, all with the same columns.")],
    target: Annotated[str, typer.Option(help="The column to be explained.")],
    model: Annotated[str, typer.Option(help=f"{', '.join(MODELS[:-1])} or {MODELS[-1]}.")] = "linear",
    alpha: Annotated[
        float | None,
        typer.Option(help="Weight of the penalty; scikit-learn's default, and for poisson 0, unless given."),
    ] = None,
    C: Annotated[
        float | None, typer.Option("--C", help="Of logistic: inverse weight of the penalty; none unless given.")
    ] = None,
    l1_ratio: Annotated[float | None, typer.Option(help="Share of the penalty that is L1.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Of huber: from how many deviations on residuals count less.")
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    missing: Annotated[
        str, typer.Option(help="refuse, or drop: leave records with gaps out, and add up how many these are.")
    ] = "refuse",
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    weight: Annotated[str | None, typer.Option(help="The column with the records' weights.")] = None,
    class_weight: Annotated[
        str | None, typer.Option(help="Of logistic. balanced: rare classes count as much as frequent ones.")
    ] = None,
    offset: Annotated[
        str | None,
        typer.Option(help="The column that is added to the linear predictor, with a coefficient of one."),
    ] = None,
    exposure: Annotated[
        str | None, typer.Option(help="Of poisson: the column with the exposures, such as days at risk.")
    ] = None,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Fit no intercept.")] = False,
    network: Annotated[str, typer.Option(help="auto, complete or 4-regular: who talks to whom.")] = "auto",
    any_: Annotated[int, typer.Option("--any", help="How many parties may collude.")] = 1,
    no_masks: Annotated[bool, typer.Option("--no-masks", help="Hide nothing: for comparison.")] = False,
    runtime: Annotated[
        str,
        typer.Option(help="stacked (all parties as arrays), agents (one thread each) or peers (one process each)."),
    ] = "stacked",
    ledger: Annotated[Path | None, typer.Option(help="Ask this ledger first, and enter the run in it.")] = None,
    accept_change: Annotated[
        list[str] | None,
        typer.Option(
            help="With --ledger: a party of which others may learn what has changed since an earlier fit."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit one model on several parties' records, without anybody seeing another's.

    Prints the coefficients with standard errors from the summed Hessian, what was added up, and what any of the
    parties could have learnt. Exit code 1 if the fit did not converge.
    """
    from tacit.learning.files import Choice, read_files
    from tacit.solving.solve import NotPrivateWarning

    settings = {"alpha": alpha, "C": C, "l1_ratio": l1_ratio, "epsilon": epsilon, "class_weight": class_weight}
    if exposure is not None and model != "poisson":
        raise InputError(f"--exposure means nothing to a {model} model; leave it out.")
    estimator = _estimator(
        model, {name: value for name, value in settings.items() if value is not None},
        fit_intercept=not no_intercept, network=network, any=any_, runtime=runtime, ledger=ledger,
        accept_changes=tuple(accept_change or ()),
        privacy=None if no_masks else "sums",
    )  # fmt: skip
    read = read_files(
        files, target, words=model == "logistic", reading=Reading(separator, decimal, encoding),
        choice=Choice(names_of(columns), names_of(drop), missing, weight, offset, exposure),
    )  # fmt: skip
    for note in read.notes:
        typer.echo(f"tacit: {note}", err=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit_named(
            read.X, read.y, read.groups, columns=read.columns, target=target, dropped=read.dropped,
            sample_weight=read.weight, offset=read.offset,
        )  # fmt: skip
    others = [each for each in caught if not issubclass(each.category, NotPrivateWarning)]  # those: with privacy
    cautions = list(dict.fromkeys(str(caution.message) for caution in others))
    if json:
        found = {**estimator.summary_.to_dict(), "told": estimator.ledger_.to_dict()["sums"]}
        found |= estimator.answer_.protection(any=estimator.any)
        found |= {"status": estimator.answer_.status, "privacy": _privacy(estimator), "warnings": cautions}
        certificate = estimator.certificate_
        found["certificate"] = None if certificate is None else certificate.to_dict()
        sys.stdout.write(jsonlib.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        _show(estimator, cautions)
    if not estimator.answer_.converged:
        raise typer.Exit(1)


def _estimator(model: str, settings: dict[str, Any], **more: Any) -> PrivateModel:
    if model not in MODELS:
        raise InputError(f"no model is called {model!r}; choose one of {', '.join(MODELS)}.")
    for name in settings:
        if model not in _TAKES[name]:
            raise InputError(f"--{name.replace('_', '-')} means nothing to a {model} model; leave it out.")
    try:
        kind = getattr(import_module("tacit.learning"), _KINDS[model])
    except ImportError as error:  # scikit-learn is an extra
        raise InputError(str(error)) from error
    plain: dict[str, dict[str, float]] = {"logistic": {"C": math.inf}, "poisson": {"alpha": 0.0}}
    estimator: PrivateModel = kind(**{**plain.get(model, {}), **settings, **more})
    return estimator


def _show(estimator: PrivateModel, cautions: list[str]) -> None:
    record = estimator.answer_.record
    for line in estimator.summary_.lines():
        typer.echo(line)
    typer.echo(f"status:       {record.status}. {record.sentence}")
    for entry in estimator.ledger_.sums:
        typer.echo(f"told:         {entry}")
    for sentence in _privacy(estimator):
        typer.echo(f"privacy:      {sentence}")
    for sentence in cautions:
        typer.echo(f"warning:      {sentence}")


def _privacy(estimator: PrivateModel) -> list[str]:
    """Return the lines of the answer, after what hid it."""
    phase1 = estimator.answer_.record.phase1
    return [*([] if phase1 is None else [str(phase1)]), *estimator.answer_.privacy(any=estimator.any)]
