"""The two phases on the paper's triangle, with its own random numbers."""

from __future__ import annotations

import numpy as np
from strokes import Point, node, picture, segment, text

from tacit.solving.illustration import EXCHANGED, POINTS, TRIANGLE, agreed, effective_costs, masks


def arrow(start: Point, end: Point, label: str) -> list[str]:
    """Return what one agent sends another: an arrow right of the link, with its number beside it."""
    p, q = np.array(start), np.array(end)
    along = (q - p) / np.linalg.norm(q - p)
    right = np.array([-along[1], along[0]])
    p, q = p + 30 * along + 7 * right, q - 32 * along + 7 * right
    tip = [q, q - 10 * along + 4.5 * right, q - 10 * along - 4.5 * right]
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in tip)
    share = 0.5 if along[1] == 0 else 0.5 + 0.16 * np.sign(along[1])  # slanted links: lower, where there is room
    place = p + share * (q - p) + right * np.array([44.0, 16.0]) + [0.0, 5.0]
    return [
        segment(tuple(p), tuple(q - 8 * along), "line line-c"),
        f'<polygon class="text-c" points="{corners}"/>',
        text(tuple(place), label, "text-c small"),
    ]


def phases() -> str:
    """Return the two phases side by side."""
    places = {1: (235.0, 112.0), 2: (92.0, 300.0), 3: (378.0, 300.0)}
    body = [
        text((235, 36), "Phase 1: hide", "ink title"),
        text((235, 58), "neighbours exchange random numbers, once", "soft small"),
    ]
    for (i, j), r in EXCHANGED.items():
        body += arrow(places[i], places[j], f"r_{{{i}{j}}} = {r}")
    for agent, at in places.items():
        body += node(at, agent)
    for agent, a, place in zip(POINTS, masks(), ((312, 106), (92, 346), (378, 346)), strict=True):
        body += [text(place, f"a_{{{agent}}} = {number(a)}", "ink strong", "start" if agent == 1 else "middle")]
    came = " + ".join(f"({EXCHANGED[j, 1]} − {EXCHANGED[1, j]})" for j in (2, 3))
    body += [
        text((312, 126), came, "soft small", "start"),
        text((235, 352), f"they add up to {abs(round(float(masks().sum()), 12)):g}", "ink strong"),
        text((235, 380), "mask = what came in − what went out", "soft small"),
    ]

    body += [segment((500, 28), (500, 388), "rule")]
    places = {1: (735.0, 146.0), 2: (610.0, 292.0), 3: (860.0, 292.0)}
    body += [
        text((735, 36), "Phase 2: agree", "ink title"),
        text((735, 58), "any algorithm, on the effective costs", "soft small"),
    ]
    for a, b in TRIANGLE.edges():
        body += [segment(places[a], places[b], "edge", ' stroke-width="2"')]
    for agent, at in places.items():
        body += node(at, agent)
    for (agent, point), cost in zip(POINTS.items(), effective_costs(), strict=True):
        x, y = places[agent]
        above = agent == 1
        own = f"own cost: x² − {2 * point:g}x"
        shown = f"effective: x² − {-cost.affine[0]:.1f}x"
        body += [
            text((x, y - 52 if above else y + 44), own, "soft small"),
            text((x, y - 32 if above else y + 63), shown, "ink strong"),
        ]
    answer = agreed()
    slope = -sum(float(cost.affine[0]) for cost in effective_costs())
    body += [
        text((735, 240), f"x = {answer.x[0]:.0f}", "text-b title"),
        text((735, 259), "all three agree", "text-b small"),
        text((735, 380), f"the sum is what it was: 3x² − {slope:.0f}x", "soft small"),
    ]
    return picture(
        980,
        404,
        "The two phases on three agents",
        "Left: neighbours exchange random numbers; each agent adds up what came in less what went out, and these "
        "masks add up to zero. Right: each agent uses its effective cost, and all agree on x = 3.",
        body,
    )


def number(a: float) -> str:
    """Return a signed number with a real minus."""
    return f"{'−' if a < 0 else '+'}{abs(a):.1f}"
