"""What is on the page, to take away: the network as GraphML, the settings as a problem file or a command line."""

from __future__ import annotations

import shlex
from io import BytesIO
from typing import Any

import networkx as nx
import tomli_w

from tacit.explore.sketch import Sketch

NETWORK_FILE = "network.graphml"


def graphml(sketch: Sketch) -> bytes:
    """Return the network as a file of GraphML."""
    file = BytesIO()
    nx.write_graphml(sketch.graph, file)
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
