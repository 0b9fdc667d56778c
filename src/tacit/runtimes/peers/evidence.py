"""What a member keeps when it and a neighbour were not told the same: a statement with its signature.

    {"session", "member", "neighbour", "totals", "own", "theirs"}       as JSON, sorted
    ECDSA P-256 with SHA-256, by the member's own key

The neighbour, if it is honest, keeps one of its own, with the same two digests the other way round: the two files
together show that both were told different totals, and each is signed by whoever was told so. Neither says who told
them: that is to be found on the ways by which totals came down to the two. A digest is no total, but whoever can
guess all of them can check the guess: show the files to those who may know the totals.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import load_pem_x509_certificate

from tacit.errors import EquivocationError, FileError
from tacit.runtimes.peers.keys import read_key
from tacit.runtimes.peers.seat import Seat

_SIGNED = ec.ECDSA(hashes.SHA256())


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a member says that it was told, and what a neighbour said."""

    session: str
    member: str
    neighbour: str
    totals: int
    """How many sums the digests are of."""
    own: str
    theirs: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement with its signature, in hexadecimal."""

    statement: Statement
    signature: str


def signed(error: EquivocationError, *, seat: Seat, key: Path) -> bytes:
    """Return the evidence that a member keeps, as JSON."""
    statement = Statement(
        session=seat.session,
        member=seat.me,
        neighbour=error.neighbour,
        totals=error.totals,
        own=error.own,
        theirs=error.theirs,
    )
    signature = read_key(key).sign(_signed_bytes(statement), _SIGNED).hex()
    return msgspec.json.format(msgspec.json.encode(Evidence(statement=statement, signature=signature)), indent=2)


def verified(evidence: bytes, certificate: str) -> Statement:
    """Return the statement; refuse one that the holder of the *certificate* has not signed."""
    try:
        read = msgspec.json.decode(evidence, type=Evidence)
        public: Any = load_pem_x509_certificate(certificate.encode()).public_key()
        public.verify(bytes.fromhex(read.signature), _signed_bytes(read.statement), _SIGNED)
    except (msgspec.MsgspecError, ValueError, InvalidSignature) as error:
        raise FileError("the evidence is not what this member has signed.") from error
    return read.statement


def _signed_bytes(statement: Statement) -> bytes:
    return b"tacit: what was told\0" + msgspec.json.encode(statement, order="sorted")
