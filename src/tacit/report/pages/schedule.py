"""The report of a dispatch: the day, the price, what was hidden, and what the plan would put on the lines."""

from __future__ import annotations

import numpy as np

from tacit.dispatch import Schedule
from tacit.dispatch.summary import summary
from tacit.report import figures
from tacit.report.page import Listing, Page, Section

_DRAWN = 400  # buses up to which the grid is drawn
_FULLEST = 15  # lines in the table
_WHOLE = "It shows the output of every unit, which in a federation each unit knows for itself alone."


def schedule_page(schedule: Schedule) -> Page:
    """Return the page of a dispatch."""
    private = bool(schedule.protection["private"])
    full = "OVERLOADED" if schedule.overloads else ""
    lines = [(name, sentence) for name, sentence in summary(schedule) if name != "privacy"]
    units = [(name, str(bus), *(f"{mw:.4g}" for mw in path))
             for name, bus, path in zip(schedule.units, schedule.buses, schedule.output, strict=True)]  # fmt: skip
    count = len(schedule.price)
    periods = [f"MW in {t + 1}" for t in range(count)] if count > 1 else ["MW"]
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
                "The day" if count > 1 else "Who gives what",
                figures=[figures.day(schedule)],
                tables=[Listing("In short", ("what", "value"), lines)],
            ),
            *_lines(schedule),
            Section("Units", tables=[Listing("What every unit gives", ("unit", "bus", *periods), units)]),
            Section("How it was found", figures=[figures.convergence(schedule.records[1])]),
        ],
        simulation=_WHOLE,
    )


def _lines(schedule: Schedule) -> list[Section]:
    """Return the grid with its flows, and the fullest lines; nothing where flows are not known."""
    flows = schedule.flows
    if not flows:
        return []
    buses = {bus for flow in flows for bus in (flow.start, flow.end)}
    pictures = [figures.one_line(schedule)] if len(buses) <= _DRAWN else []
    words = [] if pictures else [f"A grid of {len(buses)} buses is too large to be drawn."]
    worst = [(flow, int(np.nan_to_num(np.abs(flow.mw)).argmax())) for flow in flows]
    worst.sort(key=lambda pair: (-abs(pair[0].mw[pair[1]]) / pair[0].limit, -abs(pair[0].mw[pair[1]])))
    rows = [
        (flow.line, f"{flow.start}", f"{flow.end}", f"{flow.mw[t]:.4g}", f"{t + 1}",
         f"{flow.limit:g}" if np.isfinite(flow.limit) else "none",
         f"{'✗' if abs(flow.mw[t]) > flow.limit else '✓'} {100 * abs(flow.mw[t]) / flow.limit:.0f} %"
         if np.isfinite(flow.limit) else "")
        for flow, t in worst[:_FULLEST]
    ]  # fmt: skip
    caption = f"The {_FULLEST} fullest of {len(flows)} lines" if len(flows) > _FULLEST else "Every line"
    head = ("line", "from bus", "to bus", "MW at most", "in period", "limit", "of its limit")
    return [Section("What the lines carry", figures=pictures, tables=[Listing(caption, head, rows)], words=words)]
