"""Taking known masks off the words of secret sums.

k_i + a_i − Σ_{j ∈ C} (r_ji − r_ij)      of every honest agent i, modulo 2⁶⁴ or 2¹²⁸
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.modular import minus, plus
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Exchange, View, masks_of
from tacit.typing import Words


def unmasked_words(view: View, public: Public, *, place: int = 0) -> tuple[NDArray[np.intp], Words]:
    """Return the honest agents, and what each put into the sum at that *place*, with known masks taken off."""
    honest = public.honest(view.coalition)
    published = view.published.words if view.published is not None else []
    if len(published) <= place:
        return honest[:0], np.empty((0, 0), dtype=np.uint64)
    raw = np.asarray(published[place], dtype=np.uint64)
    return honest, minus(raw, known_words(view, public, place=place, width=raw.shape[1]), public.words)[honest]


def known_words(view: View, public: Public, *, place: int, width: int) -> Words:
    """Return the sum of the masks that members know of one sum, for every agent, (n, width)."""
    sums = masks_of(view)
    return words_in(sums[place], public) if len(sums) > place else np.zeros((public.agents, width), dtype=np.uint64)


def words_in(masks: Exchange, public: Public) -> Words:
    """Return the sum of these masks for every agent: what came in less what went out."""
    known = np.zeros((public.agents, masks.values.shape[1]), dtype=np.uint64)
    for i, j, values in zip(masks.senders, masks.receivers, masks.values, strict=True):
        known[j] = plus(known[j], values, public.words)
        known[i] = minus(known[i], values, public.words)
    return known
