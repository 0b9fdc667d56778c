"""Digests by which a member knows its own cost again, and its neighbours their columns and limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from tacit.costs import Family
from tacit.runtimes.peers.keys import derived
from tacit.typing import Array

_PIECE = 4096  # numbers


def digest_of_cost(cost: Family, x0: Array, key: Path) -> bytes:
    """Return a digest of the cost that tells nothing without the cost: keyed by the member's private *key*.

    What it does at a few points stands for it, to eight digits: other machines round the last ones otherwise.
    """
    digest = hashlib.blake2b(type(cost).__name__.encode(), key=derived(key, "digest of a cost"))
    with np.errstate(all="ignore"):
        for step in (0.0, 1.0, np.cos(np.arange(len(x0)))):
            x = x0 + step
            for vector in (cost.grad(x), cost.rough_prox(x, 1.0)):
                for piece in _pieces(np.asarray(vector, dtype=np.float64).ravel()):
                    digest.update("".join(f" {value:.7e}" for value in piece).encode())
    return digest.digest()


def _pieces(values: Array) -> Iterator[Array]:
    """Cut a long vector, so that little of it is text at a time."""
    for start in range(0, len(values), _PIECE):
        yield values[start : start + _PIECE]


def digest_of_columns(columns: Sequence[str], session: str) -> str:
    """Return a hash of the columns' names; nothing where there are none."""
    named = msgspec.json.encode((session, tuple(columns)))
    return hashlib.sha256(named).hexdigest()[:32] if columns else ""


def digest_of_limits(limits: Array, session: str) -> str:
    """Return a hash of the limits on x: public, and the same at all, where all must come to the same next point."""
    numbers = np.asarray(limits, dtype="<f8") + 0.0  # one zero for both signs
    return hashlib.sha256(session.encode() + numbers.tobytes()).hexdigest()[:32]
