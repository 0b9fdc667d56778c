"""The observability attack: far-away agents, read through their neighbours.

With known curvatures the whole run is linear in what is not known, q = (∇h_i(x₀))_i:

    y = O q + what x₀ alone causes

Stack all that the coalition saw into y; run the public algorithm on unit vectors for the columns of O; solve.
Agent i is exposed where e_i lies in the row space of O. One corrupted agent is usually enough: random 6-regular
networks of 64, Florence's fifteen families. (A relative, for slowly varying gradients: El Mrini, Cyffers, Bellet,
ICML 2024. This one is exact, because costs stay the same and their curvature is known.)

Behind masks the same equations give α̃, and the known masks come off: what is left is N(α, 2σ²L_H).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.heard import gossip_of
from tacit.auditing.attacks.imagined import Imagined
from tacit.auditing.attacks.rehearsal import Heard, Opaque, directed, is_linear, rehearse
from tacit.auditing.attacks.unmask import deviations, unmasked
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Exchange, View, masks_of
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
        if public.algorithm is None or not gossip_of(view, public):
            return "nobody gossips: sums are attacked by themselves"
        if public.mechanism not in ("none", "affine"):
            return "curvatures are masked, and with them the run is not linear in what is not known"
        if public.rough:
            return "proximal steps are not linear in what is not known"
        if public.curvatures is None:
            return "the curvatures are not known"
        P = _curvatures(public)
        if public.agents * P.shape[-1] > self.largest:
            return "too many unknowns"
        try:
            if not is_linear(public, P):
                return "the run is not linear in what is not known"
            if not _follows(gossip_of(view, public), view, public):
                return "what was said is not what the algorithm says"
        except Opaque as error:
            return str(error)
        return None

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return every honest agent's gradient that the equations determine."""
        P, m = np.asarray(public.curvatures), public.unknowns
        n, honest = public.agents, public.honest(view.coalition)
        seen = [Seen.of(exchange, view, public) for exchange in gossip_of(view, public)[: self.exchanges or 3 * n]]
        seen = seen[: next((k for k, each in enumerate(seen) if not len(each.rows)), len(seen))]
        if not seen or not len(honest):
            return nothing(m)
        base = rehearse(public, Imagined(P, _members(view, public)), public.start, len(seen))
        rest = [each.values - run.values[each.rows] for each, run in zip(seen, base, strict=False)]
        plain = all(each[0].shape == (m,) for each in rest)  # one vector in every message
        P_each = _curvatures(public) if plain else P
        width = P_each.shape[-1]  # unknowns that mix, of every agent
        count = len(honest) * width
        enough = len(rest) if width == 1 else min(len(rest), max(2, 4 * count // rest[0].size))
        operator = (_operator if plain else _one_by_one)(public, P_each, honest, seen[:enough])
        y = np.concatenate([each.reshape(-1, m // width) for each in rest[:enough]])
        solved, error = _solved(operator, y)
        q, error = solved.reshape(len(honest), m), error.reshape(len(honest), width).max(axis=1)
        gradient = q + np.matvec(P[honest], public.point)
        recovered = np.flatnonzero(error < np.inf)
        masked = deviations(view, public)[honest]
        estimate = unmasked(honest, gradient, view, public, says="the run is linear in what is not known: solved")
        sure = np.sqrt(masked**2 + np.where(np.isfinite(error), error, 0.0) ** 2)
        return Estimate(
            agents=honest[recovered],
            values=estimate.values[recovered],
            deviations=sure[recovered],
            says=estimate.says,
        )


def _follows(heard: Sequence[Exchange], view: View, public: Public) -> bool:
    """Tell whether what was heard at the beginning is of the kind and the size that the algorithm says."""
    P = np.asarray(public.curvatures)
    run = rehearse(public, Imagined(P, _members(view, public)), public.start, min(len(heard), 8))
    return all(
        exchange.kind == each.kind and exchange.values.shape[1:] == each.values.shape[1:]
        for exchange, each in zip(heard, run, strict=False)
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """What honest agents said to members in one exchange, and which rows of all that was said this is."""

    rows: NDArray[np.intp]
    values: Array

    @classmethod
    def of(cls, exchange: Exchange, view: View, public: Public) -> Seen:
        """Return every message once."""
        honest = np.flatnonzero(~np.isin(exchange.senders, view.coalition))
        if exchange.kind in ("swap", "more"):
            ends = [tuple(pair) for pair in directed(public).tolist()]
            pairs = zip(exchange.senders[honest].tolist(), exchange.receivers[honest].tolist(), strict=True)
            return cls(np.array([ends.index(pair) for pair in pairs], dtype=np.intp), exchange.values[honest])
        rows, first = np.unique(exchange.senders[honest], return_index=True)
        return cls(rows.astype(np.intp), exchange.values[honest][first])


def _operator(public: Public, P: Array, honest: NDArray[np.intp], seen: Sequence[Seen]) -> Array:
    """Return what a unit of every honest unknown does to everything that was seen: run the algorithm on each."""
    n, width = len(P), P.shape[-1]
    count = len(honest) * width
    unit = np.zeros((n, count, width))
    unit[np.repeat(honest, width), np.arange(count), np.tile(np.arange(width), len(honest))] = 1.0
    run = rehearse(public, Imagined(P, unit.reshape(n, -1)), np.zeros(count * width), len(seen))
    return np.concatenate([_columns(each, heard, count, width) for each, heard in zip(seen, run, strict=True)])


def _one_by_one(public: Public, P: Array, honest: NDArray[np.intp], seen: Sequence[Seen]) -> Array:
    """Do as `_operator` does, whatever messages are made of: one run for every unknown."""
    n, width = len(P), P.shape[-1]
    columns = []
    for place in range(len(honest) * width):
        unit = np.zeros((n, width))
        unit[honest[place // width], place % width] = 1.0
        run = rehearse(public, Imagined(P, unit), np.zeros(width), len(seen))
        parts = [heard.values[each.rows].ravel() for each, heard in zip(seen, run, strict=True)]
        columns.append(np.concatenate(parts))
    return np.stack(columns, axis=1)


def _columns(seen: Seen, heard: Heard, count: int, width: int) -> Array:
    values = heard.values[seen.rows].reshape(len(seen.rows), count, width)
    return np.asarray(values.swapaxes(1, 2).reshape(-1, count))


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


def _curvatures(public: Public) -> Array:
    """Return every agent's curvature; where all are multiples of the identity, unknowns do not mix: (n, 1, 1)."""
    P = np.asarray(public.curvatures)
    alike = np.array_equal(P, P[:, :1, :1] * np.eye(P.shape[-1]))
    return np.asarray(P[:, :1, :1] if alike else P)
