"""A report as data: the statement first, then sections with a picture, a table or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of cells under a head; what they are, as caption."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """One heading, and what stands below it."""

    heading: str
    figures: Sequence[go.Figure] = ()
    tables: Sequence[Listing] = ()
    words: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One report."""

    title: str
    verdict: str
    """What happened, in a word or two."""
    good: bool
    """Whether that is what one hopes for."""
    statement: Sequence[str]
    """What may be relied on, in sentences: what a reader must see first."""
    sections: Sequence[Section] = field(default=())
    simulation: str = ""
    """Why this page may not leave the house: it holds what only whoever simulates may see. Empty if it may."""
