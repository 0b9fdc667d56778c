"""The dashboard of one member, as deploy/grafana-dashboard.json lays it out; its numbers are made up."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from strokes import picture, text

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana-dashboard.json"
CELL = (40.0, 22.0)  # pixels of one cell of Grafana's grid
SHOWN = {
    "Phase": ("rounds", "c"),
    "Round": ("12", "c"),
    "Links up": ("3 of 4", "c"),
    "Longest wait": ("31 s", "e"),
    "Running for": ("2 h", "c"),
    "Version": ("0.1.0", "c"),
}


def dashboard() -> str:
    """Return the panels where they are, the single numbers with an example, the others with what they show."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    body, lowest = [], 0.0
    for panel in panels:
        at = panel["gridPos"]
        x, y = 10 + at["x"] * CELL[0], 10 + at["y"] * CELL[1]
        width, height = at["w"] * CELL[0], at["h"] * CELL[1]
        lowest = max(lowest, y + height)
        body += [
            f'<rect class="card" x="{x + 4:.1f}" y="{y + 4:.1f}" width="{width - 8:.1f}" height="{height - 8:.1f}" '
            'rx="4"/>',
            text((x + 16, y + 27), panel["title"], "ink strong", "start"),
        ]
        if panel["title"] in SHOWN:
            value, kind = SHOWN[panel["title"]]
            body += [text((x + 16, y + 62), value, f"text-{kind} title", "start")]
            continue
        for k, line in enumerate(textwrap.wrap(panel["description"], int(width / 7.5))):
            body += [text((x + 16, y + 50 + 18 * k), line, "soft small", "start")]
    return picture(
        int(24 * CELL[0]) + 20,
        int(lowest) + 10,
        "The dashboard of one member",
        "Six numbers on top: phase, round, links that are up, the longest wait, for how long the agent has been "
        "running, and its version. Below them, over time: links, whom the agent waits for, rounds, messages, when "
        "neighbours were last heard, traffic, trouble on links, and the process.",
        body,
    )
