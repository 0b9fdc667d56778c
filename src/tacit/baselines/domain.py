"""Public bounds that noise is scaled by: a ball around the start, and how steep a cost can be in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.solving import Problem
from tacit.typing import Array


class Domain(NamedTuple):
    """|x − x₀| ≤ radius, and |∇h_i| ≤ steepest in it, L_i ≤ smoothness: declared beforehand, by assumption."""

    radius: float
    steepest: float
    smoothness: float

    @classmethod
    def around(cls, problem: Problem, optimum: Array) -> Domain:
        """Return bounds twice as wide as they need be: what somebody who guesses well would declare."""
        radius = 2.0 * float(np.linalg.norm(optimum - problem.x0)) or 1.0
        start = np.tile(problem.x0, (len(problem.network), 1))
        L = float(problem.stack.smoothness.max())
        slopes = np.linalg.norm(problem.stack.grad(start), axis=1)
        return cls(radius, float(slopes.max()) + L * radius, L)


def clipped(vectors: Array, length: float) -> Array:
    """Return vectors (..., m), none of them longer than *length*."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors * np.minimum(1.0, length / np.maximum(norms, 1e-300)))
