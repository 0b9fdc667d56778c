"""The report of a dispatch: the day, the price, what was hidden, and what the plan would put on the lines."""

from __future__ import annotations

from tacit.dispatch import Schedule
from tacit.dispatch.summary import summary
from tacit.report import figures
from tacit.report.page import Listing, Page, Section

_WHOLE = "It shows the output of every unit, which in a federation each unit knows for itself alone."


def schedule_page(schedule: Schedule) -> Page:
    """Return the page of a dispatch."""
    private = bool(schedule.protection["private"])
    full = "OVERLOADED" if schedule.overloads else ""
    lines = [(name, sentence) for name, sentence in summary(schedule) if name != "privacy"]
    units = [(name, str(bus), *(f"{mw:.4g}" for mw in path))
             for name, bus, path in zip(schedule.units, schedule.buses, schedule.output, strict=True)]  # fmt: skip
    periods = [f"MW in {t + 1}" for t in range(len(schedule.price))]
    return Page(
        title=f"Dispatch of {schedule.grid}",
        verdict=", ".join(
            filter(
                None,
                [f"demand met to {schedule.balance_error:.0e} MW", "private" if private else "NOT PRIVATE", full],
            )
        ),
        good=private and not schedule.overloads,
        statement=[*schedule.says, *(text for name, text in lines if name in ("OVERLOADED", "lines"))],
        sections=[
            Section(
                "The day", figures=[figures.day(schedule)], tables=[Listing("In short", ("what", "value"), lines)]
            ),
            Section("Units", tables=[Listing("What every unit gives", ("unit", "bus", *periods), units)]),
            Section("How it was found", figures=[figures.convergence(schedule.records[1])]),
        ],
        simulation=_WHOLE,
    )
