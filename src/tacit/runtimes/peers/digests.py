"""Digests by which a member knows its own cost again, and its neighbours their columns and limits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from tacit.costs import Family
from tacit.runtimes.peers.keys import derived
from tacit.typing import Array


def digest_of_cost(cost: Family, x0: Array, key: Path) -> bytes:
    """Return a digest of the cost that tells nothing without the cost: keyed by the member's private *key*.

    What it does at a few points stands for it, to eight digits: other machines round the last ones otherwise.
    """
    values = [type(cost).__name__]
    with np.errstate(all="ignore"):
        for x in (x0, x0 + 1.0, x0 + np.cos(np.arange(len(x0)))):
            for vector in (cost.grad(x), cost.rough_prox(x, 1.0)):
                values += [f"{value:.7e}" for value in np.asarray(vector, dtype=np.float64).ravel()]
    return hashlib.blake2b(" ".join(values).encode(), key=derived(key, "digest of a cost")).digest()


def digest_of_columns(columns: Sequence[str], session: str) -> str:
    """Return a hash of the columns' names; nothing where there are none."""
    named = msgspec.json.encode((session, tuple(columns)))
    return hashlib.sha256(named).hexdigest()[:32] if columns else ""


def digest_of_limits(limits: Array, session: str) -> str:
    """Return a hash of the limits on x: public, and the same at all, where all must come to the same next point."""
    numbers = np.asarray(limits, dtype="<f8") + 0.0  # one zero for both signs
    return hashlib.sha256(session.encode() + numbers.tobytes()).hexdigest()[:32]
