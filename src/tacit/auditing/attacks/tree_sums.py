"""Partial sums on a spanning tree: a parent reads whatever a leaf adds up, unless it is masked.

    up: v_i of a leaf i as it is;   with secret sums: k_i + a_i modulo 2⁶⁴, of which the parent knows r_ci − r_ic

Only if all neighbours of the leaf are in the coalition is the word what it was before it was masked. Where all
masked words are published, the same is tried for every honest agent.

What the numbers of a sum are is not written down here: the algorithm runs once more, with the totals that everybody
knows and with gradients that are moved one by one, and the sums show where they went.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.attacks.contents import Contents, contents_of
from tacit.auditing.attacks.estimate import Estimate, nothing
from tacit.auditing.attacks.heard import totals
from tacit.auditing.attacks.modular import as_numbers, minus, plus
from tacit.auditing.attacks.readings import GradientReading, estimated
from tacit.auditing.attacks.rehearsal import Opaque
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View, masks_of
from tacit.typing import Array, Words

_SUMS = 8  # looked at, one after the other, for one that holds gradients
_SAYS = "read where the tree adds up"


@dataclass(frozen=True, slots=True)
class TreeSums:
    """Read what every leaf below a member adds up; with published words, what everybody does."""

    name: str = "tree sums"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nothing is added up, or what is added up has no gradient in it."""
        if public.algorithm is None or not totals(view, public):
            return "nothing is added up over a tree"
        try:
            return None if self._place(view, public) is not None else "no gradient is added up as it is"
        except Opaque as error:
            return str(error)

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients that sums hold, at the public point or as near to it as they are taken."""
        located = self._place(view, public)
        if located is None:
            return nothing(public.unknowns)
        place, contents = located
        agents, raw = contributions(view, public, place)
        if not len(agents):
            return nothing(public.unknowns)
        if raw.dtype.kind != "u":
            numbers = np.asarray(raw, dtype=np.float64)
            readings = [
                GradientReading(int(agent), point, gradient)
                for agent, row in zip(agents, numbers, strict=True)
                for point, gradient in contents.gradients(row)
            ]
            return estimated(readings, view, public, says=_SAYS)
        numbers = as_numbers(np.asarray(raw, dtype=np.uint64), public.words) * public.step
        values = np.stack([contents.nearest(row, public.point) for row in numbers])
        degrees = np.zeros(public.agents)
        degrees[public.honest(view.coalition)] = np.diag(public.honest_laplacian(view.coalition))
        spread = np.where(degrees[agents] > 0, public.step * 2.0 ** (64 * public.words) / np.sqrt(12.0), 0.0)
        return Estimate(agents=agents, values=values, deviations=spread, says=_SAYS)

    def contributions(
        self, view: View, public: Public, *, later: int = 0
    ) -> tuple[NDArray[np.intp], Array | Words]:
        """Return who added up what in a sum of as many numbers as there are unknowns, where no algorithm runs."""
        agents, raw = contributions(view, public, later)
        return agents, raw[:, : public.unknowns * (public.words if raw.dtype.kind == "u" else 1)]

    def _place(self, view: View, public: Public) -> tuple[int, Contents] | None:
        """Return the first sum that holds a whole gradient, and where in it."""
        known = totals(view, public)
        if public.algorithm is None:
            return None
        for place in range(min(_SUMS, len(known))):
            contents = contents_of(public.algorithm, public.start, known[:place], width=known[place].size)
            if contents is not None:
                return place, contents
        return None


def contributions(view: View, public: Public, place: int) -> tuple[NDArray[np.intp], Array | Words]:
    """Return who added up what in one sum, as it is: numbers, or words with the known masks taken off."""
    published = view.published.words if view.published is not None else []
    if len(published) > place:
        agents = public.honest(view.coalition)
        raw = published[place][agents]
    else:
        ups = view.only("up")
        if len(ups) <= place:
            return np.empty(0, dtype=np.intp), np.empty((0, public.unknowns))
        up = ups[place]
        if up.values.dtype.kind != "u":
            return _singled_out(view, public, place)
        leaf = np.isin(up.senders, _leaves(public)) & ~np.isin(up.senders, view.coalition)
        agents, raw = up.senders[leaf].astype(np.intp), up.values[leaf]
    if raw.dtype.kind != "u":
        return agents, raw
    return agents, minus(raw, _known(view, public, place, raw.shape[1])[agents], public.words)


def _singled_out(view: View, public: Public, place: int) -> tuple[NDArray[np.intp], Array]:
    """Return the honest agents whose own numbers follow from the partial sums that members hear, and the total.

    A leaf below a member is one; so is who stands between members on the tree, and whoever is left over.
    """
    up, down = view.only("up")[place], view.only("down")[place]
    tree = public.network.tree
    below = np.eye(public.agents)  # whom a partial sum is over
    for i in np.argsort(-tree.depths, kind="stable"):
        if i != tree.root:
            below[tree.parents[i]] += below[i]
    sent = dict(zip(up.senders.tolist(), up.values, strict=True)) | {tree.root: down.values[0]}
    rows = np.stack([below[i] for i in sent])
    values = np.stack(list(sent.values()))
    inverse = np.linalg.pinv(rows)
    honest = public.honest(view.coalition)
    exact = np.abs(inverse @ rows - np.eye(public.agents)).max(axis=1) < 1e-9
    agents = honest[exact[honest]]
    return agents, np.asarray((inverse @ values)[agents])


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
    return np.setdiff1d(np.arange(public.agents), public.network.tree.parents).astype(np.intp)
