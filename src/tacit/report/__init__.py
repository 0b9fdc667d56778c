"""Records and certificates as figures, reports and pages; it computes nothing that others have not computed."""

from __future__ import annotations

import typing as _typing
from pathlib import Path as _Path

from tacit.report import figures, html
from tacit.report.displays import CoefficientsDisplay, ConvergenceDisplay
from tacit.report.page import Listing, Page, Section
from tacit.report.pages import page_of
from tacit.report.saving import save
from tacit.report.style import dark

__all__ = [
    "CoefficientsDisplay",
    "ConvergenceDisplay",
    "Listing",
    "Page",
    "Section",
    "dark",
    "figures",
    "fragment",
    "page_of",
    "save",
    "write",
]


def write(result: _typing.Any, path: str | _Path, **context: _typing.Any) -> _Path:
    """Write a self-contained report of *result* to a new file: what `answer.report("run.html")` does."""
    return html.write(page_of(result, **context), path)


def fragment(result: _typing.Any) -> str:
    """Return *result* as HTML for a notebook's cell: the statement and the tables."""
    return html.fragment(page_of(result))
