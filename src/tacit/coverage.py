"""What masks hide of a cost, as data.

    kind     which masks: on affine parts, on quadratic costs, on components along a basis, or on sums
    parts    what of a cost they hide; none at all where the rest of the cost tells what was masked
    exact    whether the hidden part and the rest come apart to the last bit

A family of costs says what its affine part holds (`AffinePart`), a mechanism says what it hides of a cost
(`Coverage`), and that travels unchanged through the record into certificates, their JSON and their statements. Code
decides by `kind`, `parts` and `exact`; the phrases are for people, and are put together here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Literal

import msgspec

from tacit.listing import conjoined

MaskKind = Literal["affine", "quadratic", "basis", "sums"]
Part = Literal[
    "affine",  # the affine part αᵀx
    "labels",  # the labels, or whatever else enters a cost through α alone
    "curvature",  # the quadratic part
    "components",  # the components along a public basis
    "whole",  # all of it
]

SECRETS: dict[MaskKind, str] = {
    "affine": "affine part",
    "quadratic": "quadratic cost",
    "basis": "hidden component",
    "sums": "contribution",
}
"""What one agent hides under masks of each kind, in a word or two."""
MASKS: dict[MaskKind, str] = {
    "affine": "affine masks",
    "quadratic": "quadratic masks",
    "basis": "masks over a basis",
    "sums": "secret sums",
}
"""Masks of each kind, as everybody calls them."""


class AffinePart(msgspec.Struct, frozen=True):
    """What a family's affine part holds, and what stays in the open when that part is masked."""

    holds: str
    """A noun with its article, as in "the labels b"; where `parts` is empty, "nothing of …" and why."""
    open: tuple[str, ...] = ()
    """Nouns with their articles, as in "the features A"."""
    parts: tuple[Part, ...] = ("affine",)
    """Empty where α is zero, or is told by the rest of the cost."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What masks hide of a cost, or of all agents' costs, and what they leave in the open."""

    kind: MaskKind
    parts: tuple[Part, ...]
    """What is hidden of every cost concerned; empty where nothing is."""
    hidden: tuple[str, ...]
    """The same in nouns; "nothing of …" and why for a cost of which nothing is."""
    open: tuple[str, ...] = ()
    """What is not hidden, in nouns."""
    exact: bool = True
    """False where hidden and open part come from one computation, and so come apart up to rounding only."""

    @property
    def keeps_a_secret(self) -> bool:
        """Whether anything is hidden."""
        return bool(self.parts)

    @property
    def secret(self) -> str:
        """What one agent hides, in a word or two."""
        return SECRETS[self.kind]

    def hides(self, part: Part) -> bool:
        """Tell whether *part* is hidden, by itself or with all the rest."""
        return part in self.parts or "whole" in self.parts

    def __str__(self) -> str:
        hidden = conjoined(self.hidden)
        return f"{hidden}; in the open: {conjoined(self.open)}" if self.open else hidden


GENERAL: dict[MaskKind, Coverage] = {
    "affine": Coverage(
        kind="affine", parts=("affine",), hidden=("affine parts",), open=("the curved parts of the costs",)
    ),
    "quadratic": Coverage(
        kind="quadratic",
        parts=("affine", "labels", "curvature"),
        hidden=("quadratic costs",),
        open=("penalties and limits",),
    ),
    "basis": Coverage(
        kind="basis",
        parts=("components",),
        hidden=("components along a public basis",),
        open=("what lies beside the basis",),
    ),
    "sums": Coverage(kind="sums", parts=("whole",), hidden=("whole costs",)),
}
"""What masks of each kind hide of any cost: for guarantees that are made without a run."""


def together(coverages: Iterable[Coverage]) -> Coverage:
    """Return what masks of one kind hide of several costs: the parts that are hidden of each."""
    return reduce(_both, coverages)


def _both(one: Coverage, other: Coverage) -> Coverage:
    if one == other:
        return one
    if one.keeps_a_secret and other.keeps_a_secret:
        parts = tuple(p for p in dict.fromkeys((*one.parts, *other.parts)) if one.hides(p) and other.hides(p))
    else:
        parts = ()
    return Coverage(
        kind=one.kind,
        parts=parts,
        hidden=tuple(dict.fromkeys((*one.hidden, *other.hidden))),
        open=tuple(dict.fromkeys((*one.open, *other.open))),
        exact=one.exact and other.exact,
    )
