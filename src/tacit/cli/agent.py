"""`tacit agent`: one member's own process."""

from __future__ import annotations

import json as jsonlib
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import typer

from tacit.certificates import Certificate, Exposure, exposing, limits, privacy_lines
from tacit.certificates.release import Version
from tacit.cli.diary import diary, log
from tacit.cli.federation_check import certified, refuse_strangers
from tacit.cli.metrics import serve_metrics
from tacit.cli.sheets import Decimal, Encoding, Separator, told_sheet
from tacit.cli.summary import vector
from tacit.costs import Family
from tacit.errors import InputError, MismatchError, RangeError
from tacit.federation import Manifest, Member, account, join
from tacit.federation.declared import UNCOUNTED, refuse_nothing_hidden, section_of, told_by
from tacit.federation.identity import derived
from tacit.federation.joining import seat_of
from tacit.federation.manifest import address_of
from tacit.learning.fitted import fitted_table
from tacit.listing import listed
from tacit.masks.sums import BOUND
from tacit.runtimes.peers import Agent
from tacit.runtimes.peers.refusing import tell_unfit
from tacit.solving import CostsSection, read_cost
from tacit.solving.cost_files import read_arrays
from tacit.solving.stamping import nothing_hidden, of_masks, of_network
from tacit.solving.versions import Digests
from tacit.stamps import Stamp, voided
from tacit.tables import Reading, Sheet, match, plain


def agent_command(
    federation: Annotated[Path, typer.Argument(help="The manifest, the same file at every member.")],
    me: Annotated[str, typer.Option(help="Which member this is.")],
    data: Annotated[Path, typer.Option(help="This member's own records: CSV or NPZ. They stay here.")],
    cost: Annotated[str | None, typer.Option(help="The cost family, where the manifest has no model.")] = None,
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
    converge or the ledger refuses, 3 if a neighbour stayed away for longer than the manifest's patience.
    """
    manifest = Manifest.read(federation)
    refuse_strangers(manifest, me)
    refuse_nothing_hidden(manifest)
    key = key or federation.parent / f"{me}.key"
    here = None if listen is None else address_of(Member(listen, ""))
    sheet = data if data.suffix.lower() == ".npz" else told_sheet(data, Reading(separator, decimal, encoding))
    try:
        own = cost_of(manifest, cost, me, sheet)
    except MismatchError:
        if not list((folder or key.parent).glob(f"{me}-{manifest.session()[:12]}.*")):  # nothing was said before
            tell_unfit(manifest.job(), seat_of(manifest, me), key, listen=here)
        raise
    names = feature_names(manifest, sheet)
    agent = join(
        manifest,
        own,
        me=me,
        key=key,
        folder=folder or key.parent,
        listen=here,
        columns=names,
    )
    over = agent.result.exists()
    kept_account: account.Opened | None = None
    if ledger is not None and not over:
        versions = own_versions(manifest, me, key, sheet)
        terms = account.Terms(cost_version, versions, tuple(changed or ()), accept_exposure, accept_change)
        kept_account = account.opened(manifest, agent, ledger, terms)
    with serve_metrics(agent, metrics), diary(agent, quiet=quiet, json_lines=json) as kept:
        try:
            outcome = agent.run(
                on_progress=kept.on_progress, on_wait=kept.on_wait, on_commit=kept_account and kept_account.enter
            )
        except RangeError as error:
            raise RangeError(
                f"somebody's numbers exceed the public bound of the sums, {manifest.privacy.bound or BOUND:g}: "
                "make a manifest with a larger one (tacit federation new --bound, with --words 2), or one whose "
                "records are standardised in secret (--algorithm auto)."
            ) from error
        except KeyboardInterrupt:
            log.warning("the state is kept; started again, this agent goes on from where it was")
            raise
    accepted = () if kept_account is None else kept_account.accepted
    if ledger is not None and over:
        accepted = account.accepted_before(manifest, agent, ledger)
    privacy = statements(manifest, agent, accepted)
    table = fitted_table(manifest, names, outcome)
    if json:
        found = {"x": outcome.x.tolist(), "rounds": outcome.rounds, "status": str(outcome.verdict.status)}
        more = {"sentence": outcome.verdict.sentence, "session": manifest.session(), **privacy.to_dict()}
        more |= table.to_dict() if table else {}
        sys.stdout.write(jsonlib.dumps({**found, **more}, ensure_ascii=False) + "\n")
    else:
        typer.echo(f"status:       {outcome.verdict.status}. {outcome.verdict.sentence}")
        typer.echo(f"x:            {vector(list(outcome.x))}")
        for line in table.lines() if table else ():
            typer.echo(line)
        for sentence in privacy.lines:
            typer.echo(f"privacy:      {sentence}")
    if outcome.verdict.status != "converged":
        raise typer.Exit(1)


def cost_of(manifest: Manifest, family: str | None, me: str, data: Path | Sheet) -> Family:
    """Return a member's own cost; refuse data that are not what the manifest says."""
    model = manifest.model
    if model is None and family is None:
        raise InputError("the manifest has no model; say what the cost is: --cost.")
    if model is not None and family is not None and family != model.family:
        raise InputError(f"--cost {family}, and the manifest says {model.family}: all members must fit the same.")
    section = CostsSection(family or "") if model is None else section_of(model)
    shares = None if model is None else model.shares
    found = read_cost(
        section,
        me,
        data,
        agents=shares or len(manifest.members),
        dictionary=manifest.data,
        facts=manifest.algorithm["name"] == "standardised",
    )
    if found.dim != manifest.unknowns:
        counted = " with the intercept" if section.intercept else ""
        where = data if isinstance(data, Path) else data.label
        raise InputError(
            f"{where}: gives {found.dim} unknown(s){counted}, and the manifest says {manifest.unknowns}: all "
            "members need the same columns."
        )
    least = None if model is None else model.records
    if least is not None and found.secrets is not None and found.secrets.records < least:
        raise InputError(
            f"the manifest says that every member holds at least {least} records, and these are fewer: what the "
            "answer tells was counted with that many; ask for a manifest that says less."
        )
    return found


def feature_names(manifest: Manifest, data: Path | Sheet) -> tuple[str, ...]:
    """Return the names of the unknowns without an intercept; none for files that have no names."""
    if manifest.data is not None:
        return manifest.data.names
    if isinstance(data, Path):
        return ()
    target = manifest.model.target if manifest.model is not None else None
    return tuple(name for name in data.columns if name != (target or data.columns[-1]))


def own_versions(manifest: Manifest, me: str, key: Path, data: Path | Sheet) -> tuple[Version, ...]:
    """Return the versions of this member's records: digests under a secret that follows from its private key."""
    digests = Digests(derived(key, "versions of records"))
    if isinstance(data, Path):
        arrays = read_arrays(data)
        if set(arrays) != {"A", "y"}:
            return tuple(digests.of_arrays(me, arrays))
        return tuple(
            digests.of(me, {f"x{k}": column for k, column in enumerate(arrays["A"].T)} | {"y": arrays["y"]})
        )
    target = manifest.model.target if manifest.model is not None else None
    dictionary = manifest.data or plain(data.columns, target or data.columns[-1])
    records = match(data, dictionary)
    columns = dict(zip(records.names, records.X.T, strict=True)) | {dictionary.target: records.y}
    return tuple(digests.of(me, columns))


class Privacy(NamedTuple):
    """What was hidden of a member, from whom, and where it is weak."""

    stamps: list[Stamp]
    certificate: Certificate | None
    lines: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        private = self.certificate is not None and self.certificate.is_private and not voided(self.stamps)
        difference = self.certificate.hidden_difference() if self.certificate is not None and private else 0.0
        return {
            "private": private,
            "stamps": msgspec.to_builtins(self.stamps),
            "hidden_difference": difference if math.isfinite(difference) else None,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "privacy": self.lines,
        }


def statements(manifest: Manifest, agent: Agent, accepted: Iterable[Exposure] = ()) -> Privacy:
    """Return what was hidden of this member; first what earlier runs and this one tell together."""
    mechanism, me = agent.job.privacy, agent.me
    near = agent.neighbours
    if mechanism is None:
        open_ = Stamp(
            reason="no masks", sentence=f"nothing of {me} was hidden, and {listed(near)} can read its cost."
        )
        return Privacy([open_], None, [str(open_)])
    coverage = mechanism.coverage(agent.cost)
    stamps = [Stamp(reason="history", sentence=f"{each}.", agents=each.agents) for each in accepted]
    stamps += [*of_masks(mechanism), *nothing_hidden(coverage, [me]), *of_network(manifest.network())]
    if 1 < len(near) <= manifest.privacy.any:
        sentence = f"{me}'s neighbours, {listed(near)}, know all its masks if they all collude."
        stamps.append(Stamp(reason="cut", sentence=sentence, agents=(me,)))
    certificate = certified(manifest)
    counted = told_by(manifest)
    stamps += [] if counted is None else counted.stamps
    lines = [f"{me}'s masks hide {coverage}."] * coverage.keeps_a_secret
    if manifest.epoch:
        lines.append(
            f"This was epoch {manifest.epoch}: if anything was published before it, what those who have left "
            "brought in can be told by subtraction. The rest is about those who stayed."
        )
    stamps = stamps if certificate is None else exposing(stamps, certificate)
    first = sum(stamp.voids for stamp in stamps)
    told = privacy_lines(stamps, certificate)
    lines = [*told[:first], *lines, *told[first:], *([] if certificate is None else limits(certificate))]
    lines += [UNCOUNTED] * (counted is None and manifest.model is not None)
    return Privacy(stamps, certificate, lines)
