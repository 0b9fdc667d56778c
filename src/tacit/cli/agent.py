"""`tacit agent`: one member's own process."""

from __future__ import annotations

import json as jsonlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from tacit.certificates import certify
from tacit.cli.metrics import serve_metrics
from tacit.cli.summary import vector
from tacit.costs import Family
from tacit.errors import InputError, TacitError
from tacit.runtimes import Progress
from tacit.runtimes.peers import Agent, Manifest
from tacit.runtimes.peers.manifest import Member, address_of
from tacit.solving import CostsSection, read_cost


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
    metrics: Annotated[
        int | None, typer.Option(help="Serve Prometheus metrics on this port of the loopback.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON, and log as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table of neighbours.")] = False,
) -> None:
    """Take part in a run: wait for the others, agree, print the answer.

    Killed or cut off, it goes on from where it was when it is started again. Exit code 1 if the agents did not
    converge, 3 if a neighbour stayed away for longer than the manifest's patience.
    """
    _log(json=json)
    manifest = Manifest.read(federation)
    if me not in manifest.members:
        raise InputError(f"{me!r} is no member; the manifest has {', '.join(manifest.members)}.")
    key = key or federation.parent / f"{me}.key"
    agent = Agent(
        manifest,
        _cost(manifest, cost, me, data),
        me=me,
        key=key,
        folder=folder or key.parent,
        listen=None if listen is None else address_of(Member(listen, "")),
    )
    with serve_metrics(agent, metrics), _table(agent, quiet=quiet or json) as on_progress:
        outcome = agent.run(on_progress)
    converged = outcome.verdict.status == "converged"
    if json:
        found = {"x": outcome.x.tolist(), "rounds": outcome.rounds, "status": str(outcome.verdict.status)}
        sys.stdout.write(jsonlib.dumps({**found, "sentence": outcome.verdict.sentence}) + "\n")
    else:
        typer.echo(f"status:       {outcome.verdict.status}. {outcome.verdict.sentence}")
        typer.echo(f"x:            {vector(list(outcome.x))}")
        typer.echo(f"privacy:      {_statement(manifest)}")
    if not converged:
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
        else CostsSection(model.family, target=model.target, intercept=model.intercept, l1=model.l1, l2=model.l2)
    )
    return read_cost(section, me, data, agents=len(manifest.members))


def _statement(manifest: Manifest) -> str:
    if manifest.privacy.level == "none":
        return "none: nothing was hidden, and neighbours can read the costs from what they receive."
    sigma = float("inf") if manifest.privacy.sigma is None else manifest.privacy.sigma
    try:
        return certify(manifest.network(), any=1, sigma=sigma).statement()
    except TacitError as error:
        return str(error)


@contextmanager
def _table(agent: Agent, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Yield on_progress; a table of neighbours on standard error where somebody looks at it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    last: list[Progress] = []

    def shown() -> Table:
        check = last[-1].check if last else None
        title = "waiting for the others" if check is None else f"round {check.round}"
        table = Table("neighbour", "link", "sent", "received", "last heard", title=f"{agent.me}: {title}")
        for n in agent.connections.neighbours.values() if agent.connections else ():
            heard = f"{time.monotonic() - n.last_seen:.0f} s ago" if n.last_seen else "never"
            table.add_row(
                n.name, "up" if n.open else n.trouble or "dialling", f"{n.bytes_out}", f"{n.bytes_in}", heard
            )
        return table

    with Live(console=console, get_renderable=shown, refresh_per_second=4, transient=True):
        yield last.append


def _log(*, json: bool) -> None:
    class Lines(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            if not json:
                return f"tacit: {record.getMessage()}"
            return jsonlib.dumps({"at": record.created, "level": record.levelname, "said": record.getMessage()})

    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logging.getLogger("tacit.peers").addHandler(handler)
