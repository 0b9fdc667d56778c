"""Taking off the masks that a coalition knows.

    z_i = α̃_i − Σ_{j ∈ C ∩ N_i} (r_ji − r_ij)   ~   N(α_i, 2σ² L_H)

A member knows what it sent and what it received. What is left of an honest agent's effective coefficient is masked
by its links to other honest agents alone; an agent without any has no mask left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View, masks_of
from tacit.typing import Array


def known_masks(view: View, public: Public, width: int) -> Array:
    """Return Σ (r_ji − r_ij) over the links to the coalition, for every agent, (n, width)."""
    known = np.zeros((public.agents, width))
    for exchange in masks_of(view)[:1]:
        if exchange.values.dtype.kind != "f" or public.sigma is None:
            continue
        np.add.at(known, exchange.receivers, exchange.values)
        np.subtract.at(known, exchange.senders, exchange.values)
    known[view.coalition] = 0.0
    return known


def deviations(view: View, public: Public) -> Array:
    """Return σ√(2·degree in the honest graph) of every agent: 0 without masks, and for members, (n,)."""
    out = np.zeros(public.agents)
    if public.sigma is not None:
        strength = np.diag(public.honest_laplacian(view.coalition))
        out[public.honest(view.coalition)] = public.sigma * np.sqrt(2.0 * strength)
    return out


def unmasked(agents: NDArray[Any], effective: Array, view: View, public: Public, *, says: str) -> Estimate:
    """Return what effective gradients say once the known masks are off, (k, m) each."""
    agents = np.asarray(agents, dtype=np.intp)
    known = known_masks(view, public, _width(view, public))[agents]
    slope = known[:, -public.unknowns :]  # behind the curvature, where that is masked too
    return Estimate(agents=agents, values=effective - slope, deviations=deviations(view, public)[agents], says=says)


def _width(view: View, public: Public) -> int:
    swaps = masks_of(view)
    floats = bool(swaps) and swaps[0].values.dtype.kind == "f"
    return int(swaps[0].values.shape[1]) if floats else public.unknowns
