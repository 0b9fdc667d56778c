"""Gradients read off messages, and what they say about the gradient at the public point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.unmask import unmasked
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View
from tacit.typing import Array


class GradientReading(NamedTuple):
    """∇h̃ of one agent at one point."""

    agent: int
    point: Array
    gradient: Array


def by_agent(readings: list[GradientReading]) -> dict[int, list[GradientReading]]:
    """Return the readings of each agent, in order."""
    grouped: dict[int, list[GradientReading]] = {}
    for reading in readings:
        grouped.setdefault(reading.agent, []).append(reading)
    return grouped


def estimated(readings: list[GradientReading], view: View, public: Public, *, says: str) -> Estimate:
    """Return the gradients at the public point, with known masks taken off."""
    solutions = {}
    for agent, mine in by_agent(readings).items():
        gradient = _at_point(mine, public, agent)
        if gradient is not None and agent not in view.coalition:
            solutions[agent] = gradient
    if not solutions:
        return nothing(public.unknowns)
    return unmasked(np.array(list(solutions)), np.stack(list(solutions.values())), view, public, says=says)


def _at_point(mine: list[GradientReading], public: Public, agent: int) -> Array | None:
    """Return ∇h̃ at the public point: read there, or carried there by a known or a fitted curvature."""
    at = min(mine, key=lambda reading: float(np.abs(reading.point - public.point).max()))
    away = public.point - at.point
    if not away.any():
        return at.gradient
    if public.curvatures is not None:
        return np.asarray(at.gradient + public.curvatures[agent] @ away)
    fitted = curvature(mine)
    return None if fitted is None else np.asarray(at.gradient + fitted @ away)


def curvature(mine: list[GradientReading]) -> Array | None:
    """Return the curvature that differences of one agent's gradients tell; None from too few of them.

    ∇h̃(x) − ∇h̃(y) = P (x − y): no mask on the affine part changes that.
    """
    m = len(mine[0].point)
    if len(mine) < m + 1:
        return None
    dx = np.stack([reading.point - mine[0].point for reading in mine[1:]])
    dg = np.stack([reading.gradient - mine[0].gradient for reading in mine[1:]])
    size = np.linalg.norm(dx, axis=1, keepdims=True)
    keep = size[:, 0] > 1e-6 * size.max(initial=1e-300)
    solved, _, rank, _ = np.linalg.lstsq(dx[keep] / size[keep], dg[keep] / size[keep], rcond=1e-9)
    return np.asarray((solved + solved.T) / 2) if rank == m else None
