"""The report of an audit: what attacks read without masks, and what is left of it with them."""

from __future__ import annotations

from tacit.auditing import AuditReport
from tacit.auditing.judging.verdict import Verdict
from tacit.report import figures
from tacit.report.figures.audit import SIGNS
from tacit.report.page import Listing, Page, Section

_TRUTH = "It shows the truth of every agent beside what attacks believe."


def audit_page(report: AuditReport) -> Page:
    """Return the page of an audit."""
    masked = report.mechanism != "none"
    game = figures.game(report)
    tables = [_beliefs(report, masked), _verdicts("Attacks without masks", report.without_masks)]
    if masked:
        tables.append(_verdicts(f"Attacks with {report.mechanism}", report.with_masks))
    return Page(
        title=f"Audit of {report.algorithm} with {report.mechanism}",
        verdict=f"{'passed' if report.passed else 'RED'}, {'private' if report.private else 'NOT PRIVATE'}",
        good=report.passed and report.private,
        statement=[report.sentence(), *report.privacy],
        sections=[
            Section("Before and after", figures=[figures.beliefs(report)], tables=tables[:1]),
            Section(
                "Every attack",
                figures=[figures.verdicts(report), *([] if game is None else [game])],
                tables=tables[1:],
                words=[f"False alarms: at most {1e4 * report.level:.1g} of 10 000 such audits."]
                if report.level
                else [],
            ),
        ],
        simulation=_TRUTH,
    )


def _beliefs(report: AuditReport, masked: bool) -> Listing:
    head = ["agent", "truth", "believed without masks", *["believed with masks"] * masked]
    rows = [row[: 3 + masked] for row in report.table()]
    return Listing("The gradient of every agent at the start", head, rows)


def _verdicts(caption: str, verdicts: list[Verdict]) -> Listing:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    rows = [(v.attack, f"{SIGNS[v.status]} {v.status}", number(v.measured), number(v.predicted), v.says)
            for v in verdicts]  # fmt: skip
    return Listing(caption, ("attack", "verdict", "measured", "predicted", "in words"), rows)
