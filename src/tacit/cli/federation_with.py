"""`tacit federation with`: the manifest of the next run with newcomers, and what the two runs together tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.graphs import Json, print_json, refuse_to_overwrite
from tacit.listing import conjoined

if TYPE_CHECKING:
    from tacit.federation import TakingIn


def with_command(
    federation: Annotated[Path, typer.Argument(help="The manifest of the run before.")],
    file: Annotated[Path, typer.Argument(metavar="NEW_FILE", help="The manifest to write.")],
    card: Annotated[list[Path], typer.Option(help="The card of a newcomer; once for each.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Write the manifest of the next run, with newcomers.

    Says first what the sums of both runs tell of them, and asks. Everybody who accepts it starts an agent with the
    new file; nobody can be made to. Exit code 1 if the answer is no.
    """
    from tacit.federation import Manifest, take_in
    from tacit.federation.gathering import read_cards

    refuse_to_overwrite(file)
    step = take_in(Manifest.read(federation), read_cards(card))
    if not json:
        typer.echo(step.headline)
        for sentence in [*step.costs, *([] if step.certificate is None else [step.certificate.statement()])]:
            typer.echo(sentence)
    if not yes:
        typer.confirm(f"Take {conjoined(step.newcomers)} in?", abort=True, err=True)
    file.write_bytes(step.after.to_toml())
    if json:
        print_json({"file": str(file), **step.to_dict()})
    else:
        _say_what_is_next(file, step)


def _say_what_is_next(file: Path, step: TakingIn) -> None:
    from tacit.federation.identity import fingerprint, spelled

    members = step.after.members
    typer.echo(f"Wrote {file}: run {step.after.run}, {len(members)} members. Session:")
    for line in spelled(step.after.session()):
        typer.echo(f"  {line}")
    for name in step.newcomers:
        typer.echo(f"Fingerprint of {name}, to be compared by telephone:")
        for line in spelled(fingerprint(members[name].certificate)):
            typer.echo(f"  {line}")
    aware = " --accept-exposure" * bool(step.exposures)
    typer.echo(f"Next: send it to {conjoined(list(members))}. Whoever accepts it runs")
    typer.echo(f"  tacit agent {file.name} --me NAME --data FILE{aware}")
    typer.echo("All must accept for the run to begin, and nobody can be made to.")
