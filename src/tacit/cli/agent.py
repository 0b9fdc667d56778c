"""`tacit agent`: one member's own process."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.completing import FAMILIES, one_of
from tacit.cli.lines import LogLevel, level_of
from tacit.cli.reports import Html, refuse_undrawable
from tacit.cli.sheets import Decimal, Encoding, Separator, announced
from tacit.errors import StillNeededError

ManifestFile = Annotated[Path, typer.Argument(help="The manifest, the same file at every member.")]
MemberName = Annotated[str, typer.Option("--me", help="Which member this is.")]
Data = Annotated[
    str,
    typer.Option(
        help="This member's own records: CSV or NPZ; or, read in batches, Parquet, Feather, a folder, or a table "
        "or query of a database, as duckdb:FILE::TABLE. They stay here."
    ),
]
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
        help="Take part although that tells what newcomers bring; with --ledger, in a later epoch, what those who "
        "have left brought in.",
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        help="With --runs: take part in a run so often, such as 1d, 12h or 30m. Every run has its own masks."
    ),
]
Runs = Annotated[int | None, typer.Option(min=1, help="With --every: in so many runs, the first one now.")]
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
    every: Every = None,
    runs: Runs = None,
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
    from tacit.cli.playing import Output, play, play_series
    from tacit.federation import Consent, Manifest, Participation, Series, participate
    from tacit.federation.account import refuse_unaffordable
    from tacit.federation.declining import decline
    from tacit.federation.numbering import scheduled
    from tacit.federation.own_data import records_of
    from tacit.federation.rotation import key_of
    from tacit.federation.sections import host_and_port
    from tacit.runtimes.peers.dumps import switch_off_core_dumps
    from tacit.tables import Reading, Sheet

    level = None if log_level is None else level_of(log_level)
    switch_off_core_dumps()  # before anything private is read
    refuse_undrawable(html)
    manifest = scheduled(Manifest.read(federation), every=every, runs=runs)
    own_key = key or key_of(manifest, me, federation.parent)
    consent = Consent(cost_version, (), tuple(changed or ()), accept_exposure, accept_change)
    place = None if listen is None else host_and_port(listen, "listen")

    def take_part(manifest: Manifest) -> Participation:
        records = records_of(manifest, data, Reading(separator, decimal, encoding))
        return participate(
            manifest,
            announced(records) if isinstance(records, Sheet) else records,
            me=me,
            key=own_key,
            folder=folder,
            family=cost,
            listen=place,
            ledger=ledger,
            consent=consent,
            proxy=proxy,
        )

    shown = Output(json, quiet, level, metrics, html)
    if manifest.repeat.runs > 1:
        series = Series(manifest, me=me, folder=folder or own_key.parent)
        if ledger is not None and not series.has_begun:
            refuse_unaffordable(manifest, ledger, consent)
        declined = partial(decline, me=me, key=own_key, folder=folder, listen=place, proxy=proxy)
        raise typer.Exit(0 if play_series(series, take_part, declined, shown).converged else 1)
    part = take_part(manifest)
    if not play(part, shown).verdict.converged:
        raise typer.Exit(1)
    if part.agent.needed_by:
        raise StillNeededError(part.agent.needed_by)
