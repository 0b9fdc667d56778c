"""An audit before and after: what attacks read of every agent without masks, and what is left of it with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from tacit.report.palette import LIGHT
from tacit.report.style import POWERS, picture, plain

if TYPE_CHECKING:
    from tacit.auditing import AuditReport

_EXACT = 1e-16  # what a logarithmic axis shows of no error at all
SIGNS = {"within": "✓", "beaten": "✗", "weak": "?", "open": "○", "skipped": "–"}
"""What stands for a verdict beside its colour."""
_COLOURS = {
    "within": LIGHT.teal, "beaten": LIGHT.red, "weak": LIGHT.red, "open": LIGHT.orange, "skipped": LIGHT.grey,
}  # fmt: skip


def beliefs(report: AuditReport) -> go.Figure:
    """Draw how far the best attack is from every agent's truth, without masks and with, beside the prediction."""
    series = report.plots()["errors"]
    agents = [row.agent for row in report.rows]
    title = report.sentence()
    figure = picture(
        title, title, height=200 + 24 * len(agents),
        xaxis={"title": {"text": "error of the best attack"}, "type": "log", **POWERS},
        yaxis={"title": {"text": "agent"}, "type": "category", "autorange": "reversed"},
    )  # fmt: skip
    _dots(figure, series["without_masks"], agents, "without masks", LIGHT.orange, "circle")
    _dots(figure, series["with_masks"], agents, "with masks", LIGHT.blue, "square")
    _dots(figure, series["predicted"], agents, "the certificate's prediction", LIGHT.grey, "line-ns-open")
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.25, "x": 0})
    return figure


def verdicts(report: AuditReport) -> go.Figure:
    """Draw every attack's error against what the certificate predicts; on the line nothing was promised in vain."""
    seen = [*report.without_masks, *report.with_masks]
    judged = [(v, v.predicted, v.measured) for v in seen if v.predicted and v.measured]
    title = f"{len(report.red)} verdict(s) are red" if report.red else "No attack beats the certificate"
    title = title if report.attacked else "No attack applies to this run"
    figure = picture(
        title, f"{title}: {len(judged)} attacks, error measured against error predicted.", height=420,
        xaxis={"title": {"text": "predicted error"}, "type": "log", **POWERS},
        yaxis={"title": {"text": "measured error"}, "type": "log", **POWERS},
    )  # fmt: skip
    sizes = [size for _, *both in judged for size in both] or [1.0]
    ends = [min(sizes), max(sizes)]
    figure.add_scatter(x=ends, y=ends, mode="lines", line={"color": LIGHT.grey, "dash": "dot"}, hoverinfo="skip")
    figure.add_scatter(
        x=[x for _, x, _ in judged], y=[y for _, _, y in judged], mode="markers+text",
        text=[SIGNS[v.status] for v, *_ in judged], textposition="middle right",
        textfont={"color": [_COLOURS[v.status] for v, *_ in judged], "size": 15},
        marker={"size": 9, "color": [_COLOURS[v.status] for v, *_ in judged]},
        customdata=[[v.attack, v.says] for v, *_ in judged],
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
    )  # fmt: skip
    return figure


def game(report: AuditReport) -> go.Figure | None:
    """Draw the distinguishing game's ROC curve beside its theory; None where no game was played."""
    curves = report.plots().get("roc")
    if curves is None or report.game is None:
        return None
    title = "The best test between two worlds does as well as the theorem says, and no better"
    figure = picture(
        title, f"{title}: detections against false alarms.", height=420,
        xaxis={"title": {"text": "false alarms"}, "tickformat": ".0%"},
        yaxis={"title": {"text": "detections"}, "tickformat": ".0%"},
    )  # fmt: skip
    for name, colour, dash in (("theory", LIGHT.grey, "dash"), ("detections", LIGHT.blue, None)):
        figure.add_scatter(
            x=curves["false_alarms"], y=curves[name], mode="lines", name=name if name == "theory" else "played",
            line={"color": colour, "dash": dash, "width": 2.2},
        )  # fmt: skip
    figure.update_layout(showlegend=True, legend={"x": 0.98, "y": 0.05, "xanchor": "right"})
    return figure


def _dots(figure: go.Figure, x: list[float | None], y: list[str], label: str, colour: str, shape: str) -> None:
    kept = [(max(a, _EXACT), b) for a, b in zip(x, y, strict=True) if a is not None]
    figure.add_scatter(
        x=[a for a, _ in kept], y=[plain(b) for _, b in kept], mode="markers", name=label,
        marker={"color": colour, "symbol": shape, "size": 11, "line": {"color": colour, "width": 2}},
        hovertemplate=f"%{{y}}: %{{x:.3~g}}<extra>{label}</extra>",
    )  # fmt: skip
