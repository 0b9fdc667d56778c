"""A member's next key: a card that the key of before has signed, and the manifest that follows from it.

    files = write_next_card(Path("north.key"))                                # at north: north.2.key, .crt, .card
    after = rekeyed(Manifest.read("federation.toml"), read_card(Path("north.2.card")))     # at everybody

What is signed names the member and both certificates, so that a card fits one manifest only: the one that knows the
member by the key that has signed. Whoever has that manifest needs no telephone. Everybody makes the same bytes from
the same manifest and the same card, and so the same session.

    ECDSA P-256 with SHA-256 of   "tacit: the next key" ‖ {"certificate", "follows", "name"}      both as SHA-256

Inside a run the manifest is that of the next epoch, from which nobody is left out: agents check the signature with
the certificate of the epoch before. The key of before is pinned nowhere any more, and can be destroyed when no run
needs it. If somebody else may have it, do not rotate: whoever holds a key can sign a next one. Begin with a new
card, and compare fingerprints.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import load_pem_x509_certificate

from tacit.errors import InputError
from tacit.federation.cards import Card, Paths, certificate_of, owner_of, read_card, write_files
from tacit.federation.expiry import end_of, refuse_ended
from tacit.federation.manifest import Manifest, refuse_strangers
from tacit.federation.sections import Member
from tacit.runtimes.peers.identity import der, pin
from tacit.runtimes.peers.keys import read_key

_SIGNED = ec.ECDSA(hashes.SHA256())


def write_next_card(
    key: Path,
    *,
    address: str | None = None,
    passphrase_file: Path | None = None,
    until: datetime.datetime | None = None,
) -> Paths:
    """Make the next key of the member whose *key* this is: files beside it, and a card that it has signed.

    The address is that of the card beside the key unless given.
    """
    _, former = certificate_of(key)
    name, end = owner_of(former), end_of(former)
    if end is not None and end <= datetime.datetime.now(datetime.UTC):
        raise InputError(f"{key}: ended on {end:%Y-%m-%d}, and can sign no next key. Make a new member's card.")
    if address is None:
        card = key.with_suffix(".card")
        if not card.exists():
            raise InputError(f"{card}: is not there; say where this member listens.", command="See --address.")
        address = read_card(card).address
    private = read_key(key)

    def signed(certificate: str) -> str:
        return private.sign(_statement(name, former, certificate), _SIGNED).hex()

    return write_files(
        key.parent, name, address, passphrase_file=passphrase_file, until=until, follows=key, signed=signed
    )


def refuse_unsigned(name: str, before: Member, after: Member) -> None:
    """Refuse a key that the one *before* it has not signed."""
    try:
        if owner_of(after.certificate) != name:
            raise ValueError
        load_pem_x509_certificate(after.certificate.encode()).verify_directly_issued_by(
            load_pem_x509_certificate(after.certificate.encode())
        )
        public: Any = load_pem_x509_certificate(before.certificate.encode()).public_key()
        public.verify(bytes.fromhex(after.signed), _statement(name, before.certificate, after.certificate), _SIGNED)
    except (ValueError, TypeError, InvalidSignature):
        raise InputError(
            f"the new key of {name} is not signed by the one that the manifest has: somebody else may have made "
            f"it, or it follows another key. Ask {name}, by telephone."
        ) from None


def rekeyed(
    manifest: Manifest, card: Card, *, run: int | None = None, now: datetime.datetime | None = None
) -> Manifest:
    """Return the manifest that follows from a card with a next key: the next epoch, or a new *run*.

    Members who take part already go on in the epoch; what they have published stays under the masks that they have.
    """
    refuse_strangers(manifest, [card.name])
    before = manifest.members[card.name]
    if der(card.certificate) == der(before.certificate):
        raise InputError(f"the manifest has this key of {card.name} already.")
    refuse_ended(manifest, now)
    member = Member(card.address, card.certificate, card.signed)
    refuse_unsigned(card.name, before, member)
    members = {**manifest.members, card.name: member}
    if run is not None:
        if run == manifest.run:
            raise InputError(f"run = {run} is that of the manifest; a new run has another number.")
        after = msgspec.structs.replace(manifest, members=members, run=run, epoch=0, previous="", left=[])
    else:
        epoch = manifest.epoch + 1
        after = msgspec.structs.replace(manifest, members=members, epoch=epoch, previous=manifest.session())
    refuse_ended(after, now)
    after.job()  # refuses a key that another member has
    return after


def key_of(manifest: Manifest, me: str, folder: Path) -> Path:
    """Return which key in a folder is the one by which the manifest knows a member; ME.key where none is."""
    plain = folder / f"{me}.key"
    known = der(manifest.members[me].certificate) if me in manifest.members else b""
    for key in (plain, *sorted(folder.glob(f"{me}.*.key"))):
        certificate = key.with_suffix(".crt")
        try:
            if certificate.exists() and der(certificate.read_bytes()) == known:
                return key
        except (InputError, OSError):
            continue
    return plain


def _statement(name: str, former: str, certificate: str) -> bytes:
    facts = {"name": name, "follows": pin(der(former)).hex(), "certificate": pin(der(certificate)).hex()}
    return b"tacit: the next key\0" + msgspec.json.encode(facts, order="sorted")
