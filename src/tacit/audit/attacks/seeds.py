"""Trying all short seeds: masks from a small generator are known once one of them is seen.

A member receives r_ic, a piece of the stream that also masks i's links to honest agents. If the stream comes from
PCG64 with a 16-bit seed, 65 536 trials find it, and with it every mask of the stream. The guess is made for one
stream of all links, and for one stream per agent, in the order of their rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.estimate import Estimate, nothing
from tacit.audit.attacks.likelihood import coefficients, misses_coefficients
from tacit.audit.public import Public
from tacit.audit.view import View
from tacit.typing import Array

_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class SeedEnumeration:
    """Try all seeds of so many bits."""

    bits: int = 16
    most: int = 4000
    """Numbers of the stream that are drawn for each seed."""
    name: str = "seed enumeration"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there is no z, or no mask was received."""
        if not view.only("swap"):
            return "the coalition received no mask"
        return misses_coefficients(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the coefficients of agents all of whose masks follow from a seed that fits."""
        honest, z = coefficients(view, public)
        owners, others = _rows(public)
        found = self._streams(view, public, owners, others)
        rows = np.full((len(owners), z.shape[1]), np.nan)
        for row, values in found.items():
            rows[row] = values
        L = public.honest_laplacian(view.coalition)
        guess = z.copy()
        for k, i in enumerate(honest.tolist()):
            for row in np.flatnonzero((owners == i) & np.isin(others, honest)).tolist():
                back = np.flatnonzero((owners == others[row]) & (others == i))[0]
                guess[k] -= rows[back] - rows[row]  # a_i = Σ (r_ji − r_ij)
        told = np.isfinite(guess).all(axis=1) & (np.diag(L) > 0)
        if not told.any():
            return nothing(z.shape[1])
        return Estimate(
            agents=honest[told], values=guess[told], deviations=np.zeros(int(told.sum())), says="a seed fits"
        )

    def _streams(
        self, view: View, public: Public, owners: NDArray[np.intp], others: NDArray[np.intp]
    ) -> dict[int, Array]:
        """Return all masks that a short seed explains, by directed link."""
        swap = view.only("swap")[0]
        width, sigma = swap.values.shape[1], float(public.sigma or 1.0)
        heard = {}  # directed link of an honest agent to a member, by row
        for a, b, values in zip(swap.senders, swap.receivers, swap.values, strict=True):
            if a not in view.coalition:
                heard[int(np.flatnonzero((owners == a) & (others == b))[0])] = values / sigma
        first = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=public.agents))])
        layouts = {"all": {row: row for row in heard}}
        layouts["each"] = {row: row - int(first[owners[row]]) for row in heard}
        reach = width * (1 + max((max(layout.values()) for layout in layouts.values() if layout), default=0))
        if reach > self.most or not heard:
            return {}
        found: dict[int, Array] = {}
        for seed in range(1 << self.bits):
            stream = np.random.default_rng(seed).standard_normal(reach)
            for kind, layout in layouts.items():
                for row, place in layout.items():
                    if abs(stream[place * width] - heard[row][0]) > _CLOSE:
                        continue
                    if np.abs(stream[place * width : (place + 1) * width] - heard[row]).max() > _CLOSE:
                        continue
                    span = (
                        range(len(owners)) if kind == "all" else range(first[owners[row]], first[owners[row] + 1])
                    )
                    whole = np.random.default_rng(seed).standard_normal(len(span) * width).reshape(len(span), width)
                    found.update({r: sigma * whole[k] for k, r in enumerate(span)})
        return found


def _rows(public: Public) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return owner and neighbour of every directed link, in the order in which agents own them."""
    i, j = public.links.T
    owners, others = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.lexsort((others, owners))
    return owners[order].astype(np.intp), others[order].astype(np.intp)
