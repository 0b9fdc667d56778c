"""What members show each other: cards, and letters that two people can compare by telephone."""

from __future__ import annotations

from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.x509 import load_pem_x509_certificate

from tacit.errors import FileError, InputError
from tacit.runtimes.peers.identity import der


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `tacit keygen` writes for the others."""

    name: str
    address: str
    certificate: str


def read_card(path: Path) -> Card:
    """Return the card in a file."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Card)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: is no card that `tacit keygen` wrote ({error}).") from error


def certificate_of(path: Path) -> tuple[str, str]:
    """Return a name and a certificate from a card, from a certificate, or from the one beside a private key."""
    if path.suffix == ".card":
        card = read_card(path)
        return card.name, card.certificate
    if path.suffix not in (".crt", ".key"):
        raise FileError(f"{path}: is none of .crt, .card and .key; `tacit federation check` shows all members'.")
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
        raise FileError(f"{path}: is no private key that `tacit keygen` wrote.") from error
    if key.public_key() != load_pem_x509_certificate(pem.encode()).public_key():
        raise InputError(f"is not the certificate of {path.name}.")
