"""The report of a member of a federation: the answer, its model's table, and what was hidden of it."""

from __future__ import annotations

from tacit.learning.reporting import MemberReport
from tacit.report import figures
from tacit.report.page import Listing, Page, Section
from tacit.report.pages.certificate import certificate_sections
from tacit.report.pages.fit import coefficients_section
from tacit.report.pages.links import links_section


def member_page(report: MemberReport) -> Page:
    """Return the page of what a member is told."""
    verdict, private = report.outcome.verdict, report.privacy.is_private
    certificate = report.privacy.certificate
    answer = [(f"x{k}", f"{value:.10g}") for k, value in enumerate(report.outcome.x.tolist())]
    sections = [] if report.table is None else [coefficients_section(report.table)]
    if report.table is None:
        sections.append(
            Section("The answer", tables=[Listing("What all members end with", ("unknown", "value"), answer)])
        )
    sections.append(
        Section("How the members agreed", figures=[figures.looks(report.outcome.history, str(verdict.status))])
    )
    hidden = [] if certificate is None else certificate_sections(certificate)
    return Page(
        title=f"Run {report.session[:12]}" if report.table is None else report.table.model,
        verdict=f"{verdict.status}, {'private' if private else 'NOT PRIVATE'}",
        good=report.converged and private,
        statement=[verdict.sentence, *report.privacy.lines],
        sections=[*sections, *links_section(report.links), *hidden],
    )
