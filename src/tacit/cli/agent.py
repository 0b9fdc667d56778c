"""`tacit agent`: one member's own process."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.completing import FAMILIES, one_of
from tacit.cli.lines import LogLevel, level_of
from tacit.cli.reports import Html, refuse_undrawable, write_report
from tacit.cli.sheets import Decimal, Encoding, Separator, announced_sheet
from tacit.errors import StillNeededError

if TYPE_CHECKING:
    from tacit.federation.participation import Participation
    from tacit.learning.reporting import MemberReport
    from tacit.runtimes.phases import Outcome


ManifestFile = Annotated[Path, typer.Argument(help="The manifest, the same file at every member.")]
MemberName = Annotated[str, typer.Option("--me", help="Which member this is.")]
Data = Annotated[Path, typer.Option(help="This member's own records: CSV or NPZ. They stay here.")]
OwnFamily = Annotated[
    str | None,
    typer.Option(
        "--cost", help="The cost family, where the manifest has no model.", autocompletion=one_of(*FAMILIES)
    ),
]
Key = Annotated[
    Path | None, typer.Option(help="The private key; beside the manifest, the one that it knows, unless given.")
]
Folder = Annotated[Path | None, typer.Option(help="Where the state is kept; beside the key unless given.")]
Listen = Annotated[str | None, typer.Option(help="Listen here (host:port) instead of the address in the manifest.")]
ThroughProxy = Annotated[
    str | None,
    typer.Option(
        "--proxy",
        envvar="TACIT_PROXY",
        help="Dial through this proxy: socks5://host:port or http://host:port, with user:password@ before the "
        "host if it asks for them. Other users of this machine see what is typed here; not the variable.",
    ),
]
OwnLedger = Annotated[
    Path | None,
    typer.Option("--ledger", help="Ask this ledger first, and enter the run before anything is published."),
]
CostVersion = Annotated[
    str, typer.Option(help="With --ledger: what its budget counts; another one for entirely new records.")
]
Changed = Annotated[
    list[str] | None,
    typer.Option(help="With --ledger: a member who says that its records have changed since its last run."),
]
AcceptChange = Annotated[
    bool,
    typer.Option(
        "--accept-change", help="With --ledger: take part although that tells what has changed in your records."
    ),
]
AcceptExposure = Annotated[
    bool,
    typer.Option(
        "--accept-exposure",
        help="With --ledger, in a later epoch: go on although that tells what those who have left brought in.",
    ),
]
Metrics = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Serve /metrics, /health and /status on this port of the loopback."),
]
JsonLines = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, and log as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No table of neighbours, and warnings only.")]


def agent_command(
    federation: ManifestFile,
    me: MemberName,
    data: Data,
    cost: OwnFamily = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    key: Key = None,
    folder: Folder = None,
    listen: Listen = None,
    proxy: ThroughProxy = None,
    ledger: OwnLedger = None,
    cost_version: CostVersion = "1",
    changed: Changed = None,
    accept_change: AcceptChange = False,
    accept_exposure: AcceptExposure = False,
    metrics: Metrics = None,
    json: JsonLines = False,
    html: Html = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Take part in a run: wait for the others, agree, print the answer.

    Killed or cut off, it goes on from where it was when it is started again. Exit code 1 if the agents did not
    converge or the ledger refuses, 3 if a neighbour stayed away for longer than the manifest's patience, 4 if this
    member has its answer and a neighbour may still need something.
    """
    from tacit.cli.diary import diary
    from tacit.federation.entries import Consent
    from tacit.federation.manifest import Manifest
    from tacit.federation.participation import participate
    from tacit.federation.rotation import key_of
    from tacit.federation.sections import host_and_port
    from tacit.runtimes.peers.diary import log
    from tacit.runtimes.peers.dumps import switch_off_core_dumps
    from tacit.runtimes.peers.monitoring import serve_monitoring
    from tacit.tables import Reading

    level = None if log_level is None else level_of(log_level)
    switch_off_core_dumps()  # before anything private is read
    refuse_undrawable(html)
    manifest = Manifest.read(federation)
    sheet = data if data.suffix.lower() == ".npz" else announced_sheet(data, Reading(separator, decimal, encoding))
    part = participate(
        manifest,
        sheet,
        me=me,
        key=key or key_of(manifest, me, federation.parent),
        folder=folder,
        family=cost,
        listen=None if listen is None else host_and_port(listen, "listen"),
        ledger=ledger,
        consent=Consent(cost_version, (), tuple(changed or ()), accept_exposure, accept_change),
        proxy=proxy,
    )
    with (
        diary(part.agent, quiet=quiet, json_lines=json, level=level) as kept,
        serve_monitoring(kept.bulletin, metrics),
    ):
        try:
            outcome = part.run(kept.on_progress, kept.on_wait, lambda answer: _show(part, answer, html, json=json))
        except KeyboardInterrupt:
            log.warning("the state is kept; started again, this agent goes on from where it was")
            raise
    if not outcome.verdict.converged:
        raise typer.Exit(1)
    if part.agent.needed_by:
        raise StillNeededError(part.agent.needed_by)


def _show(part: Participation, outcome: Outcome, html: Path | None, *, json: bool) -> None:
    """Print the answer at once: this member may stay for a while."""
    from tacit.learning.reporting import member_report

    report = member_report(part, outcome)
    if json:
        sys.stdout.write(jsonlib.dumps(report.to_dict(), ensure_ascii=False) + "\n")
    else:
        _show_lines(report)
    sys.stdout.flush()
    if html is not None and html.exists():  # started again after the end
        typer.echo(f"tacit: {html} is already there, and was left as it is.", err=True)
    else:
        write_report(report, html)


def _show_lines(report: MemberReport) -> None:
    from tacit.solving.summary import vector

    verdict, table = report.outcome.verdict, report.table
    typer.echo(f"status:       {verdict.status}. {verdict.sentence}")
    typer.echo(f"x:            {vector(list(report.outcome.x))}")
    for line in table.lines() if table else ():
        typer.echo(line)
    for sentence in report.privacy.lines:
        typer.echo(f"privacy:      {sentence}")
