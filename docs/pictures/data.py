"""Draw the documents' data pictures: python docs/pictures/data.py [folder]. Needs kaleido and Chromium.

believed-light.svg, believed-dark.svg   what a neighbour believes without masks and with
convergence.svg                         exchanges against error, for masks of different sizes
guess.svg                               σ against how often the worst coalition guesses right
sums.svg                                exchanges against error: a few secret sums, or hundreds of rounds of gossip

Every number is computed by tacit when this script runs, and every picture is one of `tacit.report.figures`. Masks
come from a seed here: a picture is a simulation, and is NOT PRIVATE.
"""

from __future__ import annotations

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import plotly.graph_objects as go

import tacit
from tacit.auditing import BestEstimate, Row, overhear
from tacit.comparing import Runner, race
from tacit.masks import Mechanism
from tacit.report import figures, save

WAITING = {"north": 12.5, "south": 31.0, "east": 18.0, "west": 9.5, "harbour": 44.0, "mountain": 23.5}  # days


def believed() -> go.Figure:
    """Six clinics work out their mean waiting time; each is linked to all others, and east listens."""
    graph = nx.relabel_nodes(nx.complete_graph(len(WAITING)), dict(enumerate(WAITING)))
    costs = [tacit.Quadratic(np.eye(1), [-days]) for days in WAITING.values()]  # ½x² − days·x: least at the mean
    heard = overhear(tacit.Problem(graph, costs), ["east"], privacy=tacit.AffineMasks(sigma=1e4, seed=3))
    rows = [
        Row(
            agent=row.agent,
            truth=_days(row.truth),
            without_masks=_in_days(row.without_masks),
            with_masks=_in_days(row.with_masks),
        )
        for row in heard
    ]
    return figures.believed(rows, who="east")


def _days(gradient: list[float]) -> list[float]:
    """Return the number whose negative an agent's gradient at 0 is."""
    return [-value for value in gradient]


def _in_days(belief: BestEstimate | None) -> BestEstimate | None:
    if belief is None:
        return None
    return BestEstimate(attack=belief.attack, value=_days(belief.value), deviation=belief.deviation)


def convergence() -> go.Figure:
    """Twenty agents with eight records each on a random 4-regular network, and ten unknowns."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(10)
    costs = []
    for _ in range(20):
        A = rng.standard_normal((8, 10))
        costs.append(tacit.LeastSquares(A, A @ truth + 0.1 * rng.standard_normal(8)))
    problem = tacit.Problem(nx.random_regular_graph(4, 20, seed=1), costs)

    def runner(algorithm: str, privacy: Mechanism | None, limit: int = 270) -> Runner:
        return race(problem, [algorithm], privacy=privacy, seeds=1, max_exchanges=limit, finest=1e-9).runners[0]

    return figures.raced(
        {
            "no masks": runner("nids", None),
            "σ = 1": runner("nids", tacit.AffineMasks(1.0)),
            "σ = 10³": runner("nids", tacit.AffineMasks(1e3)),
            "σ = 10⁶": runner("nids", tacit.AffineMasks(1e6)),
            "DGD, σ = 10³": runner("dgd", tacit.AffineMasks(1e3)),
        },
        title="Larger masks cost more rounds; DGD does not get there at all",
    )


def guess() -> go.Figure:
    """64 agents with six random links each, and a ring with chords that has as many."""
    random, ring = nx.random_regular_graph(6, 64, seed=1), nx.circulant_graph(64, [1, 2, 3])
    names = ("nobody corrupted", "any one agent", "any two agents", "any three agents")
    drawn = {name: tacit.certify(random, any=t, sigma=1.0) for t, name in enumerate(names)}
    return figures.guess(drawn | {"any two on a ring with chords": tacit.certify(ring, any=2, sigma=1.0)}, 1.0)


def sums() -> go.Figure:
    """Twenty agents with thirty records each on a random 4-regular network, and five unknowns."""
    rng = np.random.default_rng(1)
    truth = rng.standard_normal(5)
    costs = []
    for _ in range(20):
        A = rng.standard_normal((30, 5))
        costs.append(tacit.Logistic(A, A @ truth + rng.standard_normal(30) > 0, l2=0.05))
    problem = tacit.Problem(nx.random_regular_graph(4, 20, seed=1), costs)
    secret = race(problem, ["newton", "lbfgs", "fista"], privacy=tacit.SumMasks(), seeds=1)
    gossip = race(problem, ["nids", "gradient-tracking"], privacy=tacit.AffineMasks(1e3), seeds=1)
    names = {"newton": "Newton", "lbfgs": "L-BFGS", "fista": "FISTA"}
    masked = {"nids": "NIDS", "gradient-tracking": "tracking"}
    drawn = {names[each.algorithm]: each for each in secret.runners}
    drawn |= {f"{masked[each.algorithm]}, gossip": each for each in gossip.runners}
    return figures.raced(drawn, title="A few secret sums, or hundreds of rounds of gossip", logarithmic=True)


def main(folder: Path) -> None:
    """Write all pictures."""
    for scheme in ("light", "dark"):
        save(believed(), folder / f"believed-{scheme}.svg", scheme=scheme, width=760)
    for drawing in (convergence, guess, sums):
        save(drawing(), folder / f"{drawing.__name__}.svg", scheme="both")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
