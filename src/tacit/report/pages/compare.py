"""The report of a comparison, and of a race."""

from __future__ import annotations

from tacit.comparing import ComparisonReport, Race
from tacit.report import figures
from tacit.report.page import Listing, Page, Section


def comparison_page(comparison: ComparisonReport) -> Page:
    """Return the page of a comparison."""
    ran = [row for row in comparison.rows if row.missing is None]
    return Page(
        title=comparison.title,
        verdict=f"{len(ran)} approaches compared",
        good=True,
        statement=[comparison.sentence()],
        sections=[
            Section(
                "Side by side",
                figures=[figures.compared(comparison)],
                tables=[Listing("Every approach", comparison.headings(), comparison.table())],
            ),
            Section("How to read it", words=comparison.notes()),
        ],
    )


def race_page(race: Race) -> Page:
    """Return the page of a race."""
    return Page(
        title=race.title,
        verdict=f"{sum(bool(runner.errors) for runner in race.runners)} algorithms ran",
        good=True,
        statement=[race.sentence()],
        sections=[
            Section(
                "Side by side",
                figures=[figures.raced(race)],
                tables=[Listing("What each takes", race.headings(), race.table())],
            ),
            Section("How to read it", words=race.notes()),
        ],
    )
