"""How much masks hide, against σ: the difference that is hidden, the guess, and the trade-off of two errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from tacit.report.palette import LIGHT, LINES
from tacit.report.style import POWERS, Trail, draw, note, picture, point_at

if TYPE_CHECKING:
    from tacit.certificates import Certificate

_AROUND = np.logspace(-2, 2, 81)  # factors of the chosen σ
_GUESSES = (0.51, 0.6, 0.75)


def hidden_difference(certificate: Certificate) -> go.Figure:
    """Draw how large a difference is hidden at every σ, with the chosen σ marked.

    d = σ·√(2μ)·2Φ⁻¹(guess): twice the σ hides twice the difference.
    """
    chosen, sigmas = certificate.sigma, certificate.sigma * _AROUND
    if not _drawable(certificate):
        return _nothing("How large a difference is hidden", certificate)
    now = certificate.hidden_difference()
    title = f"Worlds may differ by {now:.3g} before a guess is right 51 % of the time"
    figure = picture(
        title, f"{title}, at the chosen sigma of {chosen:g}; the hidden difference grows in proportion to sigma.",
        xaxis={"title": {"text": "σ of the masks"}, "type": "log"},
        yaxis={"title": {"text": "hidden difference"}, "type": "log", **POWERS},
    )  # fmt: skip
    colours = (LIGHT.blue, LIGHT.teal, LIGHT.purple)
    draw(
        figure,
        *(
            Trail(
                sigmas.tolist(),
                (certificate.hidden_difference(guess) * _AROUND).tolist(),
                f"{guess:.0%} right",
                colour,
            )
            for guess, colour in zip(_GUESSES, colours, strict=True)
        ),
    )
    _mark(figure, chosen, now, f"σ = {chosen:g}")
    return figure


def guess(certificate: Certificate | Mapping[str, Certificate], hide: float | None = None) -> go.Figure:
    """Draw how often the coalition guesses right between two worlds that differ by *hide*, at every σ.

    Of several certificates, by name, the curves of all.
    """
    if isinstance(certificate, Mapping):
        return _guesses(certificate, 1.0 if hide is None else hide)
    if not _drawable(certificate):
        return _nothing("How often a guess is right", certificate)
    size = hide if hide is not None else certificate.hide if certificate.hide is not None else 1.0
    chosen, now = certificate.sigma, certificate.guess(size)
    title = f"Between worlds that differ by {size:g}, a guess is right {100 * now:.3g} % of the time"
    figure = _guess_axes(title, f"{title}, at sigma {chosen:g}; the guess falls to a coin's 50 % as sigma grows.")
    share = [certificate.guess(size / factor) for factor in _AROUND]
    draw(figure, Trail((chosen * _AROUND).tolist(), share, "", LIGHT.blue))
    _coin(figure, float(chosen * _AROUND[0]))
    _mark(figure, chosen, now, f"σ = {chosen:g}", yanchor="bottom")
    return figure


def _guesses(certificates: Mapping[str, Certificate], size: float) -> go.Figure:
    """Draw several curves, each with its label beside it: those that fall first on their left."""
    drawn = {name: each for name, each in certificates.items() if _drawable(each)}
    if not drawn:
        return _nothing("How often a guess is right", next(iter(certificates.values())))
    halfway = {name: each.sigma * size / each.hidden_difference(0.75) for name, each in drawn.items()}
    order = sorted(drawn, key=halfway.__getitem__)
    says = "; ".join(f"{name}: right 75 % of the time at sigma {halfway[name]:.3g}" for name in order)
    title = "Larger masks bring every guess closer to a coin"
    figure = _guess_axes(title, f"{title}, between worlds that differ by {size:g}. {says}.")
    figure.update_layout(xaxis_dtick="D2", height=420)
    sigmas = np.geomspace(min(halfway.values()) / 8.0, max(halfway.values()) * 12.0, 161)
    colours = [getattr(LIGHT, LINES[k % len(LINES)]) for k in range(len(order))]
    lines = []
    for name, colour in zip(order, colours, strict=True):
        share = [drawn[name].guess(size * drawn[name].sigma / sigma) for sigma in sigmas]
        lines.append(Trail(sigmas.tolist(), share, "", colour))
    draw(figure, *lines)
    _coin(figure, float(sigmas[0]))
    left = len(order) // 2
    for k, (name, colour) in enumerate(zip(order, colours, strict=True)):
        level = 0.71 - 0.07 * k if k < left else 0.74 + 0.07 * (k - left)
        x = drawn[name].sigma * size / drawn[name].hidden_difference(level)
        point_at(figure, x, level, name, colour, left=k < left)
    return figure


def _guess_axes(title: str, says: str) -> go.Figure:
    return picture(
        title, says,
        xaxis={"title": {"text": "σ of the masks"}, "type": "log"},
        yaxis={"title": {"text": "guess is right"}, "tickformat": ".0%", "range": [0.45, 1.03]},
    )  # fmt: skip


def _coin(figure: go.Figure, x: float) -> None:
    figure.add_hline(y=0.5, line={"color": LIGHT.grey, "dash": "dot", "width": 1.5})
    note(figure, x, 0.5, "a coin", LIGHT.grey, xanchor="left", yanchor="top")


def tradeoff(certificate: Certificate, distance: float | None = None) -> go.Figure:
    """Draw the least share of missed changes against the share of false alarms: what no test can go below."""
    if not _drawable(certificate):
        return _nothing("No test can do better", certificate)
    size = distance or certificate.hide or 1.0
    curve, alarms = certificate.tradeoff(size), np.linspace(0.0, 1.0, 101)
    title = f"Whoever looks for a difference of {size:g} misses it, or cries wolf"
    figure = picture(
        title, f"{title}: with 5 % false alarms, {100 * curve.false_negatives(0.05):.3g} % of changes are missed.",
        xaxis={"title": {"text": "false alarms"}, "tickformat": ".0%", "range": [0, 1], "constrain": "domain"},
        yaxis={"title": {"text": "missed changes"}, "tickformat": ".0%", "range": [0, 1.02], "scaleanchor": "x"},
        height=420,
    )  # fmt: skip
    best = [curve.false_negatives(share) for share in alarms]
    draw(
        figure,
        Trail(alarms.tolist(), (1.0 - alarms).tolist(), "", LIGHT.grey, "dot"),
        Trail(alarms.tolist(), best, "", LIGHT.blue),
    )
    note(figure, 0.62, 0.46, "a coin", LIGHT.grey)
    note(figure, 0.3, curve.false_negatives(0.3), "the best test", LIGHT.blue, yanchor="top", xanchor="right")
    return figure


def _mark(figure: go.Figure, x: float, y: float, text: str, *, yanchor: str = "top") -> None:
    figure.add_scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker={"size": 11, "color": LIGHT.orange},
        hovertemplate=f"{text}<extra></extra>",
    )
    note(figure, x, y, text, LIGHT.orange, xanchor="left", yanchor=yanchor, xshift=8)


def _drawable(certificate: Certificate) -> bool:
    """Tell whether there is a curve: a finite σ, and something that it hides."""
    return certificate.is_private and math.isfinite(certificate.sigma)


def _nothing(title: str, certificate: Certificate) -> go.Figure:
    """Return the picture of a certificate without a curve: the reason in its place."""
    reason = (
        "Secret sums have no σ: they hide every difference." if certificate.is_perfect else "Nothing is guaranteed."
    )
    reason = reason if certificate.is_private or not certificate.is_perfect else "Something is learnt exactly."
    figure = picture(f"{title}: {reason}", f"{title}. {reason}", height=140)
    figure.update_layout(xaxis={"visible": False}, yaxis={"visible": False})
    return figure
