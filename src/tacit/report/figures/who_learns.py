"""Who learns what: coalitions against agents, a square each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from tacit.listing import listed
from tacit.report.palette import LIGHT
from tacit.report.style import picture, plain

if TYPE_CHECKING:
    from tacit.certificates import Certificate

_KINDS = ("itself", "hidden", "part of a sum that is learnt", "learnt exactly", "not guaranteed to be hidden")
_SIGNS = ("·", "", "Σ", "✕", "?")
_COLOURS = (LIGHT.card, LIGHT.pale, LIGHT.sand, LIGHT.red, LIGHT.blush)


def who_learns(certificates: Sequence[Certificate]) -> go.Figure:
    """Draw what every coalition (a row; one certificate each) learns of every agent (a column)."""
    agents = list(dict.fromkeys(a for c in certificates for a in (*(c.coalition or ()), *c.uncertainty)))
    rows = [[_kind(certificate, agent) for agent in agents] for certificate in certificates]
    names = [listed(c.coalition) if c.coalition else "whoever listens" for c in certificates]
    exposed = sum(kind == 3 for row in rows for kind in row)
    doubtful = any(kind == 4 for row in rows for kind in row)
    title = (
        "Not everybody's number is guaranteed to be hidden"
        if doubtful
        else "Nobody learns anybody's number exactly"
    )
    title = f"{exposed} number(s) are learnt exactly" if exposed else title
    says = "; ".join(
        f"{name} learns {listed([agents[k] for k, kind in enumerate(row) if kind == 3])}"
        for name, row in zip(names, rows, strict=True)
        if 3 in row
    )
    figure = picture(
        title, f"{title}. {says}.".replace(". .", "."), height=140 + 26 * max(len(rows), 3),
        xaxis={"title": {"text": "of agent"}, "side": "top", "type": "category", "showgrid": False, "ticks": ""},
        yaxis={"title": {"text": "coalition"}, "autorange": "reversed", "type": "category", "showgrid": False},
    )  # fmt: skip
    steps = [((k + edge) / len(_COLOURS), colour) for k, colour in enumerate(_COLOURS) for edge in (0, 1)]
    figure.add_heatmap(
        x=[plain(str(agent)) for agent in agents], y=[*map(plain, names)], z=rows, showscale=False,
        zmin=-0.5, zmax=len(_COLOURS) - 0.5, colorscale=steps,
        xgap=2, ygap=2, text=[[_SIGNS[kind] for kind in row] for row in rows], texttemplate="%{text}",
        customdata=[[_KINDS[kind] for kind in row] for row in rows],
        hovertemplate="%{y}, of %{x}: %{customdata}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(margin_t=110)
    return figure


def _kind(certificate: Certificate, agent: Any) -> int:
    if agent in (certificate.coalition or ()):
        return 0
    if agent in certificate.exposed_agents:
        return 3
    if any(stamp.voids and (not stamp.agents or str(agent) in stamp.agents) for stamp in certificate.stamps):
        return 4
    return 2 if any(agent in agents for agents in certificate.exposed_sums) else 1
