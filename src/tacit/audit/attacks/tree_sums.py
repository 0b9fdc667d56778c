"""Partial sums on a spanning tree: a parent reads whatever a leaf adds up, unless it is masked.

    up: v_i of a leaf i as it is;   with secret sums: k_i + a_i modulo 2⁶⁴, of which the parent knows r_ci − r_ic

Only if all neighbours of the leaf are in the coalition is the word what it was before it was masked. Where all
masked words are published, the same is tried for every honest agent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.estimate import Estimate, nothing
from tacit.audit.attacks.unmask import unmasked
from tacit.audit.public import Public
from tacit.audit.view import View
from tacit.typing import Array, Words


@dataclass(frozen=True, slots=True)
class TreeSums:
    """Read what every leaf below a member adds up; with published words, what everybody does."""

    name: str = "tree sums"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nothing is added up."""
        if public.algorithm not in ("direct", "newton", "lbfgs", "fista"):
            return "nothing is added up over a tree"
        return "sums have two words" if public.words > 1 else None

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
        spread = np.where(degrees[agents] > 0, public.step * 2.0**64 / np.sqrt(12.0), 0.0)
        values = raw.view(np.int64).astype(np.float64) * public.step
        return Estimate(agents=agents, values=values, deviations=spread, says=says)

    def contributions(self, view: View, public: Public) -> tuple[NDArray[np.intp], Array | Words]:
        """Return who added up what, as it is: numbers, or words with the known masks taken off."""
        place = 1 if public.algorithm == "fista" else 0  # whose first sum is of step sizes
        columns = (
            slice(0, public.unknowns) if public.algorithm in ("direct", "fista") else slice(1, 1 + public.unknowns)
        )
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
        if raw.dtype.kind == "u":
            raw = raw - _known(view, public, place, raw.shape[1])[agents]
        return agents, raw[:, columns]


def _known(view: View, public: Public, place: int, width: int) -> Words:
    """Return the masks of one sum that the coalition knows, as words, for every agent."""
    known = np.zeros((public.agents, width), dtype=np.uint64)
    swaps = [k for k, exchange in enumerate(view.exchanges) if exchange.kind == "swap"]
    if len(swaps) <= place:
        return known
    pieces = [view.exchanges[swaps[place]]]
    for exchange in view.exchanges[swaps[place] + 1 :]:
        if exchange.kind != "more":
            break
        pieces.append(exchange)
    values = np.concatenate([piece.values for piece in pieces], axis=1)
    np.add.at(known, pieces[0].receivers, values)
    np.subtract.at(known, pieces[0].senders, values)
    return known


def _leaves(public: Public) -> NDArray[np.intp]:
    """Return the agents that nobody hangs below, in the tree that agents build: nearest first, then smallest."""
    network = public.network
    away = {0: 0}
    queue = [0]
    for i in queue:
        for j in network.neighbours(i):
            if int(j) not in away:
                away[int(j)] = away[i] + 1
                queue.append(int(j))
    parents = {
        min(int(j) for j in network.neighbours(i) if away[int(j)] < away[i]) for i in range(public.agents) if i
    }
    return np.array([i for i in range(public.agents) if i not in parents], dtype=np.intp)
