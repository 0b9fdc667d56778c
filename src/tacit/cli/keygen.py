"""`tacit keygen` and `tacit fingerprint`: a member's key, the card for the others, and what to read out to them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.errors import InputError


def keygen_command(
    name: Annotated[str | None, typer.Option(help="What the others will call this member.")] = None,
    follows: Annotated[
        Path | None, typer.Option(help="The key to be replaced, which signs the new card; instead of --name.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Where this member listens: host:port; 127.0.0.1:7300, or that of before, unless given."),
    ] = None,
    dial_out: Annotated[
        bool, typer.Option("--dial-out", help="Nobody can connect to this member: its card has no address.")
    ] = False,
    folder: Annotated[
        Path, typer.Option(help="Where the files go; those of a next key go beside the one of before.")
    ] = Path(),
    passphrase_file: Annotated[
        Path | None,
        typer.Option(help="Lock the key with the passphrase in this file. TACIT_KEY_PASSPHRASE_FILE unlocks it."),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, help="The key ends after so many days; never, unless given.")
    ] = None,
) -> None:
    """Make a key and a certificate, and print the fingerprint.

    NAME.key stays here and is readable by its owner alone. NAME.card is public: send it to whoever writes the
    manifest, and compare the fingerprint by telephone. A key that follows another is called NAME.2.key, and its
    card is for everybody: they take it into the manifest by `tacit federation rekey`.
    """
    from datetime import UTC, datetime, timedelta

    from tacit.federation.cards import certificate_of, write_card
    from tacit.federation.rotation import write_next_card

    if (name is None) == (follows is None):
        raise InputError("a key needs the name of a member, or the key that it follows.", command="See --name.")
    place = "" if dial_out else address
    until = None if days is None else datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)
    if follows is not None:
        files = write_next_card(follows, address=place, passphrase_file=passphrase_file, until=until)
    else:
        place = "127.0.0.1:7300" if place is None else place
        files = write_card(folder, name or "", place, passphrase_file=passphrase_file, until=until)
    typer.echo(f"Wrote {files.key} (keep it), {files.certificate} and {files.card} (send it).")
    _show(*certificate_of(files.card))


def fingerprint_command(
    file: Annotated[Path, typer.Argument(help="A .crt, a .card, or a .key with its .crt beside it.")],
) -> None:
    """Show a member's fingerprint: to read out your own, or to compare somebody's card."""
    from tacit.federation.cards import certificate_of

    _show(*certificate_of(file))


def _show(name: str, certificate: str) -> None:
    from tacit.federation.identity import fingerprint, spelled

    typer.echo(f"Fingerprint of {name}:")
    for line in spelled(fingerprint(certificate)):
        typer.echo(f"  {line}")
