"""What `tacit agent` shows: one run, or several one after the other, and the account at the end."""

from __future__ import annotations

import json as jsonlib
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from tacit.cli.diary import diary
from tacit.cli.lines import logged
from tacit.cli.reports import write_report
from tacit.federation.repeating import Series, SeriesAccount, Turn, repeat, to_the_end
from tacit.learning.reporting import MemberReport, member_report
from tacit.runtimes.peers.diary import Diary, log
from tacit.runtimes.peers.monitoring import serve_monitoring
from tacit.solving.record import vector

if TYPE_CHECKING:
    from tacit.federation import Manifest, Participation
    from tacit.runtimes.phases import Outcome


class Output(NamedTuple):
    """How much is shown, and how."""

    json: bool
    quiet: bool
    level: int | None
    """Of what is logged, where one was named."""
    metrics: int | None
    """The port on which figures are served."""
    html: Path | None
    """Where a report is written; of a series, one for every run, with its number in the name."""

    def report_file(self, turn: Turn | None) -> Path | None:
        """Return where the report of one run goes."""
        if self.html is None or turn is None:
            return self.html
        return self.html.with_stem(f"{self.html.stem}-{turn.number}")


def play(part: Participation, shown: Output, turn: Turn | None = None) -> Outcome:
    """Run one member's part and print the answer; of a series, stay until the neighbours have theirs, too."""
    with (
        diary(part.agent, quiet=shown.quiet, json_lines=shown.json, level=shown.level) as kept,
        serve_monitoring(kept.bulletin, shown.metrics),
    ):
        hooks = (kept.on_progress, kept.on_wait, lambda answer: _show(part, answer, kept, shown, turn))
        try:
            return part.run(*hooks) if turn is None else to_the_end(turn, part, *hooks)
        except KeyboardInterrupt:
            log.warning("the state is kept; started again, this agent goes on from where it was")
            raise


def play_series(
    series: Series,
    take_part: Callable[[Manifest], Participation],
    decline: Callable[[Manifest], object],
    shown: Output,
) -> SeriesAccount:
    """Run all that is left of a series, and print the account."""
    level = shown.level or (logging.WARNING if shown.quiet else logging.INFO)
    with logged(level, "tacit.series", json_lines=shown.json):
        account = repeat(series, take_part, lambda turn, part: play(part, shown, turn), decline)
    if shown.json:
        _say({"account": account.to_dict()})
    else:
        for run in account.played:
            when = datetime.fromtimestamp(run.ended, UTC).strftime("%Y-%m-%d %H:%M UTC")
            typer.echo(f"run {run.number}: {when}, {run.status} after {run.rounds} rounds")
        typer.echo(account.sentence)
    return account


def _show(part: Participation, outcome: Outcome, kept: Diary, shown: Output, turn: Turn | None) -> None:
    """Print the answer at once: this member may stay for a while."""
    report = member_report(part, outcome, kept.link_times())
    if shown.json:
        numbers = {} if turn is None else {"run": turn.number}
        _say({**numbers, **report.to_dict()})
    else:
        _show_lines(report, turn)
    sys.stdout.flush()
    file = shown.report_file(turn)
    if file is not None and file.exists():  # started again after the end
        typer.echo(f"tacit: {file} is already there, and was left as it is.", err=True)
    else:
        write_report(report, file)


def _say(value: object) -> None:
    sys.stdout.write(jsonlib.dumps(value, ensure_ascii=False) + "\n")


def _show_lines(report: MemberReport, turn: Turn | None) -> None:
    verdict, table = report.outcome.verdict, report.table
    if turn is not None:
        typer.echo(f"run:          {turn.number} of {turn.manifest.repeat.runs}")
    typer.echo(f"status:       {verdict.status}. {verdict.sentence}")
    typer.echo(f"x:            {vector(list(report.outcome.x))}")
    for line in table.lines() if table else ():
        typer.echo(line)
    for sentence in report.privacy.lines:
        typer.echo(f"privacy:      {sentence}")
