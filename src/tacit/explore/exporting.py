"""What is on a page, to take away: the network as GraphML, the settings as a problem file or a command line.

Of a network, of a run, and of a federation that is watched.
"""

from __future__ import annotations

import shlex
from io import BytesIO
from typing import Any

import networkx as nx
import tomli_w

from tacit.explore.cases import Case, Choices, settings
from tacit.explore.sketch import Sketch
from tacit.explore.watching import HEAD_OF_NEWS, Vigil, summary
from tacit.masks import has_level, has_sigma, level_of
from tacit.report import Listing, Page, Section
from tacit.report.pages.links import links_section

NETWORK_FILE, PROBLEM_FILE = "network.graphml", "problem.toml"


def graphml(graph: nx.Graph[Any]) -> bytes:
    """Return a network as a file of GraphML."""
    file = BytesIO()
    nx.write_graphml(graph, file)
    return file.getvalue()


def command_line(sketch: Sketch) -> str:
    """Return the command that says the same of the exported network."""
    masks = ["--sums"] if sketch.sums else ["--sigma", f"{sketch.sigma:g}"]
    coalition = ",".join(map(str, sketch.coalition))
    return shlex.join(["tacit", "certify", NETWORK_FILE, *masks, "--coalition", coalition])


def problem_file(sketch: Sketch) -> str:
    """Return a problem on this network with these masks; the costs in it stand for those of its readers."""
    privacy: dict[str, Any] = {"level": "sums"} if sketch.sums else {"level": "affine", "sigma": sketch.sigma}
    contents = {
        "graph": {"links": [[str(a), str(b)] for a, b in sketch.graph.edges()]},
        "costs": {
            "family": "quadratic",
            "agents": {str(agent): {"P": [[2.0]], "q": [0.0]} for agent in sketch.agents},
        },
        "privacy": {**privacy, "hide": sketch.hide},
    }
    return "# The costs are placeholders: put your own in their place.\n\n" + tomli_w.dumps(contents)


def run_graph(case: Case) -> nx.Graph[Any]:
    """Return the network of a run."""
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(case.agents)
    graph.add_edges_from((case.agents[i], case.agents[j]) for i, j in case.task.problem.network.links)
    return graph


def run_command(case: Case, choices: Choices) -> str:
    """Return the command that runs the exported problem file, or somebody's own, in the same way."""
    if case.file is None:
        return shlex.join(["tacit", "solve", PROBLEM_FILE])
    masks = case.task.privacy
    words = ["tacit", "solve", str(case.file), "--algorithm", choices.algorithm]
    if choices.seed is not None:
        return f"{_in_file(choices)}\n{shlex.join(words[:3])}"
    if choices.level == "sums":
        return shlex.join([*words, "--sums"])
    if has_sigma(choices.level) and has_level(masks) and level_of(masks) == choices.level:
        return shlex.join([*words, "--sigma", f"{choices.sigma:g}"])
    return f"{_in_file(choices)}\n{shlex.join(words[:3])}"


def attack_command(case: Case, choices: Choices, coalition: str) -> str:
    """Return the command that attacks the same run."""
    names = ",".join(name.strip() for name in coalition.split(",") if name.strip())
    seed = [] if choices.seed is None else ["--seed", str(choices.seed)]
    command = shlex.join(["tacit", "audit", str(case.file or PROBLEM_FILE), "--coalition", names, *seed])
    return f"{_in_file(choices)}\n{command}" if case.is_own else command


def _in_file(choices: Choices) -> str:
    """Say what somebody's own file must have for a run as on the page."""
    lines = tomli_w.dumps(settings(choices)).strip().splitlines()
    return "\n".join(["# with this in the file:", *(f"#   {line}" for line in lines if line)])


def watch_command(text: str) -> str:
    """Return the command that opens the page on the same federation."""
    return shlex.join(["tacit", "explore", "--watch", text.strip()])


def watch_page(watch: Vigil) -> Page:
    """Return what was seen of a federation as a report."""
    there = [each for each in watch.news if each.is_there]
    members = Listing("Members at the last look", HEAD_OF_NEWS, [each.row() for each in watch.news])
    return Page(
        title=f"A federation of {len(watch.news)} members",
        verdict=f"{len(there)} of {len(watch.news)} there",
        good=len(there) == len(watch.news),
        statement=[summary(watch.news)],
        sections=[Section("Members", tables=[members]), *links_section(watch.times())],
    )
