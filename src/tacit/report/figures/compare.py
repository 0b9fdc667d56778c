"""Approaches side by side: how good the answer is, and how much of the others is given away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from tacit.listing import conjoined
from tacit.report.palette import LIGHT, LINES
from tacit.report.style import POWERS, Trail, draw, note, picture

if TYPE_CHECKING:
    from tacit.comparing import ComparisonReport, Race, Runner

_EXACT = 1e-8  # where a logarithmic axis shows what the table calls exact
_SMALLEST = 1e-16  # the same of errors
_FAR = 1e6
_APART = 8  # times the exchanges of another: both show on a logarithmic axis only


def compared(comparison: ComparisonReport) -> go.Figure:
    """Draw every approach by the error of its answer, and by how often two colluders tell two agents apart."""
    points = [
        (row.approach, min(max(row.error, _EXACT), _FAR), row.recoveries[-1].guess)
        for row in comparison.rows
        if row.error is not None and row.recoveries and row.recoveries[-1].guess is not None
    ]
    title = "Right answers are to the left, and privacy is below"
    figure = picture(
        title, comparison.sentence(), height=460,
        xaxis={"title": {"text": "error of the answer"}, "type": "log", **POWERS},
        yaxis={"title": {"text": "pairs that colluders tell apart"}, "tickformat": ".0%", "range": [0.35, 1.08]},
    )  # fmt: skip
    figure.add_hline(y=0.5, line={"color": LIGHT.grey, "dash": "dot"})
    places: dict[tuple[float, float], list[str]] = {}
    for name, error, guess in points:
        colour = LIGHT.blue if name.startswith("tacit") else LIGHT.orange
        figure.add_scatter(
            x=[error], y=[guess], mode="markers", name=name, marker={"size": 11, "color": colour},
            hovertemplate=f"{name}: %{{x:.3~g}}, %{{y:.0%}}<extra></extra>",
        )  # fmt: skip
        places.setdefault((round(math.log10(error)), round(guess, 2)), []).append(name)
    below = False
    for (power, guess), names in sorted(places.items(), key=lambda place: (place[0][1], place[0][0])):
        colour = LIGHT.blue if any(name.startswith("tacit") for name in names) else LIGHT.orange
        note(figure, 10.0**power, guess, conjoined(names), colour, yshift=-14 if below else 14)  # one for all there
        below = not below
    return figure


def raced(race: Race | Mapping[str, Runner], *, title: str = "", logarithmic: bool = False) -> go.Figure:
    """Draw every algorithm's true error against the exchanges that it took.

    Of several races, pick runners and name them. The axis is *logarithmic* where one takes many times another's.
    """
    if isinstance(race, Mapping):
        runners = dict(race)
        says = "; ".join(f"{name}: {_ending(runner)}" for name, runner in runners.items()) + "."
    else:
        runners, says = {runner.algorithm: runner for runner in race.runners}, race.sentence()
    ends = [runner.exchanges[-1] for runner in runners.values() if runner.exchanges]
    logarithmic = logarithmic or (len(ends) > 1 and max(ends) > _APART * min(ends))
    figure = picture(
        title or says, f"{title}. {says}" if title else says, height=460,
        xaxis={"title": {"text": "exchanges"},
               **({"type": "log", "dtick": "D2"} if logarithmic else {"rangemode": "tozero"})},
        yaxis={"title": {"text": "error, relative to the start"}, "type": "log", **POWERS,
               "dtick": 2},
    )  # fmt: skip
    ran = {name: runner for name, runner in runners.items() if runner.errors}
    draw(
        figure,
        *(
            Trail(
                runner.exchanges,
                [min(max(error, _SMALLEST), _FAR) for error in runner.errors],
                name,
                getattr(LIGHT, LINES[k % len(LINES)]),
            )
            for k, (name, runner) in enumerate(ran.items())
        ),
    )
    return figure


def _ending(runner: Runner) -> str:
    if not runner.errors:
        return "did not run"
    return f"an error of {runner.errors[-1]:.1g} after {runner.exchanges[-1]} exchanges"
