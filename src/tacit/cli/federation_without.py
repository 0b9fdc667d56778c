"""`tacit federation without`: the manifest of the next epoch, and what it costs to go on without somebody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.graphs import Json, print_json, refuse_to_overwrite
from tacit.errors import InputError, RefusedError
from tacit.listing import conjoined

if TYPE_CHECKING:
    from tacit.federation import Leaving, Manifest


def without_command(
    federation: Annotated[Path, typer.Argument(help="The manifest of the run as it was.")],
    file: Annotated[Path, typer.Argument(metavar="NEW_FILE", help="The manifest to write.")],
    member: Annotated[list[str] | None, typer.Option(help="A member who has left for good; once for each.")] = None,
    link: Annotated[
        list[str] | None, typer.Option(help="A link that stays down, as two members A,B who both stay.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Write it even if those who stay are no longer private.")
    ] = False,
    json: Json = False,
) -> None:
    """Write the manifest of the same run without some members or links: its next epoch.

    Says first what that costs, and asks. Everybody who accepts it starts an agent with the new file; nobody can be
    made to. Exit code 1 if the answer is no, or those who stay would no longer be private.
    """
    from tacit.federation import Manifest, leave_out

    refuse_to_overwrite(file)
    step = leave_out(Manifest.read(federation), members=member or (), links=[_pair(text) for text in link or ()])
    if not json:
        typer.echo(step.headline)
        for sentence in [*step.costs, *([] if step.certificate is None else [step.certificate.statement()])]:
            typer.echo(sentence)
    for sentence in step.warnings:
        typer.echo(f"NOT PRIVATE: {sentence}", err=True)
    _ask(step, yes=yes, not_private=not_private)
    file.write_bytes(step.after.to_toml())
    if json:
        print_json({"file": str(file), **step.to_dict()})
    else:
        _say_what_is_next(file, step.after)


def _pair(text: str) -> tuple[str, str]:
    one, _, other = text.partition(",")
    if not one.strip() or not other.strip():
        raise InputError(f"--link {text}: must be two members with a comma between them, such as north,south.")
    return one.strip(), other.strip()


def _ask(step: Leaving, *, yes: bool, not_private: bool) -> None:
    if step.warnings and yes and not not_private:
        raise RefusedError("refused: those who stay would no longer be private. --yes does not cover that.")
    if not yes:
        typer.confirm(f"Go on in epoch {step.after.epoch}?", abort=True, err=True)
        if step.warnings and not not_private:
            typer.confirm("THOSE WHO STAY WILL NOT BE PRIVATE. Write it all the same?", abort=True, err=True)


def _say_what_is_next(file: Path, manifest: Manifest) -> None:
    from tacit.federation.identity import spelled

    typer.echo(f"Wrote {file}: epoch {manifest.epoch}, {len(manifest.members)} members. Session:")
    for line in spelled(manifest.session()):
        typer.echo(f"  {line}")
    typer.echo(
        f"Next: send it to {conjoined(list(manifest.members))}. Whoever accepts it compares the session, and runs"
    )
    typer.echo(f"  tacit agent {file.name} --me NAME --data FILE")
    typer.echo(
        "with the key, folder and data of before; with --ledger, --accept-exposure says that it knows. All must "
        "accept for the run to go on, nobody can be made to, and nobody can go back."
    )
