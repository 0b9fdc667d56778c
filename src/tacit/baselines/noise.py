"""Noise of baselines: a function of a seed and a round, so that an algorithm with noise stays a pure function.

It is for simulations of others' methods, and hides nobody's data: tacit's own masks come from elsewhere.
"""

from __future__ import annotations

import secrets

import numpy as np


def drawn_from(seed: int, round_: float) -> np.random.Generator:
    """Return the generator of one round."""
    return np.random.default_rng((seed, int(round_)))


def noise_seed(seed: int | None, k: int) -> int:
    """Return the seed of the k-th run: fresh from the operating system, where none is given."""
    return secrets.randbits(64) if seed is None else 7919 * seed + k
