"""Draw what a neighbour believes, for the README, light and dark: python docs/pictures/audit/draw.py.

Six clinics work out their mean waiting time. Each is linked to all others, and east listens. Masks come from a seed
here, so that the picture is the same every time: it is a simulation, and NOT PRIVATE. Needs kaleido and Chromium.
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np

import tacit
from tacit.auditing import BestEstimate, Row, overhear
from tacit.report import dark, figures

WAITING = {"north": 12.5, "south": 31.0, "east": 18.0, "west": 9.5, "harbour": 44.0, "mountain": 23.5}  # days


def rows() -> list[Row]:
    """Return what east believes about the others, as waiting times."""
    graph = nx.relabel_nodes(nx.complete_graph(len(WAITING)), dict(enumerate(WAITING)))
    costs = [tacit.Quadratic(np.eye(1), [-days]) for days in WAITING.values()]  # ½x² − days·x: least at the mean
    heard = overhear(tacit.Problem(graph, costs), ["east"], privacy=tacit.AffineMasks(sigma=1e4, seed=3))
    return [Row(agent=row.agent, truth=_days(row.truth), without_masks=_of(row.without_masks), with_masks=_of(row.with_masks)) for row in heard]  # fmt: skip  # noqa: E501


def _days(gradient: list[float]) -> list[float]:
    """Return the number whose negative an agent's gradient at 0 is."""
    return [-value for value in gradient]


def _of(belief: BestEstimate | None) -> BestEstimate | None:
    if belief is None:
        return None
    return BestEstimate(attack=belief.attack, value=_days(belief.value), deviation=belief.deviation)


def main(folder: Path) -> None:
    """Write both pictures."""
    figure = figures.believed(rows(), who="east")
    for name, shown in (("believed-light", figure), ("believed-dark", dark(figure))):
        shown.write_image(folder / f"{name}.svg", width=760, height=figure.layout.height)
        print(f"Wrote {name}.svg.")


if __name__ == "__main__":
    main(Path(__file__).parent)
