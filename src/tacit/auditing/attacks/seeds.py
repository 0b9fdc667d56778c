"""Trying all short seeds: masks from a small generator are known once one of them is seen.

A member receives r_ic, a piece of the stream that also masks i's links to honest agents. If the stream comes from
PCG64 with a 16-bit seed, 65 536 trials find it, and with it every mask of the stream. The guess is made for one
stream of all links, and for one stream per agent, in the order of their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.likelihood import coefficients, misses_coefficients
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View, masks_of
from tacit.typing import Array

_NEAR, _CLOSE = 1e-5, 1e-9  # in units of σ: at a first glance, and for certain


@dataclass(frozen=True, slots=True)
class SeedEnumeration:
    """Try all seeds of so many bits."""

    bits: int = 16
    most: int = 1000
    """Numbers of the stream that are drawn for each seed."""
    name: str = "seed enumeration"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where there is no z, or no mask was received."""
        if not masks_of(view):
            return "the coalition received no mask"
        return misses_coefficients(view, public)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the coefficients of agents all of whose masks follow from a seed that fits."""
        honest, z = coefficients(view, public)
        owners, others = _rows(public)
        masks = self.masks(view, public)
        rows = np.full((len(owners), z.shape[1]), np.nan)
        for row, values in masks.items():
            rows[row] = values
        L = public.honest_laplacian(view.coalition)
        guess = z.copy()
        for k, i in enumerate(honest.tolist()):
            for row in np.flatnonzero((owners == i) & np.isin(others, honest)).tolist():
                back = np.flatnonzero((owners == others[row]) & (others == i))[0]
                guess[k] -= rows[back] - rows[row]  # a_i = Σ (r_ji − r_ij)
        readable = np.isfinite(guess).all(axis=1) & (np.diag(L) > 0)
        if not readable.any():
            return nothing(z.shape[1])
        return Estimate(
            agents=honest[readable],
            values=guess[readable],
            deviations=np.zeros(int(readable.sum())),
            says="a seed fits",
        )

    def masks(self, view: View, public: Public) -> dict[int, Array]:
        """Return all masks that follow from a seed which fits, by directed link."""
        owners, others = _rows(public)
        swap = masks_of(view)[0]
        width, sigma = swap.values.shape[1], float(public.sigma or 1.0)
        heard = {}  # directed link of an honest agent to a member, by row
        for a, b, values in zip(swap.senders, swap.receivers, swap.values, strict=True):
            if a not in view.coalition:
                heard[int(np.flatnonzero((owners == a) & (others == b))[0])] = values / sigma
        first = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=public.agents))])
        layouts = {"all": {row: row for row in heard}}
        layouts["each"] = {row: row - int(first[owners[row]]) for row in heard}
        if not heard:
            return {}
        if len(owners) * width > self.most:
            del layouts["all"]
        places = tuple(sorted({width * place for layout in layouts.values() for place in layout.values()}))
        numbers = _numbers(self.bits, places)
        drawn: dict[int, Array] = {}
        for kind, layout in layouts.items():
            for row, place in layout.items():
                near = np.flatnonzero(np.abs(numbers[:, places.index(place * width)] - heard[row][0]) < _NEAR)
                for seed in near.tolist():
                    stream = np.random.default_rng(seed).standard_normal((place + 1) * width)
                    if np.abs(stream[place * width :] - heard[row]).max() < _CLOSE:
                        start, stop = (0, len(owners)) if kind == "all" else first[owners[row] : owners[row] + 2]
                        whole = np.random.default_rng(seed).standard_normal((stop - start, width))
                        drawn.update({r: sigma * whole[r - start] for r in range(start, stop)})
        return drawn


@lru_cache(maxsize=1)
def _numbers(bits: int, places: tuple[int, ...]) -> NDArray[np.float32]:
    """Return the numbers at these places of the stream that every seed leads to."""
    out, wanted = np.empty((1 << bits, len(places)), dtype=np.float32), list(places)
    for seed in range(1 << bits):
        out[seed] = np.random.default_rng(seed).standard_normal(wanted[-1] + 1)[wanted]
    return out


def _rows(public: Public) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return owner and neighbour of every directed link, in the order in which agents own them."""
    i, j = public.links.T
    owners, others = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.lexsort((others, owners))
    return owners[order].astype(np.intp), others[order].astype(np.intp)
