"""`tacit federation rekey`: the manifest with a member's next key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.graphs import Json, print_json, refuse_to_overwrite


def rekey_command(
    federation: Annotated[Path, typer.Argument(help="The manifest as it was.")],
    file: Annotated[Path, typer.Argument(metavar="NEW_FILE", help="The manifest to write.")],
    card: Annotated[Path, typer.Argument(help="The member's new card, signed by the key of before.")],
    run: Annotated[
        int | None,
        typer.Option(min=0, help="Write a new run with this number; the next epoch of this one, unless given."),
    ] = None,
    json: Json = False,
) -> None:
    """Write the manifest with a member's next key, if the key of before has signed it.

    Everybody can do that by itself: the same manifest and the same card give the same file and the same session.
    Exit code 2 if somebody else has signed, or nobody.
    """
    from tacit.federation import Manifest, read_card, rekeyed
    from tacit.federation.identity import fingerprint, spelled

    refuse_to_overwrite(file)
    new = read_card(card)
    after = rekeyed(Manifest.read(federation), new, run=run)
    file.write_bytes(after.to_toml())
    if json:
        facts = {"file": str(file), "member": new.name, "run": after.run, "epoch": after.epoch}
        print_json({**facts, "session": after.session(), "fingerprint": fingerprint(new.certificate)})
        return
    typer.echo(f"The new key of {new.name} is signed by the one of before. Its fingerprint:")
    for line in spelled(fingerprint(new.certificate)):
        typer.echo(f"  {line}")
    typer.echo(f"Wrote {file}: run {after.run}, epoch {after.epoch}. Session:")
    for line in spelled(after.session()):
        typer.echo(f"  {line}")
    typer.echo("Next: everybody starts an agent with it, and with the data and the folder of before.")
