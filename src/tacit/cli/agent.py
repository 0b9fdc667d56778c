"""`tacit agent`: one member's own process."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.completing import FAMILIES, one_of
from tacit.cli.sheets import Decimal, Encoding, Separator, announced_sheet
from tacit.errors import StillNeededError

if TYPE_CHECKING:
    from tacit.federation.participation import Participation
    from tacit.runtimes.phases import Outcome


def agent_command(
    federation: Annotated[Path, typer.Argument(help="The manifest, the same file at every member.")],
    me: Annotated[str, typer.Option(help="Which member this is.")],
    data: Annotated[Path, typer.Option(help="This member's own records: CSV or NPZ. They stay here.")],
    cost: Annotated[
        str | None,
        typer.Option(help="The cost family, where the manifest has no model.", autocompletion=one_of(*FAMILIES)),
    ] = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    key: Annotated[
        Path | None, typer.Option(help="The private key; ME.key beside the manifest unless given.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where the state is kept; beside the key unless given.")
    ] = None,
    listen: Annotated[
        str | None, typer.Option(help="Listen here (host:port) instead of the address in the manifest.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Ask this ledger first, and enter the run before anything is published.")
    ] = None,
    cost_version: Annotated[
        str, typer.Option(help="With --ledger: what its budget counts; another one for entirely new records.")
    ] = "1",
    changed: Annotated[
        list[str] | None,
        typer.Option(help="With --ledger: a member who says that its records have changed since its last run."),
    ] = None,
    accept_change: Annotated[
        bool,
        typer.Option(
            "--accept-change",
            help="With --ledger: take part although that tells what has changed in your records.",
        ),
    ] = False,
    accept_exposure: Annotated[
        bool,
        typer.Option(
            "--accept-exposure",
            help="With --ledger, in a later epoch: go on although that tells what those who have left brought in.",
        ),
    ] = False,
    metrics: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Serve Prometheus metrics on this port of the loopback."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON, and log as JSON.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No table of neighbours, and warnings only.")
    ] = False,
) -> None:
    """Take part in a run: wait for the others, agree, print the answer.

    Killed or cut off, it goes on from where it was when it is started again. Exit code 1 if the agents did not
    converge or the ledger refuses, 3 if a neighbour stayed away for longer than the manifest's patience, 4 if this
    member has its answer and somebody still needs it.
    """
    from tacit.cli.diary import diary
    from tacit.federation.entries import Consent
    from tacit.federation.manifest import Manifest
    from tacit.federation.participation import participate
    from tacit.federation.sections import Member, address_of
    from tacit.runtimes.peers.diary import log
    from tacit.runtimes.peers.dumps import switch_off_core_dumps
    from tacit.runtimes.peers.metrics import serve_metrics
    from tacit.tables import Reading

    switch_off_core_dumps()  # before anything private is read
    manifest = Manifest.read(federation)
    sheet = data if data.suffix.lower() == ".npz" else announced_sheet(data, Reading(separator, decimal, encoding))
    part = participate(
        manifest,
        sheet,
        me=me,
        key=key or federation.parent / f"{me}.key",
        folder=folder,
        family=cost,
        listen=None if listen is None else address_of(Member(listen, "")),
        ledger=ledger,
        consent=Consent(cost_version, (), tuple(changed or ()), accept_exposure, accept_change),
    )
    with serve_metrics(part.agent, metrics), diary(part.agent, quiet=quiet, json_lines=json) as kept:
        try:
            outcome = part.run(kept.on_progress, kept.on_wait, lambda answer: _show(part, answer, json=json))
        except KeyboardInterrupt:
            log.warning("the state is kept; started again, this agent goes on from where it was")
            raise
    if outcome.verdict.status != "converged":
        raise typer.Exit(1)
    if part.agent.needed_by:
        raise StillNeededError(part.agent.needed_by)


def _show(part: Participation, outcome: Outcome, *, json: bool) -> None:
    from tacit.cli.summary import vector
    from tacit.learning.fitted import fitted_table

    manifest = part.manifest
    privacy, table = part.statements(), fitted_table(manifest, part.columns, outcome)
    if json:
        answer = {"x": outcome.x.tolist(), "rounds": outcome.rounds, "status": str(outcome.verdict.status)}
        more = {"sentence": outcome.verdict.sentence, "session": manifest.session(), **privacy.to_dict()}
        more |= table.to_dict() if table else {}
        sys.stdout.write(jsonlib.dumps({**answer, **more}, ensure_ascii=False) + "\n")
    else:
        typer.echo(f"status:       {outcome.verdict.status}. {outcome.verdict.sentence}")
        typer.echo(f"x:            {vector(list(outcome.x))}")
        for line in table.lines() if table else ():
            typer.echo(line)
        for sentence in privacy.lines:
            typer.echo(f"privacy:      {sentence}")
    sys.stdout.flush()  # this member may stay for a while
