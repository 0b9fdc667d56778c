"""The house style, once: a sentence as title, labels at the lines instead of legends, light and dark."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go
import plotly.io as pio

from tacit.report.palette import LIGHT, LINES, twins

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_WIDTH = 64  # characters of a title before it breaks
_LABEL = 16  # pixels that the label of a line takes
POWERS = {"exponentformat": "power", "tickfont": {"size": 11}}
"""How a logarithmic axis says 10³; plotly writes powers larger than other numbers."""
END = "end"
"""The name of a label at the end of a line: where a page is narrow, it moves to the line's other side."""
_FRAME = 120  # pixels of a picture above and below its axes
_COMMON = 640  # pixels of its axes from left to right, on most pages
_LETTER = 7.5  # pixels of a letter
_AXIS = {
    "showgrid": True, "gridcolor": LIGHT.rule, "linecolor": LIGHT.rule, "zeroline": False, "ticks": "",
    "title": {"standoff": 12, "font": {"size": 13, "color": LIGHT.soft}}, "tickfont": {"color": LIGHT.soft},
    "automargin": True,
}  # fmt: skip

TEMPLATE = go.layout.Template(
    layout={
        "font": {"family": FONT, "size": 13, "color": LIGHT.ink},
        "title": {"x": 0, "xref": "paper", "xanchor": "left", "font": {"size": 16, "weight": 600}},
        "paper_bgcolor": LIGHT.paper,
        "plot_bgcolor": LIGHT.paper,
        "colorway": [getattr(LIGHT, name) for name in LINES],
        "margin": {"l": 64, "r": 24, "t": 64, "b": 56},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "showlegend": False,
        "hoverlabel": {"font": {"family": FONT}, "bgcolor": LIGHT.card, "bordercolor": LIGHT.rule},
        "hovermode": "closest",
    }
)
pio.templates["tacit"] = TEMPLATE


def picture(title: str, alternative: str, *, height: int = 380, **layout: Any) -> go.Figure:
    """Return an empty figure in the house style.

    *title* is a sentence that says what one sees; *alternative* says the same to whoever cannot see it.
    """
    broken = "<br>".join(plain(line) for line in textwrap.wrap(title, _WIDTH))
    room = 40 + 22 * (1 + broken.count("<br>"))
    figure = go.Figure(layout={"template": "tacit", "height": height, "title": {"text": broken}, **layout})
    lower = 12 + 16 * broken.count("<br>")  # plotly sets a title of several lines higher
    figure.update_layout(margin_t=room, title_y=1 - lower / height, title_yanchor="top", meta={"says": alternative})
    return figure


def alternative(figure: go.Figure) -> str:
    """Return what *figure* says to whoever cannot see it."""
    return str((figure.layout.meta or {}).get("says", ""))


class Trail(NamedTuple):
    """One line of a picture, with the label at its end; None leaves a gap."""

    x: Sequence[float]
    y: Sequence[float | None]
    label: str
    colour: str
    dash: str | None = None

    @property
    def end(self) -> tuple[float, float] | None:
        """The last point that is there."""
        there = ((a, b) for a, b in zip(reversed(self.x), reversed(self.y), strict=True) if b is not None)
        return next(there, None)


def draw(figure: go.Figure, *lines: Trail) -> None:
    """Draw lines with their labels at their ends, in their colours, none over another."""
    for line in lines:
        figure.add_scatter(
            x=list(line.x), y=list(line.y), mode="lines" if len(line.x) > 1 else "markers", name=line.label,
            line={"color": line.colour, "width": 2.2, "dash": line.dash},
            marker={"color": line.colour, "size": 9},
            hovertemplate=f"%{{x:.6~g}}: %{{y:.4~g}}<extra>{line.label}</extra>",
        )  # fmt: skip
    ends = [(line, line.end) for line in lines if line.label and line.end is not None]
    heights = [_on(figure.layout.yaxis, y) for line in lines for y in line.y if y is not None]
    across = [x for line in lines for x in line.x]
    widths = [_on(figure.layout.xaxis, x) for x in across]
    upright = (figure.layout.height - _FRAME) / _spread(heights)
    along = _COMMON / _spread(widths)
    written: list[tuple[float, float, float]] = []  # of labels: from and to, and how high
    for line, (x, y) in sorted(ends, key=lambda pair: pair[1][1]):  # from the lowest up
        left, place = along * _on(figure.layout.xaxis, x), upright * _on(figure.layout.yaxis, y)
        right, height = left + _LETTER * len(line.label) + _LABEL, place
        for low, high, level in written:
            if left < high and low < right and abs(level - height) < _LABEL:
                height = level + _LABEL
        written.append((left, right, height))
        note(figure, x, y, line.label, line.colour, xanchor="left", xshift=6, yshift=height - place, name=END)
    if across and figure.layout.xaxis.range is None:  # a label would widen it
        low, high = _on(figure.layout.xaxis, min(across)), _on(figure.layout.xaxis, max(across))
        low = min(low, 0.0) if figure.layout.xaxis.rangemode == "tozero" else low
        figure.update_layout(xaxis_range=[low, high if high > low else low + 1.0])
    figure.update_layout(margin_r=24 + _LETTER * max((len(line.label) for line, _ in ends), default=0))


def note(figure: go.Figure, x: float, y: float, text: str, colour: str, **options: Any) -> None:
    """Write *text* at a point of the axes, logarithmic ones too."""
    figure.add_annotation(
        x=_on(figure.layout.xaxis, x), y=_on(figure.layout.yaxis, y), text=text, showarrow=False,
        font={"color": colour, "size": 13}, **options,
    )  # fmt: skip


def point_at(figure: go.Figure, x: float, y: float, text: str, colour: str, *, left: bool = False) -> None:
    """Write *text* beside a line, with a stroke to the point of it that is meant."""
    figure.add_scatter(
        x=[x], y=[y], mode="markers", marker={"color": colour, "size": 7}, hoverinfo="skip", showlegend=False
    )
    figure.add_annotation(
        x=_on(figure.layout.xaxis, x), y=_on(figure.layout.yaxis, y), text=plain(text), showarrow=True, arrowhead=0,
        arrowwidth=1.6, arrowcolor=colour, ax=-34 if left else 34, ay=0, xanchor="right" if left else "left",
        font={"color": colour, "size": 13},
    )  # fmt: skip


def plain(text: str) -> str:
    """Return *text* as plotly shows it letter by letter: what looks like markup is none."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def dark(figure: go.Figure) -> go.Figure:
    """Return the same figure for dark pages."""
    return pio.from_json(recoloured(figure.to_json()))


def recoloured(text: str) -> str:
    """Return *text* with every colour of the light palette replaced by its dark twin."""
    pairs = twins()
    marked = text
    for light in pairs:
        marked = marked.replace(light, f"\0{light[1:]}")
    for light, deep in pairs.items():
        marked = marked.replace(f"\0{light[1:]}", deep)
    return marked


def _spread(values: Sequence[float]) -> float:
    return (max(values) - min(values) or 1.0) if values else 1.0


def _on(axis: Any, value: float) -> float:
    """Return where plotly wants a note: at the logarithm on a logarithmic axis."""
    return math.log10(value) if axis.type == "log" and value > 0 else value
