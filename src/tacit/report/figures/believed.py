"""What a coalition believes about everybody else, without masks and with: the audit's headline as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from tacit.auditing import BestEstimate, Row
from tacit.report.palette import LIGHT
from tacit.report.style import picture, plain

_ROW = 32  # pixels
_EXACT = 1e-6  # of a number's size: what counts as read
_SHOWN = 2  # numbers of an agent


def believed(rows: Sequence[Row], *, who: str = "the coalition") -> go.Figure:
    """Draw the truth about every agent beside what *who* believes after a run without masks, and after one with.

    The rows hold private numbers: the picture is for whoever simulates.
    """
    read = sum(is_read(row.without_masks) for row in rows)
    masked = sum(is_read(row.with_masks) for row in rows)
    title = f"Without masks {who} reads {read} of {len(rows)} others; with masks {masked or 'none'}"
    columns = [
        [f"<b>{plain(row.agent)}</b>" for row in rows],
        [_numbers(row.truth) for row in rows],
        [_belief(row.without_masks) for row in rows],
        [_belief(row.with_masks) for row in rows],
    ]
    colours = [
        [LIGHT.ink],
        [LIGHT.ink],
        [LIGHT.red if is_read(row.without_masks) else LIGHT.teal for row in rows],
        [LIGHT.red if is_read(row.with_masks) else LIGHT.teal for row in rows],
    ]
    heads = ["", "the truth", f"{plain(who)} believes,<br>without masks", f"{plain(who)} believes,<br>with masks"]
    says = "; ".join(f"{row.agent}: {_numbers(row.truth)}, believed {' and '.join(_both(row))}" for row in rows)
    figure = picture(title, f"{title}. {says}.", height=132 + _ROW * len(rows))
    figure.add_table(
        columnwidth=[3, 3, 5, 6],
        header={
            "values": heads, "align": "left", "height": 44, "fill_color": LIGHT.card, "line_color": LIGHT.rule,
            "font": {"color": LIGHT.soft, "size": 13},
        },
        cells={
            "values": columns, "align": "left", "height": _ROW, "fill_color": LIGHT.paper, "line_color": LIGHT.rule,
            "font": {"color": colours, "size": 15},
        },
    )  # fmt: skip
    figure.update_layout(margin={"l": 8, "r": 8, "b": 8})
    return figure


def is_read(belief: BestEstimate | None) -> bool:
    """Tell whether a belief is as good as the number itself."""
    return belief is not None and belief.deviation <= _EXACT * max(1.0, *map(abs, belief.value))


def _both(row: Row) -> tuple[str, str]:
    return _belief(row.without_masks), f"{_belief(row.with_masks)} with masks"


def _belief(belief: BestEstimate | None) -> str:
    if belief is None:
        return "nothing"
    return f"{_numbers(belief.value)}, {'exactly' if is_read(belief) else f'give or take {belief.deviation:,.0f}'}"


def _numbers(values: Sequence[float]) -> str:
    large = max(map(abs, values), default=0.0) >= 100.0
    shown = ", ".join(f"{value:,.0f}" if large else f"{value:.4g}" for value in values[:_SHOWN])
    return (f"{shown}, …" if len(values) > _SHOWN else shown).replace("-", "−")
