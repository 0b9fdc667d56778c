"""`tacit keygen` and `tacit fingerprint`: a member's key, the card for the others, and what to read out to them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def keygen_command(
    name: Annotated[str, typer.Option(help="What the others will call this member.")],
    address: Annotated[str, typer.Option(help="Where this member listens: host:port.")] = "127.0.0.1:7300",
    dial_out: Annotated[
        bool, typer.Option("--dial-out", help="Nobody can connect to this member: its card has no address.")
    ] = False,
    folder: Annotated[Path, typer.Option(help="Where the files go.")] = Path(),
) -> None:
    """Make a key and a certificate, and print the fingerprint.

    NAME.key stays here and is readable by its owner alone. NAME.card is public: send it to whoever writes the
    manifest, and compare the fingerprint by telephone.
    """
    from tacit.federation.cards import certificate_of, write_card

    files = write_card(folder, name, "" if dial_out else address)
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
