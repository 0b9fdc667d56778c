"""σ against how often the worst coalition guesses right."""

from __future__ import annotations

import networkx as nx
import numpy as np
from strokes import Point, picture, segment, text

import tacit
from tacit.certificates import TradeOff

LEAST, MOST = 0.1, 20.0  # σ shown


def guesses() -> str:
    """Return how often the worst coalition guesses right, against σ, labelled at the lines."""
    left, right, top, bottom = 78.0, 796.0, 76.0, 420.0

    def at(sigma: float, guess: float) -> Point:
        share = float(np.log(sigma / LEAST) / np.log(MOST / LEAST))
        return left + (right - left) * share, bottom - (bottom - top) * (guess - 0.5) / 0.5

    body = [
        text((left - 54, 36), "Larger masks bring every guess closer to a coin", "ink title", "start"),
        text(
            (left - 54, 56),
            "64 agents with six random links each: how often the worst t guess right between two worlds 1 apart",
            "soft small",
            "start",
        ),
    ]
    for percent in range(50, 101, 10):
        y = at(1, percent / 100)[1]
        body += [segment((left, y), (right, y), "rule")]
        body += [text((left - 8, y + 4.5), f"{percent} %", "soft small", "end")]
    for mark in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20):
        body += [text((at(mark, 0.5)[0], bottom + 18), f"{mark:g}", "soft small")]
    body += [text(((left + right) / 2, bottom + 40), "σ", "soft")]

    random, ring = nx.random_regular_graph(6, 64, seed=1), nx.circulant_graph(64, [1, 2, 3])
    drawn = {kind: tacit.certify(random, any=t, sigma=1.0) for t, kind in enumerate("abcd")}
    drawn["e"] = tacit.certify(ring, any=2, sigma=1.0)
    for kind, certificate in drawn.items():
        sigmas = np.geomspace(LEAST, MOST, 160)
        points = (at(sigma, certificate.guess(1.0 / sigma)) for sigma in sigmas)  # only the ratio counts
        path = " ".join("{:.1f},{:.1f}".format(*point) for point in points)
        dashes = ' stroke-dasharray="6 4"' if kind == "e" else ""
        body += [f'<polyline class="line line-{kind}" points="{path}"{dashes}/>']

    labels = (
        ("a", 0.730, "end", "t = 0"),
        ("b", 0.660, "end", "t = 1"),
        ("c", 0.740, "start", "t = 2"),
        ("d", 0.810, "start", "t = 3"),
        ("e", 0.775, "start", "t = 2 on a ring with chords"),
    )
    for kind, guess, anchor, label in labels:
        unit = drawn[kind].tradeoff(1.0).mu
        x, y = at(unit / TradeOff.of_guess(guess).mu, guess)
        away = 30.0 if anchor == "start" else -30.0
        body += [segment((x, y), (x + away, y), f"line-{kind}")]
        body += [f'<circle class="text-{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>']
        body += [text((x + 1.2 * away, y + 4.5), label, f"text-{kind} strong", anchor)]
    return picture(
        830,
        476,
        "σ against how often the worst coalition guesses right",
        "64 agents with six links each, at random. With σ = 2 the worst three guess right 56 % of the time, and "
        "guarding against three agents instead of none costs a fifth more σ. A ring with chords, with as many "
        "links, needs four times as much.",
        body,
    )
