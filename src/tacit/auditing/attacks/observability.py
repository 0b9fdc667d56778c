"""The observability attack: far-away agents, read through their neighbours.

With known curvatures the whole run is linear in what is not known, q = (∇h_i(x₀))_i:

    y = O q + what x₀ alone causes

Stack all that the coalition saw into y; run the public algorithm once per unknown for the columns of O; solve.
Agent i is exposed where e_i lies in the row space of O. One corrupted agent is usually enough: random 6-regular
networks of 64, Florence's fifteen families. (A relative, for slowly varying gradients: El Mrini, Cyffers, Bellet,
ICML 2024. This one is exact, because costs stay the same and their curvature is known.)

Behind masks the same equations give α̃, and the known masks come off: what is left is N(α, 2σ²L_H).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.rules import follows, messages
from tacit.auditing.attacks.unmask import deviations, unmasked
from tacit.auditing.public import Public
from tacit.auditing.view import Exchange, View, masks_of, received
from tacit.typing import Array

_ROUNDING = 3e-16


@dataclass(frozen=True, slots=True)
class Observability:
    """Solve for everybody's gradient from the first *exchanges* of gossip (3n unless given)."""

    exchanges: int | None = None
    largest: int = 600
    """Unknowns up to which the equations are set up."""
    name: str = "observability"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where the run is not linear in what is not known, or too large."""
        if not follows(public.algorithm):
            return f"the algorithm is {public.algorithm}"
        if public.mechanism not in ("none", "affine") or public.rough:
            return "the run is not linear in what is not known"
        if public.curvatures is None:
            return "the curvatures are not known"
        width = 1 if _alike(public.curvatures) else public.unknowns
        return None if public.agents * width <= self.largest else "too many unknowns"

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return every honest agent's gradient that the equations determine."""
        P = np.asarray(public.curvatures)
        n, m, honest = public.agents, public.unknowns, public.honest(view.coalition)
        seen = [_heard(exchange, view) for exchange in view.only("mix", "gather")[: self.exchanges or 3 * n]]
        if not seen or not len(honest):
            return nothing(m)
        base = messages(public, public.start[None, :, None], P, _members(view, public)[..., None], len(seen))
        rest = [values - base[k][senders, :, 0] for k, (senders, values) in enumerate(seen)]
        if _alike(P):
            columns = messages(public, np.zeros((1, 1, 1)), P[:, :1, :1], np.eye(n)[:, None, honest], len(seen))
            operator = np.concatenate([columns[k][senders, 0] for k, (senders, _) in enumerate(seen)])
            q, error = _solved(operator, np.concatenate(rest))
        else:
            unit = np.eye(n * m).reshape(n, m, n, m)[:, :, honest].reshape(n, m, -1)
            enough = max(2, 4 * unit.shape[2] // (m * len(seen[0][0])))
            columns = messages(public, np.zeros((1, 1, 1)), P, unit, min(enough, len(seen)))
            rows = [
                each[senders].reshape(-1, unit.shape[2]) for each, (senders, _) in zip(columns, seen, strict=False)
            ]
            solved, error = _solved(np.concatenate(rows), np.concatenate(rest[: len(rows)]).reshape(-1, 1))
            q, error = solved.reshape(len(honest), m), error.reshape(len(honest), m).max(axis=1)
        gradient = q + np.matvec(P[honest], public.point)
        told = np.flatnonzero(error < np.inf)
        masked = deviations(view, public)[honest]
        estimate = unmasked(honest, gradient, view, public, says="the run is linear in what is not known: solved")
        sure = np.sqrt(masked**2 + np.where(np.isfinite(error), error, 0.0) ** 2)
        return Estimate(
            agents=honest[told], values=estimate.values[told], deviations=sure[told], says=estimate.says
        )


def _heard(exchange: Exchange, view: View) -> tuple[NDArray[np.intp], Array]:
    """Return the honest agents that were heard in one exchange, each once, and what they said."""
    said = {agent: values for agent, values in received(exchange).items() if agent not in view.coalition}
    return np.array(sorted(said), dtype=np.intp), np.stack([said[agent] for agent in sorted(said)])


def _members(view: View, public: Public) -> Array:
    """Return the members' effective coefficients q, of gradients P x + q: they know their costs and their masks."""
    q = np.zeros((public.agents, public.unknowns))
    q[view.coalition] = view.own.gradients - np.matvec(view.own.curvatures, public.point)
    if public.mechanism == "affine":
        for exchange in masks_of(view)[:1]:
            np.add.at(q, exchange.receivers, exchange.values)
            np.subtract.at(q, exchange.senders, exchange.values)
    q[public.honest(view.coalition)] = 0.0
    return q


def _solved(operator: Array, y: Array) -> tuple[Array, Array]:
    """Return the least-squares solution, and the rounding error of each unknown: ∞ where it is not determined."""
    size = np.linalg.norm(operator, axis=0)
    unheard = size == 0.0  # too far away for any message to have come from there
    if unheard.all():
        return np.zeros((operator.shape[1], y.shape[1])), np.full(operator.shape[1], np.inf)
    size[unheard] = 1.0
    U, s, Vt = np.linalg.svd(operator / size, full_matrices=False)
    noise = _ROUNDING * np.sqrt(len(operator)) * max(float(np.abs(y).max()), 1e-300)
    kept = s > 1e-14 * s[0] * np.sqrt(len(operator))
    q = (Vt[kept].T @ ((U[:, kept].T @ y) / s[kept, None])) / size[:, None]
    resolved = (Vt[kept] ** 2).sum(axis=0)
    error = noise * np.sqrt(((Vt[kept] / s[kept, None]) ** 2).sum(axis=0)) / size
    return q, np.where((resolved > 1.0 - 1e-6) & ~unheard, error, np.inf)


def _alike(P: Array) -> bool:
    """Tell whether every agent's curvature is a multiple of the identity: then unknowns do not mix."""
    m = P.shape[-1]
    return bool(np.array_equal(P, P[:, :1, :1] * np.eye(m)))
