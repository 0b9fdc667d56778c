"""The coefficients of a model with their intervals: a forest plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from tacit.report.palette import LIGHT
from tacit.report.style import picture, plain

if TYPE_CHECKING:
    from tacit.learning import Summary

_MOST = 60  # coefficients drawn; the table has all


def coefficients(summary: Summary, *, level: float = 0.95, ratios: bool = False) -> go.Figure:
    """Draw every coefficient with its interval; as *ratios* exp(coef), such as odds ratios."""
    low, high = summary.intervals(level).T
    values = summary.coefficients
    names, count = list(summary.names), min(len(summary.names), _MOST)
    sure = [name for name, a, b in zip(names, low, high, strict=True) if a > 0 or b < 0]
    without = "an odds ratio of 1" if ratios else "zero"
    title = f"{len(sure)} of {len(names)} intervals leave out {without}" if summary.has_errors else summary.model
    says = f"{title}: {', '.join(sure[:12])}." if sure else f"{title}."
    if ratios:
        values, low, high = np.exp(values), np.exp(low), np.exp(high)
    axis = "odds ratio" if ratios else "coefficient"
    figure = picture(
        title, says, height=150 + 26 * count,
        xaxis={"title": {"text": f"{axis}, {100 * level:g} % interval"}, "type": "log" if ratios else "linear"},
        yaxis={"type": "category", "autorange": "reversed"},
    )  # fmt: skip
    figure.add_vline(x=1.0 if ratios else 0.0, line={"color": LIGHT.grey, "dash": "dot", "width": 1.5})
    colours = [LIGHT.blue if name in sure or not summary.has_errors else LIGHT.grey for name in names]
    for k in range(count):
        bars = {
            "type": "data",
            "symmetric": False,
            "array": [high[k] - values[k]],
            "arrayminus": [values[k] - low[k]],
        }
        figure.add_scatter(
            x=[values[k]], y=[plain(names[k])], mode="markers", marker={"size": 9, "color": colours[k]},
            error_x={**bars, "color": colours[k], "thickness": 2, "visible": bool(np.isfinite(low[k]))},
            hovertemplate=f"%{{y}}: %{{x:.5~g}} [{low[k]:.4g}, {high[k]:.4g}]<extra></extra>",
        )  # fmt: skip
    return figure
