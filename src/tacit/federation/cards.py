"""Cards: what a new member shows the others, so that somebody can draw up a manifest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.x509 import load_pem_x509_certificate

from tacit.errors import FileError, InputError
from tacit.federation.foreign import refuse_acting
from tacit.federation.sections import Member, address_of
from tacit.fields import read_fields
from tacit.runtimes.peers.identity import der, refuse_bad_name, write_key


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `tacit keygen` writes for the others."""

    name: str
    address: str
    certificate: str


class Paths(NamedTuple):
    """The files of a new member."""

    key: Path
    """Stays where it is."""
    certificate: Path
    card: Path
    """For the others."""


def read_card(path: Path) -> Card:
    """Return the card in a file."""
    card = read_fields(path, Card, command="`tacit keygen` writes cards.")
    try:
        refuse_acting({"name": card.name, "address": card.address})
    except InputError as error:
        raise FileError(f"{path}: {error}") from error
    return card


def read_cards(paths: Iterable[Path]) -> list[Card]:
    """Return the cards in files; refuse two of one name."""
    cards: dict[str, Card] = {}
    for path in paths:
        card = read_card(path)
        if cards.setdefault(card.name, card) is not card:
            raise FileError(f"{path}: there are two members called {card.name}.")
    return list(cards.values())


def write_card(folder: Path, name: str, address: str) -> Paths:
    """Make a new member: write its key, its certificate and its card, all of them or none; never over another.

    NAME.key is readable by its owner alone. The card is public: whoever draws up the manifest gets it. Who only
    dials out has an empty *address*.
    """
    refuse_bad_name(name)
    if address:
        address_of(Member(address, ""))
    path = folder / f"{name}.card"
    if not folder.is_dir():
        raise FileError(f"{folder}: the folder does not exist.")
    if path.exists():
        raise FileError(f"{path}: is already there; move it away, or name another file.")
    key, certificate = write_key(folder, name)
    pem = certificate.read_text(encoding="utf-8")
    try:
        path.write_text(f'name = "{name}"\naddress = "{address}"\ncertificate = """\n{pem}"""\n', encoding="utf-8")
    except OSError as error:
        for file in (key, certificate, path):
            file.unlink(missing_ok=True)
        raise FileError(
            f"{path}: cannot be written ({error.strerror}); make room, or name another folder."
        ) from error
    return Paths(key, certificate, path)


def certificate_of(path: Path) -> tuple[str, str]:
    """Return a name and a certificate from a card, from a certificate, or from the one beside a private key."""
    if path.suffix == ".card":
        card = read_card(path)
        return card.name, card.certificate
    if path.suffix not in (".crt", ".key"):
        raise FileError(
            f"{path}: is none of .crt, .card and .key.", command="`tacit federation check` shows all members'."
        )
    try:
        pem = path.with_suffix(".crt").read_text(encoding="utf-8")
        der(pem)
        if path.suffix == ".key":
            _refuse_strangers(path, pem)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise FileError(f"{path.with_suffix('.crt')}: cannot be read ({reason}).") from error
    except InputError as error:
        raise FileError(f"{path.with_suffix('.crt')}: {error}") from error
    return path.stem, pem


def _refuse_strangers(path: Path, pem: str) -> None:
    """Refuse a certificate that is not of this key."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise FileError(f"{path}: is no private key of a member.") from error
    if key.public_key() != load_pem_x509_certificate(pem.encode()).public_key():
        raise InputError(f"is not the certificate of {path.name}.")
