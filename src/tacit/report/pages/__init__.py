"""From a result to its page: one function per kind of result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacit.auditing import AuditReport
from tacit.certificates import Augmentation, Certificate, Design
from tacit.comparing import ComparisonReport, Race
from tacit.dispatch import Schedule
from tacit.errors import InputError
from tacit.learning.inference import Summary
from tacit.learning.outcome import FitReport
from tacit.learning.reporting import MemberReport
from tacit.report.page import Page
from tacit.report.pages.answer import answer_page
from tacit.report.pages.audit import audit_page
from tacit.report.pages.certificate import augmentation_page, certificate_page, design_page
from tacit.report.pages.compare import comparison_page, race_page
from tacit.report.pages.fit import fit_page, model_page, summary_page
from tacit.report.pages.member import member_page
from tacit.report.pages.schedule import schedule_page
from tacit.solving import Answer

_PAGES: dict[type, Callable[..., Page]] = {
    Answer: answer_page,
    AuditReport: audit_page,
    Augmentation: augmentation_page,
    Certificate: certificate_page,
    ComparisonReport: comparison_page,
    Design: design_page,
    FitReport: fit_page,
    MemberReport: member_page,
    Race: race_page,
    Schedule: schedule_page,
    Summary: summary_page,
}


def page_of(result: Any, **context: Any) -> Page:
    """Return the page of a result; *context* is what its function takes beside."""
    for kind, page in _PAGES.items():
        if isinstance(result, kind):
            return page(result, **context)
    if hasattr(result, "summary_"):  # a fitted estimator, whose module needs an extra
        return model_page(result)
    raise InputError("there is no report of this; answers, certificates, audits, fits and schedules have one.")


__all__ = ["page_of"]
