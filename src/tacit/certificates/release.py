"""One run, as far as others could see it: who took part, over which links, behind which masks, with which data.

A run is known by what was released. `draw` says which masks it used, by the name of the run that first used them,
and so does `key`, a one-way digest of the key that they were drawn from, where it is known. The same manifest run
again with fresh masks is another release; the same masks for the same costs are the same one.

`versions` say which state of its data an agent brought. Agents that say nothing count as unchanged: see
`certificates.history`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from tacit.coverage import MaskKind
from tacit.differential import AnswerGuarantee
from tacit.errors import GraphError, MaskError
from tacit.later import later
from tacit.spelling import did_you_mean

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

_SHOWN = ("participants", "links", "sigmas", "link_scales", "basis", "cost_version", "versions")

LETTERS = 16
WHOLE = "all records"
"""The part of the data that is a table of records with all its columns: so it begins, and names them."""
COLUMN, PAIR = "column ", "columns "
NUMBER = "number of records"
BASES: tuple[str, ...] = get_args(MaskKind)
"""What may have been masked."""
Version = tuple[str, str, str]
"""An agent, a part of its data ("" for all of them), and which state of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One run, as far as others could see it. Agents' names are strings."""

    run: str
    participants: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    sigmas: tuple[float, ...]
    """σ of the masks, one or one per basis function; none for secret sums, whose masks are uniform."""
    basis: str = "affine"
    cost_version: str = "1"
    """What the budget counts; and where the owner's `versions` say nothing, the version of the owner's data."""
    masks: str = ""
    """Names the earlier run whose masks are used again on purpose; empty for fresh ones."""
    link_scales: tuple[tuple[str, str, float], ...] = ()
    """Links whose σ is multiplied by a factor of their own."""
    versions: tuple[Version, ...] = ()
    """Which state of its data an agent brought, whole or column by column."""
    records: tuple[tuple[str, str], ...] = ()
    """Agents whose single records are known, by digests of 16 letters each, one after the other."""
    changed: tuple[str, ...] = ()
    """Agents who have said that their data are others than in their last run, and not which."""
    key: str = ""
    """A one-way digest of the key of this agent's masks; empty where nobody knows it."""
    answer: AnswerGuarantee | None = None
    """What held of the answer, where noise shares made it differentially private; None where it was exact."""

    @classmethod
    def of(
        cls,
        run: str,
        graph: nx.Graph[Any],
        *,
        sigma: float | Sequence[float],
        link_scales: Mapping[tuple[Any, Any], float] | None = None,
        versions: Mapping[Any, str] | Iterable[Version] = (),
        changed: Iterable[Any] = (),
        records: Iterable[tuple[str, str]] = (),
        answer: AnswerGuarantee | None = None,
        **more: str,
    ) -> Release:
        """Return the release of a run over *graph*; *sigma* is infinite for secret sums.

        *versions* is one word per agent, or one per agent and part of its data; *changed* are agents who say no
        more than that their data are others than before. *answer* is what held of a noisy answer.
        """
        named = [(str(a), str(b), float(scale)) for (a, b), scale in (link_scales or {}).items()]
        scales = tuple(sorted((min(a, b), max(a, b), scale) for a, b, scale in named))
        sigmas = tuple(np.atleast_1d(np.asarray(sigma, dtype=np.float64)).tolist())
        if not sigmas or not all(s > 0 for s in sigmas) or (math.inf in sigmas and len(set(sigmas)) > 1):
            raise MaskError(
                "sigma must be one positive number, one per basis function, or infinity for secret sums."
            )
        basis = more.get("basis", "affine")
        if basis not in BASES:
            raise MaskError(f"basis = {basis!r} must be one of {', '.join(BASES)}.{did_you_mean(basis, BASES)}")
        sigmas = () if math.inf in sigmas else sigmas
        if sigmas and basis == "sums":
            raise MaskError(
                "secret sums have no sigma, as their masks are uniform: leave it out, or name another basis."
            )
        if not sigmas and more.get("masks"):
            raise MaskError(
                "masks of a secret sum are never used again: two sums under one mask tell their difference."
            )
        links = tuple(sorted((min(a, b), max(a, b)) for a, b in ((str(a), str(b)) for a, b in graph.edges())))
        participants = tuple(sorted(str(a) for a in graph))
        changed = tuple(sorted(map(str, changed)))
        stranger = next((name for name in changed if name not in participants), None)
        if stranger is not None:
            meant = did_you_mean(stranger, participants)
            raise GraphError(
                f"{stranger} is said to have changed, and no agent of run {run} is called that.{meant}"
            )
        if isinstance(versions, Mapping):
            versions = [(str(agent), "", str(version)) for agent, version in versions.items()]
        return cls(
            run=run, participants=participants, links=links, sigmas=sigmas, link_scales=scales,
            versions=tuple(sorted(versions)), changed=changed,
            records=tuple(sorted(records)), answer=answer, **more,
        )  # fmt: skip

    @property
    def draw(self) -> str:
        """The name of the draw of masks."""
        return self.masks or self.run

    def graph(self) -> nx.Graph[str]:
        """Return the communication graph."""
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.participants)
        graph.add_edges_from(self.links)
        return graph

    def without(self, left: Iterable[str], *, run: str) -> Release:
        """Return how the run goes on, with the masks that it has, when these agents have *left*."""
        gone = set(left)
        return replace(
            self,
            run=run,
            masks=self.draw,
            participants=tuple(a for a in self.participants if a not in gone),
            links=tuple(link for link in self.links if not gone & set(link)),
            link_scales=tuple(scale for scale in self.link_scales if not gone & set(scale[:2])),
            versions=tuple(version for version in self.versions if version[0] not in gone),
            records=tuple(listing for listing in self.records if listing[0] not in gone),
        )

    def held(self, agent: str) -> Counter[str] | None:
        """Return how often each record was among an agent's; None where they are not known one by one."""
        text = next((text for name, text in self.records if name == agent), None)
        return None if text is None else Counter(text[k : k + LETTERS] for k in range(0, len(text), LETTERS))

    def same_masks(self, other: Release) -> bool:
        """Whether both runs used the same draw of masks."""
        return self.draw == other.draw or (self.key != "" and self.key == other.key)

    def same_view(self, other: Release) -> bool:
        """Whether both runs, with the same masks, show the same numbers."""
        return all(getattr(self, name) == getattr(other, name) for name in _SHOWN)


def reused_masks(releases: Iterable[Release], new: Release, *, left: Iterable[str] = ()) -> Release | None:
    """Return an earlier release whose masks *new* would use again for something else.

    To go on without those who have *left*, with their terms cancelled, is nothing else.
    """
    gone = tuple(left)
    return next(
        (
            old
            for old in releases
            if old.same_masks(new) and not old.same_view(new) and not old.without(gone, run="").same_view(new)
        ),
        None,
    )


def exact(releases: Iterable[Release]) -> list[Release]:
    """Return the releases whose sums were told as they are: those with noise shares tell nothing by subtraction."""
    return [release for release in releases if release.answer is None]


def is_repeated(releases: Iterable[Release], new: Release) -> bool:
    """Whether *new* shows exactly what an earlier release showed: same costs, same masks."""
    known = bool(new.masks or new.key)
    return known and any(old.same_masks(new) and old.same_view(new) for old in releases)
