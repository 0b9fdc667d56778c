"""What runs cost: hops, messages, bytes and seconds, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from tacit.report.palette import LIGHT
from tacit.report.style import picture

if TYPE_CHECKING:
    from tacit.solving import RunRecord

_WHAT = ("rounds", "hops", "messages", "KiB", "seconds")


def traffic(records: Mapping[str, RunRecord]) -> go.Figure:
    """Draw what every run, by name, cost."""
    numbers = {name: _numbers(record) for name, record in records.items()}
    cheapest = min(numbers, key=lambda name: numbers[name][3])
    title = f"{cheapest} sends least" if len(numbers) > 1 else f"{cheapest}: what the run cost"
    says = "; ".join(f"{name}: {', '.join(_counted(n, w) for n, w in zip(v, _WHAT, strict=True))}"
                     for name, v in numbers.items())  # fmt: skip
    figure = picture(title, f"{title}. {says}.", height=120 + 40 * len(numbers) + 40)
    gap = 1.0 / len(_WHAT)
    for k, what in enumerate(_WHAT):
        number = "" if k == 0 else str(k + 1)
        values = [row[k] for row in numbers.values()]
        figure.add_bar(
            x=values, y=list(numbers), orientation="h", xaxis=f"x{number}", marker={"color": LIGHT.blue},
            text=[_digits(value) for value in values], textposition="auto", hoverinfo="skip",
        )  # fmt: skip
        span = [k * gap, (k + 0.86) * gap]
        axis = {"domain": span, "title": {"text": what}, "showticklabels": False, "showgrid": False}
        figure.update_layout({f"xaxis{number}": axis})
    figure.update_layout(yaxis={"type": "category", "autorange": "reversed"}, bargap=0.35)
    return figure


def _numbers(record: RunRecord) -> tuple[float, ...]:
    phase2 = record.phase2
    return (phase2.rounds, phase2.exchanges, phase2.messages, phase2.bytes / 1024, record.seconds)


def _counted(value: float, what: str) -> str:
    return f"{_digits(value)} {what.removesuffix('s') if value == 1 else what}"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
