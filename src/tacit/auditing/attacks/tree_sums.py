"""Partial sums on a spanning tree: a parent reads whatever a leaf adds up, unless it is masked.

    up: v_i of a leaf i as it is;   with secret sums: k_i + a_i modulo 2⁶⁴, of which the parent knows r_ci − r_ic

Only if all neighbours of the leaf are in the coalition is the word what it was before it was masked. Where all
masked words are published, the same is tried for every honest agent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.unmask import unmasked
from tacit.auditing.attacks.words import as_numbers, minus, plus
from tacit.auditing.public import Public
from tacit.auditing.tree import parents_and_depths
from tacit.auditing.view import View, masks_of
from tacit.typing import Array, Words


@dataclass(frozen=True, slots=True)
class TreeSums:
    """Read what every leaf below a member adds up; with published words, what everybody does."""

    name: str = "tree sums"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nothing is added up."""
        if public.algorithm not in ("direct", "newton", "lbfgs", "fista"):
            return "nothing is added up over a tree"
        return None

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients that sums hold, at the starting point (of 'direct': at the origin)."""
        agents, raw = self.contributions(view, public)
        if not len(agents):
            return nothing(public.unknowns)
        says = "read where the tree adds up"
        if raw.dtype.kind != "u":
            return unmasked(agents, np.asarray(raw, dtype=np.float64), view, public, says=says)
        degrees = np.zeros(public.agents)
        degrees[public.honest(view.coalition)] = np.diag(public.honest_laplacian(view.coalition))
        spread = np.where(degrees[agents] > 0, public.step * 2.0 ** (64 * public.words) / np.sqrt(12.0), 0.0)
        values = as_numbers(np.asarray(raw, dtype=np.uint64), public.words) * public.step
        return Estimate(agents=agents, values=values, deviations=spread, says=says)

    def contributions(
        self, view: View, public: Public, *, later: int = 0
    ) -> tuple[NDArray[np.intp], Array | Words]:
        """Return who added up what, as it is: numbers, or words with the known masks taken off.

        That is the first sum that holds gradients, or one of those *later* in the run.
        """
        place = later + (public.algorithm == "fista")  # whose first sum is of step sizes
        first = 0 if public.algorithm in ("direct", "fista") else 1
        columns = slice(first, first + public.unknowns)
        published = view.published.words if view.published is not None else []
        if len(published) > place:
            agents = public.honest(view.coalition)
            raw = published[place][agents]
        else:
            ups = view.only("up")
            if len(ups) <= place:
                return np.empty(0, dtype=np.intp), np.empty((0, public.unknowns))
            leaf = np.isin(ups[place].senders, _leaves(public)) & ~np.isin(ups[place].senders, view.coalition)
            agents, raw = ups[place].senders[leaf].astype(np.intp), ups[place].values[leaf]
        if raw.dtype.kind != "u":
            return agents, raw[:, columns]
        told = minus(raw, _known(view, public, place, raw.shape[1])[agents], public.words)
        return agents, told[:, columns.start * public.words : columns.stop * public.words]


def _known(view: View, public: Public, place: int, width: int) -> Words:
    """Return the masks of one sum that the coalition knows, as words, for every agent."""
    known = np.zeros((public.agents, width), dtype=np.uint64)
    sums = masks_of(view)
    if len(sums) > place:
        for i, j, values in zip(sums[place].senders, sums[place].receivers, sums[place].values, strict=True):
            known[j] = plus(known[j], values, public.words)
            known[i] = minus(known[i], values, public.words)
    return known


def _leaves(public: Public) -> NDArray[np.intp]:
    """Return the agents that nobody hangs below."""
    parents, _ = parents_and_depths(public.network)
    return np.setdiff1d(np.arange(public.agents), parents).astype(np.intp)
