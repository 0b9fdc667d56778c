"""What members heard of phase 2: gossip, and sums over the whole network."""

from __future__ import annotations

import numpy as np

from tacit.auditing.attacks.words import as_numbers
from tacit.auditing.public import Public
from tacit.auditing.view import Exchange, View, gossip
from tacit.typing import Array


def said(view: View, public: Public) -> list[Exchange]:
    """Return what agents said to their neighbours in phase 2."""
    return [] if public.mechanism == "sums" else gossip(view, masked=public.mechanism != "none")


def totals(view: View, public: Public) -> list[Array]:
    """Return all sums over the network, which everybody is told."""
    found = []
    for exchange in view.only("down"):
        total = exchange.values[0]
        if total.dtype.kind == "u":  # the last number of a secret sum says that nothing was out of range
            total = as_numbers(total, public.words)[:-1] * public.step
        found.append(np.asarray(total, dtype=np.float64))
    return found
