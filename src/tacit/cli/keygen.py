"""`tacit keygen`: a member's key, its certificate, and the card to send to the others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.graphs import refuse_to_overwrite
from tacit.errors import FileError
from tacit.runtimes.peers.identity import fingerprint, write


def keygen_command(
    name: Annotated[str, typer.Option(help="What the others will call this member.")],
    address: Annotated[str, typer.Option(help="Where this member listens: host:port.")] = "127.0.0.1:7300",
    folder: Annotated[Path, typer.Option(help="Where the files go.")] = Path(),
) -> None:
    """Make a key and a certificate, and print the fingerprint.

    NAME.key stays here and is readable by its owner alone. NAME.card is public: send it to whoever writes the
    manifest, and compare the fingerprint by telephone.
    """
    if not folder.is_dir():
        raise FileError(f"{folder}: the folder does not exist.")
    card = folder / f"{name}.card"
    refuse_to_overwrite(card)
    key, certificate = write(folder, name)
    pem = certificate.read_text()
    card.write_text(f'name = "{name}"\naddress = "{address}"\ncertificate = """\n{pem}"""\n', encoding="utf-8")
    typer.echo(f"Wrote {key} (keep it), {certificate} and {card} (send it).")
    typer.echo(f"Fingerprint of {name}: {fingerprint(pem)}")
