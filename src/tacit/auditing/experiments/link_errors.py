"""What is left of a coefficient to everybody but the two ends of one link: that link's masks, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.experiments.terms import Gaussian, both_ways
from tacit.typing import Array


class LinkErrors(NamedTuple):
    """Of the first end of every link, in steps of the lattice."""

    errors: Array
    """z_i − α_i, (E, coordinates)."""
    sizes: tuple[Array, Array]
    """Their deviations are the products of these, (E, 1) and (coordinates,)."""
    own: NDArray[np.bool_]
    """Which terms belong to which link, (E, terms)."""
    secrets: NDArray[np.int64]
    """α_i, (E, coordinates)."""


def link_errors(whole: Gaussian) -> LinkErrors:
    """Look at every link with the eyes of everybody but its ends."""
    senders, receivers = whole.terms.senders, whole.terms.receivers
    out, back = both_ways(senders, receivers)
    i = senders[out]
    steps, sizes = whole.steps[out], whole.sizes[0][out, None]
    if back is not None:
        np.subtract(whole.steps[back], steps, out=steps)
        sizes = np.sqrt(2.0) * sizes
    errors = whole.misfit[i]
    errors += steps
    own = (senders[out][:, None] == senders) & (receivers[out][:, None] == receivers)
    own |= (senders[out][:, None] == receivers) & (receivers[out][:, None] == senders)
    return LinkErrors(errors, (sizes, whole.sizes[1]), own, whole.terms.plain_words.view(np.int64)[i])
