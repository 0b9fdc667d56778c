"""How the two ends of a link come to know its random terms r_ij and r_ji.

    both        i draws r_ij and sends it to j, and j draws r_ji and sends it to i: eq. (4) as it stands
    one-sided   the first end draws both and sends their difference: one message a link instead of two
    seeds       the ends agree on two keys and draw r_ij and r_ji from them: no message but the agreement

Only r_ji − r_ij counts, and it has the same law in all three; both ends of a link know it in all three. So what a
coalition learns is the same, with one exception: under seeds the masks are pseudorandom. What is proven of them
then holds against adversaries who cannot break X25519 or AES-256, and no longer against all: it is *computational*.

    s = X25519(own secret, other's public)      ephemeral, fresh for every link and run; links are authenticated
    k₁ ‖ k₂ = HKDF-SHA256(s; both publics)      k₁ for what the first end "sends", k₂ for the second
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tacit.errors import MaskError, ProtocolError
from tacit.masks.randomness import Source
from tacit.spelling import did_you_mean
from tacit.typing import Peers, Words

Way = Literal["both", "one-sided", "seeds"]
WAYS: tuple[Way, ...] = ("both", "one-sided", "seeds")
Sample = Callable[[Source], Any]
_WORDS = 4  # in a key of 32 bytes


class Pairing(Protocol):
    """The random terms of all links of whoever calls."""

    def terms(self, sample: Sample, *, more: bool = False) -> tuple[Any, Any]:
        """Return what went out and what came in, one row per link, never the same twice.

        *sample* draws one row per link from a source; *more* says that this is the next piece of the same exchange.
        """


class Both:
    """Eq. (4): every end draws its own term."""

    def __init__(self, source: Source, peers: Peers) -> None:
        self._source, self._peers = source, peers

    def terms(self, sample: Sample, *, more: bool = False) -> tuple[Any, Any]:
        """Draw r_ij, and swap it for r_ji."""
        went = sample(self._source)
        return went, self._peers.swap(went, more=more)


class OneSided:
    """The first end of a link draws for both."""

    def __init__(self, source: Source, peers: Peers) -> None:
        self._source, self._peers = source, peers

    def terms(self, sample: Sample, *, more: bool = False) -> tuple[Any, Any]:
        """Draw r_ij − r_ji at the first end; the second sends nothing."""
        first = self._peers.first
        went = sample(self._source)
        went -= sample(self._source)
        went[~first] = 0
        return went, self._peers.swap(went, more=more, only=first)


class Seeds:
    """Both ends draw both terms from keys that they share."""

    def __init__(self, source: Source, peers: Peers) -> None:
        secrets = source.words(_WORDS * peers.links).reshape(peers.links, _WORDS)
        own = [X25519PrivateKey.from_private_bytes(row.tobytes()) for row in secrets]
        public = np.array([np.frombuffer(key.public_key().public_bytes_raw(), dtype="<u8") for key in own])
        theirs = peers.swap(public.reshape(peers.links, _WORDS))
        rows = enumerate(zip(own, public, theirs, peers.first, strict=True))
        pairs = [_shared(*keys, row=row) for row, keys in rows]
        self._went = source.branch([mine for mine, _ in pairs])
        self._came = source.branch([other for _, other in pairs])
        self._peers = peers

    def terms(self, sample: Sample, *, more: bool = False) -> tuple[Any, Any]:
        """Draw r_ij and r_ji; nothing is sent."""
        went, came = sample(self._went), sample(self._came)
        return went, self._peers.swap(went, more=more, known=came)


def _shared(own: X25519PrivateKey, mine: Words, theirs: Words, first: bool, *, row: int) -> tuple[bytes, bytes]:
    """Return the key of what this end sends, and of what the other end does."""
    try:
        secret = own.exchange(X25519PublicKey.from_public_bytes(theirs.astype("<u8").tobytes()))
    except ValueError as error:  # a point of small order
        raise ProtocolError("sent something that is not a public key.", row=row) from error
    publics = (mine, theirs) if first else (theirs, mine)
    info = b"tacit masks of a link" + b"".join(public.astype("<u8").tobytes() for public in publics)
    keys = HKDF(hashes.SHA256(), 64, salt=None, info=info).derive(secret)
    return (keys[:32], keys[32:]) if first else (keys[32:], keys[:32])


def pair(way: Way, source: Source, peers: Peers) -> Pairing:
    """Return the links' terms in one of the three ways."""
    kinds: dict[Way, Callable[[Source, Peers], Pairing]] = {"both": Both, "one-sided": OneSided, "seeds": Seeds}
    return kinds[way](source, peers)


def is_computational(way: str) -> bool:
    """Tell whether masks are drawn from keys that both ends agree on, and hold while nobody breaks the ciphers."""
    return way == "seeds"


def refuse_unknown(way: str, ways: Sequence[str] = WAYS) -> None:
    """Refuse a way that does not exist."""
    if way not in ways:
        raise MaskError(f"pairing = {way!r} must be one of {', '.join(ways)}.{did_you_mean(way, ways)}")
