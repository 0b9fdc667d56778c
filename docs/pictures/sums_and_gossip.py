"""Hops against error: a few secret sums, or hundreds of rounds of gossip."""

from __future__ import annotations

import networkx as nx
import numpy as np
from strokes import Point, picture, segment, text

import tacit
from tacit.algorithms import ALGORITHMS, Landscape
from tacit.masks import AffineMasks, Keystreams, Mechanism, SumMasks, agent_keys
from tacit.runtimes import Stacked

FEWEST, HOPS = 10, 4000  # shown, on a logarithmic axis
ABOVE, BELOW = 3, -10  # decades shown


def logistic() -> tacit.Problem:
    """Return twenty agents with thirty records each on a random 4-regular network, and five unknowns."""
    rng = np.random.default_rng(1)
    truth = rng.standard_normal(5)
    costs = []
    for _ in range(20):
        A = rng.standard_normal((30, 5))
        costs.append(tacit.Logistic(A, A @ truth + rng.standard_normal(30) > 0, l2=0.05))
    return tacit.Problem(nx.random_regular_graph(4, 20, seed=1), costs)


def journey(problem: tacit.Problem, best: np.ndarray, name: str, mechanism: Mechanism) -> list[tuple[int, float]]:
    """Return hops so far and the worst agent's distance from the optimum, round by round, down to the bottom."""
    kind, network = ALGORITHMS[name], problem.network
    algorithm = kind.tuned(Landscape(problem.stack, network, kind.weights))
    stacked = Stacked(network, kind.weights)
    source = Keystreams(agent_keys(len(network), seed=7), network.degrees)
    cost, peers = mechanism.hide(problem.stack, stacked, source, network=network)
    state = algorithm.init(problem.x0 if kind.sums else np.tile(problem.x0, (len(network), 1)), cost)
    seen: list[tuple[int, float]] = []
    while not seen or (seen[-1][1] > 10.0**BELOW and seen[-1][0] < HOPS):
        state = algorithm.step(state, peers, cost)
        seen.append((stacked.traffic.exchanges, float(np.abs(state.x - best).max())))
    return [(hops, error) for hops, error in seen if hops >= FEWEST]


def sums() -> str:
    """Return hops against error on logarithmic axes, for sums in secret and for gossip under affine masks."""
    left, right, top, bottom = 78.0, 796.0, 76.0, 420.0

    def at(hops: float, error: float) -> Point:
        share = float(np.log(hops / FEWEST) / np.log(HOPS / FEWEST))
        height = (ABOVE - float(np.log10(max(error, 10.0**BELOW)))) / (ABOVE - BELOW)
        return left + (right - left) * share, top + (bottom - top) * height

    body = [
        text((left - 54, 36), "A few sums, or hundreds of rounds of gossip", "ink title", "start"),
        text(
            (left - 54, 56),
            "logistic regression: distance from the optimum by secret sums (lines) and by gossip, affine masks "
            "(dashes)",
            "soft small",
            "start",
        ),
    ]
    for decade in range(3, BELOW, -3):
        y = at(FEWEST, 10.0**decade)[1]
        power = "1" if decade == 0 else "10" + str(decade).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        body += [segment((left, y), (right, y), "rule")]
        body += [text((left - 8, y + 4.5), power, "soft small", "end")]
    for mark in (10, 20, 50, 100, 200, 500, 1000, 2000):
        body += [text((at(mark, 1)[0], bottom + 18), str(mark), "soft small")]
    words = "hops: times that agents wait for their neighbours"
    body += [text(((left + right) / 2, bottom + 40), words, "soft small")]

    problem = logistic()
    best = tacit.solve(problem, algorithm="newton", tolerance=1e-13).x
    secret, affine = SumMasks(), AffineMasks(1e3)
    runs = [("newton", secret, "c"), ("lbfgs", secret, "b"), ("fista", secret, "d")]
    runs += [("nids", affine, "a"), ("gradient-tracking", affine, "e")]
    for name, mechanism, kind in runs:
        seen = journey(problem, best, name, mechanism)
        every = 1 if mechanism is secret else max(1, len(seen) // 120)
        points = [at(*seen[k]) for k in sorted({*range(0, len(seen), every), len(seen) - 1})]
        dashes = "" if mechanism is secret else ' stroke-dasharray="6 4"'
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        body += [f'<polyline class="line line-{kind}" points="{path}"{dashes}/>']
        if name in ("newton", "lbfgs"):
            body += [f'<circle class="text-{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]

    labels = (
        ("c", (244, 300), "Newton", "end"),
        ("b", (326, 290), "L-BFGS", "start"),
        ("d", (540, 372), "FISTA", "start"),
        ("a", (446, 206), "NIDS", "start"),
        ("e", (634, 228), "gradient tracking", "start"),
    )
    for kind, place, label, anchor in labels:
        body += [text(place, label, f"text-{kind} strong", anchor)]
    return picture(
        830,
        476,
        "Hops against error, by secret sums and by gossip",
        "Logistic regression, twenty agents with four links each, five unknowns. To ten digits, Newton by secret "
        "sums takes about 60 hops and L-BFGS 100; under affine masks NIDS takes 440 and gradient tracking 1800. "
        "FISTA by secret sums, which adds up gradients only, takes 550.",
        body,
    )
