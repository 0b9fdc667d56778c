"""What members heard of phase 2: gossip, and sums over the whole network."""

from __future__ import annotations

import numpy as np

from tacit.auditing.attacks.modular import as_numbers
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Exchange, View, gossip
from tacit.typing import Array, Words


def gossip_of(view: View, public: Public) -> list[Exchange]:
    """Return what agents said to their neighbours in phase 2."""
    return [] if public.mechanism == "sums" else gossip(view, masked=public.mechanism != "none")


def totals(view: View, public: Public) -> list[Array]:
    """Return all sums over the network, which everybody is told."""
    return [decoded(exchange.values[0], public.words, public.step) for exchange in view.only("down")]


def decoded(total: Array | Words, words: int, step: float) -> Array:
    """Return a total as numbers; the last of a secret sum says only that nothing was out of range."""
    if total.dtype.kind == "u":
        return np.asarray(as_numbers(np.asarray(total, dtype=np.uint64), words)[:-1] * step)
    return np.asarray(total, dtype=np.float64)
