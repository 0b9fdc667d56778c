"""`tacit agent`: one member's own process."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from tacit.certificates.release import Version
from tacit.cli import account
from tacit.cli.diary import diary, log
from tacit.cli.federation_check import certified, neighbours, refuse_strangers
from tacit.cli.fitted import fitted_table
from tacit.cli.metrics import serve_metrics
from tacit.cli.summary import vector
from tacit.costs import Family
from tacit.errors import InputError, TacitError
from tacit.network.topology import listed
from tacit.runtimes.peers import Agent, Manifest, Member
from tacit.runtimes.peers.identity import derived
from tacit.runtimes.peers.manifest import address_of
from tacit.solving import CostsSection, read_cost
from tacit.solving.cost_files import columns_of, read_data
from tacit.solving.versions import Digests


def agent_command(
    federation: Annotated[Path, typer.Argument(help="The manifest, the same file at every member.")],
    me: Annotated[str, typer.Option(help="Which member this is.")],
    data: Annotated[Path, typer.Option(help="This member's own records: CSV or NPZ. They stay here.")],
    cost: Annotated[str | None, typer.Option(help="The cost family, where the manifest has no model.")] = None,
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
    converge or the ledger refuses, 3 if a neighbour stayed away for longer than the manifest's patience.
    """
    manifest = Manifest.read(federation)
    refuse_strangers(manifest, me)
    key = key or federation.parent / f"{me}.key"
    agent = Agent(
        manifest,
        _cost(manifest, cost, me, data),
        me=me,
        key=key,
        folder=folder or key.parent,
        listen=None if listen is None else address_of(Member(listen, "")),
    )
    over = agent.result.exists()
    kept_account: account.Opened | None = None
    if ledger is not None and not over:
        terms = account.Terms(
            cost_version, own_versions(agent, data), tuple(changed or ()), accept_exposure, accept_change
        )
        kept_account = account.opened(agent, ledger, terms)
    with serve_metrics(agent, metrics), diary(agent, quiet=quiet, json_lines=json) as kept:
        try:
            outcome = agent.run(
                on_progress=kept.on_progress, on_wait=kept.on_wait, on_commit=kept_account and kept_account.enter
            )
        except KeyboardInterrupt:
            log.warning("the state is kept; started again, this agent goes on from where it was")
            raise
    sentences = statements(agent)
    if kept_account is not None:
        sentences += [f"NOT PRIVATE: {exposure}." for exposure in kept_account.accepted]
    table = fitted_table(manifest, data, outcome)
    if json:
        found = {"x": outcome.x.tolist(), "rounds": outcome.rounds, "status": str(outcome.verdict.status)}
        more = {"sentence": outcome.verdict.sentence, "session": manifest.session(), "privacy": sentences}
        more |= {"coefficients": table.to_dict()["coefficients"]} if table else {}
        sys.stdout.write(jsonlib.dumps({**found, **more}, ensure_ascii=False) + "\n")
    else:
        typer.echo(f"status:       {outcome.verdict.status}. {outcome.verdict.sentence}")
        typer.echo(f"x:            {vector(list(outcome.x))}")
        for line in table.lines() if table else ():
            typer.echo(line)
        for sentence in sentences:
            typer.echo(f"privacy:      {sentence}")
    if outcome.verdict.status != "converged":
        raise typer.Exit(1)


def _cost(manifest: Manifest, family: str | None, me: str, data: Path) -> Family:
    model = manifest.model
    if model is None and family is None:
        raise InputError("the manifest has no model; say what the cost is: --cost.")
    if model is not None and family is not None and family != model.family:
        raise InputError(f"--cost {family}, and the manifest says {model.family}: all members must fit the same.")
    section = (
        CostsSection(family or "")
        if model is None
        else CostsSection(
            model.family,
            target=model.target,
            intercept=model.intercept,
            l1=model.l1,
            l2=model.l2,
            delta=model.delta,
        )
    )
    shares = None if model is None else model.shares
    found = read_cost(section, me, data, agents=shares or len(manifest.members))
    if found.dim != manifest.unknowns:
        counted = " with the intercept" if section.intercept else ""
        raise InputError(
            f"{data}: gives {found.dim} unknown(s){counted}, and the manifest says {manifest.unknowns}: all "
            "members need the same columns."
        )
    return found


def own_versions(agent: Agent, data: Path) -> tuple[Version, ...]:
    """Return the versions of this member's records: digests under a secret that follows from its private key."""
    digests, model = Digests(derived(agent.key, "versions of records")), agent.manifest.model
    columns = columns_of(data, target=None if model is None else model.target)
    if columns is None:
        return tuple(digests.of_arrays(agent.me, read_data(data)))
    table = read_data(data, target=None if model is None else model.target)
    labels = {(model and model.target) or "label": table["y"]}
    return tuple(digests.of(agent.me, dict(zip(columns, table["A"].T, strict=True)) | labels))


def statements(agent: Agent) -> list[str]:
    """Return what was hidden of this member, from whom, and where it is weak."""
    manifest, mechanism, me = agent.manifest, agent.job.privacy, agent.me
    near = neighbours(manifest)[me]
    if mechanism is None:
        return [f"none: nothing of {me} was hidden, and {listed(near)} can read its cost from what they receive."]
    found = [f"{me}'s masks hide {mechanism.says(agent.cost)}."]
    if manifest.epoch:
        found.append(
            f"This was epoch {manifest.epoch}: if anything was published before it, what those who have left "
            "brought in can be told by subtraction. The rest is about those who stayed."
        )
    if len(near) == 1:
        found.append(
            f"NOT PRIVATE: {me} has one neighbour, {near[0]}, who knows all its masks; ask for more links."
        )
    elif len(near) <= manifest.privacy.any:
        found.append(f"NOT PRIVATE: {me}'s neighbours, {listed(near)}, know all its masks if they all collude.")
    try:
        certificate = certified(manifest)
        found.append(certificate.statement() if certificate else "Of two members, each learns the other's part.")
    except TacitError as error:
        found.append(str(error))
    return found
