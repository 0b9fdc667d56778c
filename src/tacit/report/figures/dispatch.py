"""A dispatch to look at: the day of a grid, and its one-line diagram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import plotly.graph_objects as go

from tacit.report.palette import LIGHT, LINES
from tacit.report.style import note, picture

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
        xaxis={"title": {"text": "period"}, "dtick": max(1, len(periods) // 12)},
        yaxis={"title": {"text": "MW"}, "domain": [0, 0.68]},
        yaxis2={"title": {"text": "$/MWh"}, "domain": [0.76, 1], "rangemode": "tozero", **_grid()},
    )  # fmt: skip
    bars = [(f"unit {schedule.units[k]} at bus {schedule.buses[k]}", schedule.output[k]) for k in largest]
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


def one_line(
    links: list[tuple[Any, Any]],
    *,
    prices: Mapping[Any, float] | None = None,
    flows: Mapping[tuple[Any, Any], float] | None = None,
    limits: Mapping[tuple[Any, Any], float] | None = None,
    generation: Mapping[Any, float] | None = None,
) -> go.Figure:
    """Draw a grid's buses and branches: flows as widths, full branches in red, units as filled buses."""
    graph: nx.Graph[Any] = nx.Graph(links)
    at = nx.kamada_kawai_layout(graph) if len(graph) <= 150 else nx.spring_layout(graph, seed=1, method="force")
    flows, limits, generation = flows or {}, limits or {}, generation or {}
    full = [link for link in links if _loading(link, flows, limits) > 1.0 + 1e-6]
    title = f"{len(graph)} buses, {len(links)} branches"
    title += f": {len(full)} would be overloaded" if full else ", none overloaded" if limits else ""
    empty = {"visible": False, "showgrid": False}
    figure = picture(title, f"{title}.", height=480, xaxis=empty, yaxis={**empty, "scaleanchor": "x"})
    most = max((abs(mw) for mw in flows.values()), default=0.0) or 1.0
    for link in links:
        (xa, ya), (xb, yb) = at[link[0]], at[link[1]]
        mw = flows.get(link)
        figure.add_scatter(
            x=[xa, (xa + xb) / 2, xb], y=[ya, (ya + yb) / 2, yb], mode="lines",
            line={
                "color": LIGHT.red if link in full else LIGHT.edge, "dash": "dash" if link in full else None,
                "width": 1.2 if mw is None else 1.0 + 5.0 * abs(mw) / most,
            },
            hovertemplate=f"{link[0]} – {link[1]}{'' if mw is None else f': {mw:.4g} MW'}<extra></extra>",
        )  # fmt: skip
    buses = list(graph)
    figure.add_scatter(
        x=[at[bus][0] for bus in buses], y=[at[bus][1] for bus in buses], text=[str(bus) for bus in buses],
        mode="markers+text" if len(buses) <= 60 else "markers", textposition="top center", cliponaxis=False,
        marker={
            "symbol": ["square" if generation.get(bus) else "circle" for bus in buses], "size": 14,
            "color": [LIGHT.teal if generation.get(bus) else LIGHT.pale for bus in buses],
            "line": {"color": LIGHT.blue, "width": 1.5},
        },
        customdata=[_of_bus(bus, generation, prices) for bus in buses],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    return figure


def _loading(link: tuple[Any, Any], flows: Mapping[Any, float], limits: Mapping[Any, float]) -> float:
    limit = limits.get(link)
    return abs(flows.get(link, 0.0)) / limit if limit else 0.0


def _of_bus(bus: Any, generation: Mapping[Any, float], prices: Mapping[Any, float] | None) -> str:
    words = [f"bus {bus}"]
    if bus in generation:
        words.append(f"{generation[bus]:.4g} MW")
    if prices is not None and bus in prices:
        words.append(f"{prices[bus]:.4g} $/MWh")
    return ", ".join(words)


def _grid() -> dict[str, Any]:
    return {"gridcolor": LIGHT.rule, "zeroline": False}
