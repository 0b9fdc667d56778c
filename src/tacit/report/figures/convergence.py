"""How the agents came to agree: the estimated error by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from tacit.report.palette import LIGHT, LINES
from tacit.report.style import POWERS, Trail, draw, picture

if TYPE_CHECKING:
    from tacit.runtimes import Check
    from tacit.solving import Answer, RunRecord

_FLOOR = 1e-17  # what a logarithmic axis shows of a zero


def convergence(run: Answer | RunRecord | Mapping[str, Answer | RunRecord]) -> go.Figure:
    """Draw how error and disagreement fall; of several runs, by name, the error of each.

    >>> import networkx as nx, tacit
    >>> costs = [tacit.Quadratic.distance([point]) for point in (1.0, 2.0, 6.0)]
    >>> answer = tacit.solve(tacit.Problem(nx.complete_graph(3), costs), privacy=tacit.AffineMasks(10.0))
    >>> convergence(answer).layout.yaxis.title.text
    'relative to the answer'
    """
    return _several(run) if isinstance(run, Mapping) else _one(_record(run))


def _one(record: RunRecord) -> go.Figure:
    count = record.phase2.rounds
    title = f"{record.phase2.algorithm}: {record.status} after {count} round{'s' * (count != 1)}"
    return _drawn(record.history, title, f"{title}. {record.sentence}")


def looks(history: Sequence[Check], status: str) -> go.Figure:
    """Draw the same from what one member of a federation has looked at."""
    count = history[-1].round if history else 0
    title = f"{status.capitalize()} after {count} round{'s' * (count != 1)}"
    return _drawn(history, title, f"{title}.")


def _drawn(history: Sequence[Check], title: str, says: str) -> go.Figure:
    figure, rounds = _axes(title, says), [check.round for check in history]
    draw(
        figure,
        Trail(rounds, _shown([check.error for check in history]), "estimated error", LIGHT.blue),
        Trail(rounds, _shown([check.disagreement for check in history]), "disagreement", LIGHT.orange),
        Trail(rounds, _shown([check.change for check in history]), "change", LIGHT.grey),
    )
    return figure


def _several(runs: Mapping[str, Answer | RunRecord]) -> go.Figure:
    records = {name: _record(run) for name, run in runs.items()}
    says = "; ".join(
        f"{name}: {record.status} after {record.phase2.rounds} rounds" for name, record in records.items()
    )
    figure = _axes(f"{len(records)} runs of the same problem", says)
    lines = []
    for k, (name, record) in enumerate(records.items()):
        values = [check.error if check.error is not None else check.change for check in record.history]
        colour = getattr(LIGHT, LINES[k % len(LINES)])
        lines.append(Trail([check.round for check in record.history], _shown(values), name, colour))
    draw(figure, *lines)
    return figure


def _axes(title: str, says: str) -> go.Figure:
    return picture(
        title, says,
        xaxis={"title": {"text": "round"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "relative to the answer"}, "type": "log", **POWERS, "dtick": 2},
    )  # fmt: skip


def _shown(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else max(value, _FLOOR) for value in values]


def _record(run: Answer | RunRecord) -> RunRecord:
    from tacit.solving import RunRecord

    return run if isinstance(run, RunRecord) else run.record
