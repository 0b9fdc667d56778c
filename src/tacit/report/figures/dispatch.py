"""A dispatch to look at: the day of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from tacit.report.palette import LIGHT, LINES
from tacit.report.style import note, picture, plain

if TYPE_CHECKING:
    from tacit.dispatch import Schedule

_UNITS = 8  # the largest, drawn by themselves; the others together


def day(schedule: Schedule) -> go.Figure:
    """Draw what every unit gives in every period, stacked up to the demand, and the price above it."""
    periods = list(range(1, len(schedule.price) + 1))
    largest = schedule.largest(_UNITS)
    rest = np.delete(schedule.output, largest, axis=0).sum(axis=0)
    low, high = float(schedule.price.min()), float(schedule.price.max())
    span = f"between {low:.4g} and {high:.4g}" if high > low else f"{low:.4g}"
    title = f"{schedule.grid}: the price is {span} $/MWh, {schedule.total_cost:,.0f} $ in all"
    figure = picture(
        title, f"{title}. Generation of {len(schedule.units)} units, stacked up to the demand.", height=460,
        xaxis={"title": {"text": "period"}, "dtick": max(1, len(periods) // 12), "visible": len(periods) > 1},
        yaxis={"title": {"text": "MW"}, "domain": [0, 0.68]},
        yaxis2={"title": {"text": "$/MWh"}, "domain": [0.76, 1], "rangemode": "tozero", **_grid()},
    )  # fmt: skip
    bars = [(plain(f"unit {schedule.units[k]} at bus {schedule.buses[k]}"), schedule.output[k]) for k in largest]
    if rest.any():
        bars.append((f"{len(schedule.units) - len(largest)} others", rest))
    for k, (name, mw) in enumerate(bars):
        figure.add_bar(
            x=periods, y=mw, name=name,
            marker={"color": getattr(LIGHT, LINES[k % 5]), "opacity": 1 - 0.35 * (k // 5)},
            hovertemplate=f"period %{{x}}: %{{y:.4~g}} MW<extra>{name}</extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=periods, y=schedule.demand, mode="lines+markers", line={"color": LIGHT.ink, "shape": "hvh", "width": 1.5},
        name="demand", hovertemplate="period %{x}: %{y:.5~g} MW<extra>demand</extra>",
    )  # fmt: skip
    limits = [schedule.at_limits[k] for k in range(len(periods))]
    figure.add_scatter(
        x=periods, y=schedule.price, mode="lines+markers", yaxis="y2", line={"color": LIGHT.purple, "shape": "hvh"},
        marker={"symbol": ["circle" if limit is None else "triangle-up" for limit in limits], "size": 8},
        name="price",
        hovertemplate="period %{x}: %{y:.5~g} $/MWh<extra>price</extra>",
    )  # fmt: skip
    if any(limits):
        note(
            figure, periods[0], float(schedule.demand.max()), "▲ all units at a limit", LIGHT.purple, xanchor="left"
        )
    figure.update_layout(barmode="relative", showlegend=True, legend={"orientation": "h", "y": -0.2})
    return figure


def _grid() -> dict[str, Any]:
    return {"gridcolor": LIGHT.rule, "zeroline": False}
