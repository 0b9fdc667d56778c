"""Cards: what a new member shows the others, so that somebody can draw up a manifest."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from cryptography.x509 import load_pem_x509_certificate
from cryptography.x509.oid import NameOID

from tacit.errors import FileError, InputError
from tacit.federation.foreign import refuse_acting
from tacit.federation.sections import Member, address_of
from tacit.fields import read_fields
from tacit.runtimes.peers.identity import der, refuse_bad_name, write_key
from tacit.runtimes.peers.keys import read_key


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `tacit keygen` writes for the others."""

    name: str
    address: str
    certificate: str
    signed: str = ""
    """Where the key follows another one: the signature of the key before it, in hexadecimal."""


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


def write_card(
    folder: Path,
    name: str,
    address: str,
    *,
    passphrase_file: Path | None = None,
    until: datetime.datetime | None = None,
) -> Paths:
    """Make a new member: write its key, its certificate and its card, all of them or none; never over another.

    NAME.key is readable by its owner alone, and locked with the passphrase in *passphrase_file*, if one is given.
    The card is public: whoever draws up the manifest gets it. Who only dials out has an empty *address*. The key is
    good *until* a moment, or for ever.
    """
    return write_files(folder, name, address, passphrase_file=passphrase_file, until=until)


def write_files(
    folder: Path,
    name: str,
    address: str,
    *,
    passphrase_file: Path | None,
    until: datetime.datetime | None,
    follows: Path | None = None,
    signed: Callable[[str], str] | None = None,
) -> Paths:
    """Write a key, its certificate and its card; one that *follows* another has what the other has *signed*."""
    refuse_bad_name(name)
    if address:
        address_of(Member(address, ""))
    path = folder / f"{name}.card"
    if not folder.is_dir():
        raise FileError(f"{folder}: the folder does not exist.")
    if follows is None and path.exists():
        raise FileError(f"{path}: is already there; move it away, or name another file.")
    key, certificate = write_key(folder, name, passphrase_file=passphrase_file, until=until, follows=follows)
    path, pem = key.with_suffix(".card"), certificate.read_text(encoding="utf-8")
    lines = [f'name = "{name}"', f'address = "{address}"', f'certificate = """\n{pem}"""']
    lines += [] if signed is None else [f'signed = "{signed(pem)}"']
    try:
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
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
            f"{path}: is not one of .crt, .card and .key.", command="`tacit federation check` shows all members'."
        )
    try:
        pem = path.with_suffix(".crt").read_text(encoding="utf-8")
        der(pem)
        if path.suffix == ".key":
            _refuse_strangers(path, pem)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise FileError(f"{path.with_suffix('.crt')}: cannot be read ({reason}).") from error
    except FileError:  # of the key, which names itself
        raise
    except InputError as error:
        raise FileError(f"{path.with_suffix('.crt')}: {error}") from error
    return owner_of(pem), pem


def owner_of(certificate: str) -> str:
    """Return whose certificate it is."""
    subject = load_pem_x509_certificate(certificate.encode()).subject
    names = [str(entry.value) for entry in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if len(names) != 1:
        raise FileError("a certificate has no member's name.")
    refuse_bad_name(names[0])
    return names[0]


def _refuse_strangers(path: Path, pem: str) -> None:
    """Refuse a certificate that is not of this key."""
    if read_key(path).public_key() != load_pem_x509_certificate(pem.encode()).public_key():
        raise InputError(f"is not the certificate of {path.name}.")
