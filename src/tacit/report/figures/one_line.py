"""The one-line diagram of a grid: what a plan puts on every line, and the price at every bus.

Limits of lines are no part of a dispatch, so that one price holds at all buses: the locational marginal prices
(LMP) are equal. Lines that the plan would overload are red and dashed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import plotly.graph_objects as go

from tacit.report.figures.network import Place, placed
from tacit.report.palette import LIGHT
from tacit.report.style import picture, plain

if TYPE_CHECKING:
    from tacit.dispatch import Schedule
    from tacit.dispatch.flows import LineFlow

_NAMED = 60  # buses up to which every one is named
_NUMBERED = 25  # lines up to which every one has its MW beside it
_FULL = 1.0 + 1e-6


def one_line(schedule: Schedule, *, period: int | None = None) -> go.Figure:
    """Draw a grid with the flows of a plan in one *period*, from 1: the one with the fullest line unless given.

    Lines are as wide as their flows, with arrows that point along them; buses with units are filled squares.
    """
    when = _fullest(schedule) if period is None else period - 1
    lines, price = schedule.flows, float(schedule.price[when])
    limits = [line.limit for line in lines]
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_edges_from((line.start, line.end) for line in lines)
    at = placed(graph)
    full = [line for line in lines if _loading(line, when) > _FULL]
    moment = f" in period {when + 1}" if len(schedule.price) > 1 else ""
    title = f"One price{moment} (LMP) at every bus, {price:.4g} $/MWh; "
    if full:
        title += f"{len(full)} of {len(lines)} lines would be overloaded"
    else:
        title += "no line above its limit" if any(map(math.isfinite, limits)) else "lines have no limits here"
    worst = max(lines, key=lambda line: _loading(line, when), default=None)
    says = f"{schedule.grid}: {len(graph)} buses, {len(lines)} lines. {title}."
    if worst is not None and _loading(worst, when):
        says += f" The fullest is {worst.line}, at {100 * _loading(worst, when):.0f} % of its limit."
    empty = {"visible": False, "showgrid": False}
    figure = picture(title, says, height=500, xaxis=empty, yaxis={**empty, "scaleanchor": "x"})
    most = max((abs(float(line.mw[when])) for line in lines if math.isfinite(line.mw[when])), default=0.0) or 1.0
    for line in lines:
        _line(figure, line, when, at, most=most, numbered=len(lines) <= _NUMBERED)
    _buses(figure, schedule, when, list(graph), at)
    return figure


def _fullest(schedule: Schedule) -> int:
    """Return the period with the fullest line; the one of the largest demand where no line has a limit."""
    periods = range(len(schedule.price))
    loads = [max((_loading(line, t) for line in schedule.flows), default=0.0) for t in periods]
    return int(np.argmax(loads)) if any(loads) else int(np.argmax(schedule.demand))


def _loading(line: LineFlow, when: int) -> float:
    """Return the share of its limit that flows on a line; none where either is unknown."""
    share = abs(float(line.mw[when])) / line.limit if line.limit else 0.0
    return share if math.isfinite(share) else 0.0


def _line(
    figure: go.Figure, line: LineFlow, when: int, at: Mapping[Any, Place], *, most: float, numbered: bool
) -> None:
    mw, load = float(line.mw[when]), _loading(line, when)
    known, full = math.isfinite(mw), load > _FULL
    (xa, ya), (xb, yb) = (at[line.start], at[line.end]) if mw >= 0 or not known else (at[line.end], at[line.start])
    colour = LIGHT.red if full else LIGHT.edge
    figure.add_scatter(
        x=[xa, xb], y=[ya, yb], mode="lines", hoverinfo="skip", name="overloaded" if full else "lines",
        line={"color": colour, "dash": "dash" if full else None,
              "width": 1.0 + 5.0 * abs(mw) / most if known else 1.0},
    )  # fmt: skip
    words = (
        f"{abs(mw):.4g} MW" + (f", {100 * load:.0f} % of {line.limit:g}" if load else "") if known else "unknown"
    )
    shown = f"{abs(mw):.3g}" + (f" ✗ {100 * load:.0f} %" if full else "") if numbered or full else ""
    figure.add_scatter(
        x=[xa + 0.68 * (xb - xa)], y=[ya + 0.68 * (yb - ya)], mode="markers", cliponaxis=False, text=[shown],
        marker={"symbol": "arrow", "size": 11 + 6 * abs(mw) / most if known and mw else 1,
                "color": LIGHT.red if full else LIGHT.soft, "angle": math.degrees(math.atan2(xb - xa, yb - ya))},
        hovertemplate=f"{plain(line.line)}: {words}<extra></extra>", name="flows",
    )  # fmt: skip
    if shown:
        figure.add_annotation(
            x=xa + 0.42 * (xb - xa), y=ya + 0.42 * (yb - ya), text=shown, showarrow=False, bgcolor=LIGHT.paper,
            borderpad=1, font={"size": 11, "color": LIGHT.red if full else LIGHT.soft},
        )  # fmt: skip


def _buses(figure: go.Figure, schedule: Schedule, when: int, buses: list[Any], at: Mapping[Any, Place]) -> None:
    made: dict[Any, float] = {}
    for bus, path in zip(schedule.buses, schedule.output, strict=True):
        made[bus] = made.get(bus, 0.0) + float(path[when])
    price = f"{float(schedule.price[when]):.4g} $/MWh"
    named = len(buses) <= _NAMED
    figure.add_scatter(
        x=[at[bus][0] for bus in buses], y=[at[bus][1] for bus in buses], name="buses", cliponaxis=False,
        mode="markers+text" if named else "markers", text=[plain(str(bus)) for bus in buses],
        textposition="bottom center", textfont={"size": 12, "color": LIGHT.ink},
        marker={
            "symbol": ["square" if bus in made else "circle" for bus in buses], "size": 15 if named else 7,
            "color": [LIGHT.teal if bus in made else LIGHT.pale for bus in buses],
            "line": {"color": LIGHT.blue, "width": 1.5},
        },
        customdata=[
            f"bus {plain(str(bus))}, {price}" + (f", {made[bus]:.4g} MW from units" if bus in made else "")
            for bus in buses
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
