"""The σ of single links, as a mechanism's settings name them."""

from __future__ import annotations

import numpy as np

from tacit.masks import Mechanism
from tacit.network import Network
from tacit.typing import Array


def scales_of_links(masks: Mechanism | None, network: Network) -> Array | None:
    """Return σ of every link as a multiple of sigma, (E,); None where all are 1."""
    if masks is None or not masks.scale_of:
        return None
    given = {frozenset(pair): scale for pair, scale in masks.scale_of.items()}
    names = network.agents
    return np.array([given.get(frozenset((names[i], names[j])), 1.0) for i, j in network.links])
