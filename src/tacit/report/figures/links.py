"""The links of a federation over time: a row each, filled while it was up, crossed where it was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from tacit.report.palette import LIGHT
from tacit.report.style import picture, plain

if TYPE_CHECKING:
    from tacit.runtimes.peers import LinkTimes

_MOST = 40  # links drawn, those that were down longest; the table has all


def links(times: LinkTimes) -> go.Figure:
    """Draw when every link was up, from an agent's diary or a `Timekeeper`; where one was lost, why."""
    lost, absent = times.lost, set(times.absent)
    order = sorted(times.spells, key=lambda link: (link not in absent, -lost.get(link, 0.0)))[:_MOST]
    names = {link: plain(" – ".join(link)) for link in order}
    size, unit = _unit(times.seconds)
    title = times.headline
    shown = f" The {_MOST} that were down longest are drawn." if len(order) < len(times.spells) else ""
    figure = picture(
        title, f"{title}, over {times.seconds / size:.3g} {unit}.{shown}", height=130 + 24 * max(len(order), 2),
        xaxis={"title": {"text": f"{unit} since the start"}, "range": [0, max(times.seconds, 1e-3) / size]},
        yaxis={"type": "category", "autorange": "reversed", "showgrid": False,
               "categoryorder": "array", "categoryarray": list(names.values())},
        barmode="overlay", bargap=0.35,
    )  # fmt: skip
    up = [(names[link], spell) for link in order for spell in times.spells[link]]
    figure.add_bar(
        orientation="h", name="up", marker={"color": LIGHT.teal}, y=[name for name, _ in up],
        base=[spell.start / size for _, spell in up], x=[(spell.end - spell.start) / size for _, spell in up],
        customdata=[spell.start / size for _, spell in up],
        hovertemplate=f"%{{y}}: up for %{{x:.3~g}} {unit}, from %{{customdata:.3~g}} on<extra></extra>",
    )  # fmt: skip
    gaps = [(names[link], gap) for link in order for gap in times.gaps(link)]
    gaps_at = [(gap.start + gap.end) / 2 / size for _, gap in gaps]
    figure.add_scatter(
        mode="markers", name="lost", x=gaps_at, y=[name for name, _ in gaps],
        marker={"symbol": "x", "size": 10, "color": LIGHT.red},
        customdata=[[(gap.end - gap.start) / size, plain(gap.trouble)] for _, gap in gaps],
        hovertemplate=f"%{{y}}: down for %{{customdata[0]:.3~g}} {unit}: %{{customdata[1]}}<extra></extra>",
    )  # fmt: skip
    never = [names[link] for link in order if link in absent]
    figure.add_scatter(
        mode="text", name="never up", x=[0.0] * len(never), y=never, text=[" ✗ never up"] * len(never),
        textposition="middle right", textfont={"color": LIGHT.red}, hoverinfo="skip",
    )  # fmt: skip
    return figure


def _unit(seconds: float) -> tuple[float, str]:
    """Return in what a time is told: how long one is, and its name."""
    return (1.0, "seconds") if seconds < 180 else (60.0, "minutes") if seconds < 3 * 3600 else (3600.0, "hours")
