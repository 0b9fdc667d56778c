"""`tacit audit`: attack a problem's run with all that a coalition sees, and compare with the certificate."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from tacit.cli.completing import RUNTIMES, one_of
from tacit.cli.graphs import members, refuse_to_overwrite, refuse_unnamed, write_text
from tacit.cli.progress import step_bar
from tacit.cli.reports import Html, refuse_unwritable, write_report
from tacit.cli.tables import table

if TYPE_CHECKING:
    from tacit.auditing import AuditReport, Verdict

_SHOWN = 20  # agents in the table; JSON has all
_WIDE = 160  # columns where no terminal limits them
_STYLES = {"within": "green", "open": "yellow", "beaten": "bold red", "weak": "bold red", "skipped": "dim"}


def audit_command(
    problem: Annotated[Path, typer.Argument(help="A problem file; `tacit init` writes an example.")],
    coalition: Annotated[
        str | None, typer.Option(help="Attack with these agents: names with commas between.")
    ] = None,
    any_: Annotated[
        int | None, typer.Option("--any", help="Attack with the worst coalition of so many agents.")
    ] = None,
    no_masks: Annotated[
        bool, typer.Option("--no-masks", help="Attack the plain algorithm alone: what would have leaked.")
    ] = False,
    games: Annotated[int, typer.Option(min=2000, help="How many distinguishing games to play.")] = 20_000,
    runtime: Annotated[
        str,
        typer.Option(help="stacked, agents or peers: where the run is recorded.", autocompletion=one_of(*RUNTIMES)),
    ] = "stacked",
    seed: Annotated[int | None, typer.Option(help="Make masks and made-up secrets reproducible.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the report to this file, as JSON.")] = None,
    html: Html = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Attack a run with everything that a coalition sees.

    Records the run, attacks it with and without masks, and compares every attack with the certificate. Exit code 1
    if a certificate is beaten, or an attack is suspiciously weak. The report shows private numbers: keep it.
    """
    from tacit.auditing import audit
    from tacit.solving import load_problem

    refuse_unnamed(coalition, any_)
    refuse_to_overwrite(out)
    refuse_unwritable(html)
    task = load_problem(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says what they say
        with step_bar("Auditing", quiet=quiet or json) as on_progress:
            report = audit(
                task,
                members(task.problem.network, coalition),
                any=any_,
                masks=not no_masks,
                games=games,
                runtime=runtime,
                seed=seed,
                on_progress=on_progress,
            )
    if json:
        typer.echo(report.to_json())
    else:
        show(report)
    if out is not None:
        write_text(out, report.to_json() + "\n")
    write_report(report, html)
    if not report.passed:
        raise typer.Exit(1)


def show(report: AuditReport, console: Console | None = None) -> None:
    """Print the headline table, and the verdicts."""
    console = console or Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=max(console.width, _WIDE))
    console.print(report.sentence(), markup=False, soft_wrap=not console.is_terminal)
    for line in report.privacy:
        console.print(line, markup=False, soft_wrap=not console.is_terminal)
    headings = ["agent", "truth", "believed without masks"]
    masked = report.mechanism != "none"
    title = "The gradient of every agent at the start"
    beliefs = table(*headings, *["believed with masks"] * masked, title=title)
    for row in report.table()[:_SHOWN]:
        beliefs.add_row(*row[: 3 + masked])
    console.print(beliefs)
    if len(report.rows) > _SHOWN:
        console.print(f"… and {len(report.rows) - _SHOWN} more agents; --json lists them.")
    _verdicts(console, "Without masks", report.without_masks)
    if masked:
        _verdicts(console, f"With {report.mechanism}", report.with_masks)
    behind = f"; made-up secrets and games: {report.releases} runtime" if masked else ""
    console.print(f"Recorded: {report.runtime} runtime{behind}. {report.seconds:.1f} s.", markup=False)
    if report.level:
        console.print(f"False alarms: at most {1e4 * report.level:.1g} of 10 000 such audits.", markup=False)


def _verdicts(console: Console, title: str, verdicts: list[Verdict]) -> None:
    rows = table("attack", "verdict", "measured", "predicted", "limits", "in words", title=title)
    for verdict in verdicts:
        numbers = ["" if number is None else f"{number:.4g}" for number in (verdict.measured, verdict.predicted)]
        limits = "" if None in (verdict.low, verdict.high) else f"{verdict.low:.4g} … {verdict.high:.4g}"
        rows.add_row(verdict.attack, Text(verdict.status, _STYLES[verdict.status]), *numbers, limits, verdict.says)
    console.print(rows)
