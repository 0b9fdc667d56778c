"""The distinguishing game's player: which of two worlds is this?

    T = Δᵀ L_H† z,   Δ = α' − α,   summing to zero on every component

Between N(α, 2σ²L_H) and N(α', 2σ²L_H) no test does better (Neyman & Pearson): T has the same deviation in both
worlds, and its means are μ deviations apart, μ² = Δᵀ L_H† Δ/2σ². A second player learns from everything that the
coalition saw in phase 2 as well, by a linear discriminant; if it wins more often, phase 2 leaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.typing import Array


@dataclass(frozen=True, slots=True)
class NeymanPearson:
    """The best test between two worlds that differ by a known Δ."""

    name: str = "distinguishing game"

    def __call__(self, z: Array, change: Array, laplacian: Array) -> Array:
        """Return T of every run: z is (|H|, runs), the change (|H|,)."""
        return np.asarray(np.linalg.pinv(laplacian, hermitian=True) @ change @ z)


@dataclass(frozen=True, slots=True)
class Discriminant:
    """A linear discriminant over all features: learnt on one half of the runs, played on the other."""

    ridge: float = 1e-6
    name: str = "phase-2 messages"

    def __call__(self, features: Array, world: NDArray[Any]) -> tuple[Array, NDArray[Any]]:
        """Return scores and worlds of the second half; features are (runs, f).

        Scores are counted from halfway between the worlds, as the first half saw them.
        """
        half = len(features) // 2
        train, test = features[:half], features[half:]
        centre, size = train.mean(axis=0), train.std(axis=0)
        keep = size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
        train, test = (train - centre)[:, keep] / size[keep], (test - centre)[:, keep] / size[keep]
        first, second = train[world[:half] == 0], train[world[:half] == 1]
        within = np.cov(first.T) + np.cov(second.T)
        within = np.atleast_2d(within) + self.ridge * np.eye(train.shape[1])
        direction = np.linalg.solve(within, second.mean(axis=0) - first.mean(axis=0))
        middle = (first.mean(axis=0) + second.mean(axis=0)) / 2.0
        return (test - middle) @ direction, world[half:]
