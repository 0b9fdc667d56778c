"""`tacit keygen` and `tacit fingerprint`: a member's key, the card for the others, and what to read out to them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.graphs import refuse_to_overwrite
from tacit.errors import FileError
from tacit.federation.cards import Card, certificate_of
from tacit.federation.identity import fingerprint, spelled
from tacit.federation.manifest import Member, address_of
from tacit.runtimes.peers.identity import refuse_bad_name, write_key


def keygen_command(
    name: Annotated[str, typer.Option(help="What the others will call this member.")],
    address: Annotated[str, typer.Option(help="Where this member listens: host:port.")] = "127.0.0.1:7300",
    folder: Annotated[Path, typer.Option(help="Where the files go.")] = Path(),
) -> None:
    """Make a key and a certificate, and print the fingerprint.

    NAME.key stays here and is readable by its owner alone. NAME.card is public: send it to whoever writes the
    manifest, and compare the fingerprint by telephone.
    """
    refuse_bad_name(name)
    address_of(Member(address, ""))
    if not folder.is_dir():
        raise FileError(f"{folder}: the folder does not exist.")
    path = folder / f"{name}.card"
    refuse_to_overwrite(path)
    key, certificate = write_key(folder, name)
    card = Card(name, address, certificate.read_text(encoding="utf-8"))
    written = f'name = "{card.name}"\naddress = "{card.address}"\ncertificate = """\n{card.certificate}"""\n'
    try:
        path.write_text(written, encoding="utf-8")
    except OSError as error:
        for file in (key, certificate, path):
            file.unlink(missing_ok=True)
        raise FileError(
            f"{path}: cannot be written ({error.strerror}); make room, or name another folder."
        ) from error
    typer.echo(f"Wrote {key} (keep it), {certificate} and {path} (send it).")
    _show(name, card.certificate)


def fingerprint_command(
    file: Annotated[Path, typer.Argument(help="A .crt, a .card, or a .key with its .crt beside it.")],
) -> None:
    """Show a member's fingerprint: to read out your own, or to compare somebody's card."""
    _show(*certificate_of(file))


def _show(name: str, certificate: str) -> None:
    typer.echo(f"Fingerprint of {name}:")
    for line in spelled(fingerprint(certificate)):
        typer.echo(f"  {line}")
