"""The report of a model fitted together: coefficients with their intervals, what was told, what was hidden."""

from __future__ import annotations

from typing import Any

from tacit.learning.inference import Summary
from tacit.learning.outcome import FitReport
from tacit.report import figures
from tacit.report.page import Listing, Page, Section

_ALONE = "Whether the run converged, and what was hidden, is in the report of the model, and not in this table."


def summary_page(summary: Summary) -> Page:
    """Return the page of a table of coefficients alone, as a member of a federation ends with."""
    return Page(
        title=summary.model,
        verdict="fitted",
        good=True,
        statement=[*summary.notes, _ALONE],
        sections=[coefficients_section(summary)],
    )


def fit_page(outcome: FitReport) -> Page:
    """Return the page of a fit on several parties' files."""
    return _page(outcome.model, outcome.privacy, outcome.cautions)


def model_page(model: Any) -> Page:
    """Return the page of a fitted estimator."""
    return _page(model, model.answer_.privacy(any=model.any), ())


def _page(model: Any, privacy: tuple[str, ...] | list[str], cautions: tuple[str, ...]) -> Page:
    record, summary = model.answer_.record, model.summary_
    private = bool(model.answer_.protection(any=model.any)["private"])
    released = Listing("What was told", ("sum",), [(str(entry),) for entry in model.ledger_.sums])
    return Page(
        title=summary.model,
        verdict=f"{record.status}, {'private' if private else 'NOT PRIVATE'}",
        good=record.converged and private,
        statement=[record.sentence, *privacy, *cautions, *summary.notes],
        sections=[
            coefficients_section(summary),
            Section("What was told, and how", figures=[figures.convergence(record)], tables=[released]),
        ],
    )


def coefficients_section(summary: Summary) -> Section:
    """Return the coefficients, drawn and listed."""
    letter = "z" if summary.freedom == float("inf") else "t"
    head = ["", "coef", "std err", letter, f"P>|{letter}|", "2.5 %", "97.5 %"]
    columns = (summary.coefficients, summary.standard_errors, summary.statistic, summary.p_values,
               *summary.intervals().T)  # fmt: skip
    rows = [(name, *(f"{value:.4g}" for value in values))
            for name, values in zip(summary.names, zip(*columns, strict=True), strict=True)]  # fmt: skip
    facts = [("parties", str(summary.parties)), *((name, f"{value:.5g}") for name, value in summary.facts)]
    if summary.observations is not None:
        facts.insert(0, ("observations", str(summary.observations)))
    return Section(
        "Coefficients",
        figures=[figures.coefficients(summary)],
        tables=[Listing("Coefficients", head, rows), Listing("The model", ("what", "value"), facts)],
    )
