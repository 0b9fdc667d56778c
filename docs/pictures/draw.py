"""Draw the pictures of the documentation: python docs/pictures/draw.py [folder].

phases.svg        the two phases on the paper's triangle, with its own random numbers
convergence.svg   rounds against error, for masks of different sizes
guess.svg         σ against how often the worst coalition guesses right
sums.svg          hops against error: a few secret sums, or hundreds of rounds of gossip
dashboard.svg     the dashboard of one member, as deploy/grafana-dashboard.json lays it out

Every number in them is computed by tacit when this script runs, but for those of the dashboard, which are made up.
Masks come from a seed here: a picture is a simulation, and is NOT PRIVATE.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import networkx as nx
import numpy as np

import tacit
from tacit.algorithms import ALGORITHMS, Landscape
from tacit.certificates import TradeOff
from tacit.cli.illustration import EXCHANGED, POINTS, TRIANGLE, effective_costs, masks
from tacit.masks import AffineMasks, Keystreams, Mechanism, SumMasks, agent_keys
from tacit.runtimes import Stacked

Point = tuple[float, float]

LIGHT = {
    "card": "fill: #ffffff; stroke: #d4d7dd",
    "ink": "fill: #1f2430",
    "soft": "fill: #5b6270",
    "rule": "stroke: #d4d7dd",
    "edge": "stroke: #9aa1ad",
    "node": "fill: #e8eefc; stroke: #2f5fd0",
    "a": "--: #6b7280",
    "b": "--: #0f8a7e",
    "c": "--: #2f5fd0",
    "d": "--: #8a3fc4",
    "e": "--: #c2410c",
}
DARK = {
    "card": "fill: #14171e; stroke: #343a46",
    "ink": "fill: #eceff4",
    "soft": "fill: #a3abb9",
    "rule": "stroke: #343a46",
    "edge": "stroke: #6f7787",
    "node": "fill: #1b2a4d; stroke: #7ea6ff",
    "a": "--: #a3abb9",
    "b": "--: #3fd0c0",
    "c": "--: #7ea6ff",
    "d": "--: #cb95f5",
    "e": "--: #ff9457",
}
"""One rule per class; a class whose rule starts with `--` is a colour for a line and its label."""


def style() -> str:
    """Return the style sheet: light unless the reader prefers dark."""

    def rules(theme: dict[str, str]) -> str:
        out = []
        for name, rule in theme.items():
            colour = rule.removeprefix("--: ")
            if colour == rule:
                out.append(f".{name} {{ {rule} }}")
            else:
                out.append(f".line-{name} {{ stroke: {colour} }} .text-{name} {{ fill: {colour} }}")
        return "\n".join(out)

    return (
        "<style>\n"
        "text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 15px }\n"
        ".small { font-size: 13px } .title { font-size: 17px; font-weight: 600 } .strong { font-weight: 600 }\n"
        ".line { fill: none; stroke-width: 2.2; stroke-linejoin: round }\n"
        f"{rules(LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{rules(DARK)}\n}}\n"
        "</style>"
    )


def picture(width: int, height: int, title: str, description: str, body: list[str]) -> str:
    """Return a whole SVG file with a card behind it, so that it is readable on any page."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-labelledby="title description">',
            f'<title id="title">{title}</title>',
            f'<desc id="description">{description}</desc>',
            style(),
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>',
            *body,
            "</svg>\n",
        ]
    )


def text(at: Point, words: str, kind: str = "ink", anchor: str = "middle") -> str:
    """Return one line of text; `_{…}` lowers what is inside."""
    words = words.replace("_{", '<tspan dy="4" font-size="75%">').replace("}", '</tspan><tspan dy="-4">&#8203;')
    words += "</tspan>" * (words.count("<tspan") - words.count("</tspan>"))
    return f'<text class="{kind}" x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}">{words}</text>'


def segment(start: Point, end: Point, kind: str, extra: str = "") -> str:
    """Return a straight line."""
    return (
        f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"{extra}/>'
    )


def node(at: Point, name: object) -> list[str]:
    """Return an agent."""
    circle = f'<circle class="node" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="22" stroke-width="2"/>'
    return [circle, text((at[0], at[1] + 6), str(name), "ink title")]


# the two phases -------------------------------------------------------------------------------


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
    answer = tacit.solve(tacit.Problem(TRIANGLE, effective_costs()))
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


# convergence ----------------------------------------------------------------------------------

ROUNDS = 300
TOP, BOTTOM = 7, -15  # decades shown


def least_squares() -> tacit.Problem:
    """Return twenty agents with eight records each on a random 4-regular network, and ten unknowns."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(10)
    costs = []
    for _ in range(20):
        A = rng.standard_normal((8, 10))
        costs.append(tacit.LeastSquares(A, A @ truth + 0.1 * rng.standard_normal(8)))
    return tacit.Problem(nx.random_regular_graph(4, 20, seed=1), costs)


def errors(problem: tacit.Problem, name: str, sigma: float) -> np.ndarray:
    """Return the worst agent's distance from the optimum, round by round."""
    best = np.linalg.solve(problem.stack.total_curvature().below, -problem.stack.affine.sum(axis=0))
    kind, network = ALGORITHMS[name], problem.network
    algorithm = kind.tuned(Landscape(problem.stack, network, kind.weights))
    peers, cost = Stacked(network, kind.weights), problem.stack
    if sigma:
        mechanism = AffineMasks(sigma)
        source = Keystreams(agent_keys(len(network), seed=7), network.degrees)
        cost = mechanism.hide(cost, peers, source, network=network).cost
    state = algorithm.init(np.tile(problem.x0, (len(network), 1)), cost)
    worst = []
    for _ in range(ROUNDS + 1):
        worst.append(float(np.abs(state.x - best).max()))
        state = algorithm.step(state, peers, cost)
    return np.array(worst)


def convergence() -> str:
    """Return the errors of five runs on a logarithmic axis, labelled at the lines."""
    left, right, top, bottom = 78.0, 700.0, 66.0, 420.0

    def at(round_: float, error: float) -> Point:
        height = (TOP - np.log10(max(error, 10.0**BOTTOM))) / (TOP - BOTTOM)
        return left + (right - left) * round_ / ROUNDS, top + (bottom - top) * float(height)

    body = [
        text((left - 54, 36), "Larger masks cost more rounds", "ink title", "start"),
        text(
            (left - 54, 56),
            "distance of the worst agent from the optimum; NIDS, unless DGD is named",
            "soft small",
            "start",
        ),
    ]
    for decade in range(6, BOTTOM, -3):
        y = at(0, 10.0**decade)[1]
        power = "1" if decade == 0 else "10" + str(decade).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        body += [segment((left, y), (right, y), "rule")]
        body += [text((left - 8, y + 4.5), power, "soft small", "end")]
    for mark in range(0, ROUNDS + 1, 50):
        body += [text((at(mark, 1)[0], bottom + 18), str(mark), "soft small")]
    body += [text(((left + right) / 2, bottom + 40), "rounds", "soft small")]

    problem = least_squares()
    runs = [("nids", 0.0, "a"), ("nids", 1.0, "b"), ("nids", 1e3, "c"), ("nids", 1e6, "d"), ("dgd", 1e3, "e")]
    drawn = {}
    for name, sigma, kind in runs:
        error = errors(problem, name, sigma)
        drawn[kind] = error
        path = " ".join("{:.1f},{:.1f}".format(*at(k, error[k])) for k in range(0, ROUNDS + 1, 2))
        dashes = ' stroke-dasharray="6 4"' if kind in "be" else ""
        body += [f'<polyline class="line line-{kind}" points="{path}"{dashes}/>']

    def crossing(kind: str, level: float) -> Point:
        return at(int(np.flatnonzero(drawn[kind] > level)[-1]) + 1, level)

    for kind, label in (("c", "σ = 10³"), ("d", "σ = 10⁶")):
        x, y = crossing(kind, 1e-5)
        body += [text((x + 14, y), label, f"text-{kind} strong", "start")]
    x, y = crossing("a", 1e-5)
    body += [text((x - 22, y + 14), "no masks", "text-a strong", "end")]
    body += [text((x - 22, y + 34), "and σ = 1", "text-b strong", "end")]
    ends = (("e", "DGD, σ = 10³:", "its bias stays"), ("d", "σ = 10⁶", ""), ("c", "σ = 1 and 10³", ""))
    for kind, label, more in (*ends, ("a", "no masks", "")):
        y = at(ROUNDS, drawn[kind][-1])[1] + 5
        body += [text((right + 10, y), label, f"text-{kind} small", "start")]
        body += [text((right + 10, y + 17), more, f"text-{kind} small", "start")] if more else []
    return picture(
        830,
        476,
        "Rounds against error for masks of different sizes",
        "Twenty agents, ten unknowns. NIDS reaches the optimum with masks of deviation 1, a thousand and a "
        "million, each factor of a thousand costing about 45 more rounds, down to a floor of rounding. "
        "Decentralised gradient descent with deviation a thousand stays about 80 away.",
        body,
    )


# guesses --------------------------------------------------------------------------------------

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


# sums and gossip ------------------------------------------------------------------------------

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


# the dashboard --------------------------------------------------------------------------------

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


def main(folder: Path) -> None:
    """Write all pictures."""
    drawings = (
        ("phases", phases),
        ("convergence", convergence),
        ("guess", guesses),
        ("sums", sums),
        ("dashboard", dashboard),
    )
    for name, drawing in drawings:
        (folder / f"{name}.svg").write_text(drawing(), encoding="utf-8")
        print(f"Wrote {name}.svg.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
