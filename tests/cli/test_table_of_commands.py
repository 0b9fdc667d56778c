"""Commands are loaded when they are called: what lists them must be what they say of themselves.

And a command loads what it needs, and no more. Figures are in `python -m benchmarks startup`; here are the modules.
"""

import os
import subprocess
import sys

import networkx as nx
import pytest

from tacit.cli.commands import COMMANDS
from tacit.network import write_graph

NUMBERS = ("numpy", "scipy", "networkx")
HEAVY = ("scipy.optimize", "scipy.spatial", "scipy.stats", "sklearn", "pandas", "tacit.auditing")
"""Not `scipy.linalg`: `scipy.special` loads it from SciPy 1.18 on."""
NETWORK = ("asyncio", "ssl", "cryptography")
PARTS = ("tacit.solving", "tacit.runtimes", "tacit.federation", "tacit.learning.model", "tacit.certificates")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_that_lists_a_command_is_the_first_of_its_own_help(name):
    home = COMMANDS[name]
    said = " ".join(home.load(name).help.split("\n\n")[0].split())
    assert said == home.line


def loaded(*lines, among, folder):
    """Return which modules are there after these commands, run one after the other in a process of its own."""
    script = (
        "import sys\n"
        "from tacit.cli import main\n"
        f"for line in {lines!r}:\n"
        "    sys.argv = ['tacit', *line.split()]\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        f"sys.stderr.write('loaded: ' + ' '.join(name for name in {among!r} if name in sys.modules))"
    )
    words = [sys.executable, "-P", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder, env=os.environ)
    return done.stderr.rpartition("loaded: ")[2].split()


def test_listing_the_commands_and_all_their_help_loads_none_of_what_they_do(tmp_path):
    groups = {"ledger": ("new", "show", "check", "add"), "data": ("check", "draft")}
    groups["federation"] = ("new", "check", "with", "without", "rekey")
    helps = [f"{name} {word} --help" for name in COMMANDS for word in groups.get(name, ("",))]
    lines = ("--help", "--version", "-V", "certfy", *helps)
    assert loaded(*lines, among=(*NUMBERS, *HEAVY, *NETWORK, *PARTS), folder=tmp_path) == []


@pytest.mark.parametrize(
    ("lines", "never"),
    [
        (["certify g.graphml --sigma 10 --any 1 --hide 1", "certify g.graphml --sigma 10 --coalition 1"], NETWORK),
        (["calibrate g.graphml --any 1 --epsilon 1", "design --agents 6 --any 1 --epsilon 1"], NETWORK),
        (["ledger add r g.graphml --sigma 10", "ledger show", "augment g.graphml --any 1"], NETWORK),
        (["data draft d.csv"], ("scipy", "networkx", *NETWORK, *PARTS)),
        (["init", "solve problem.toml"], ("tacit.learning", "tacit.federation", "tacit.dispatch")),
        (
            ["agent nowhere.toml --me a --data d.csv"],
            ("tacit.learning.model", "tacit.dispatch", "http.server", "prometheus_client"),
        ),
    ],
    ids=["certify", "calibrate, design", "ledger, augment", "data", "init, solve", "agent"],
)
def test_a_command_loads_what_it_needs_and_no_more(lines, never, tmp_path):
    write_graph(nx.circulant_graph(6, [1, 2]), tmp_path / "g.graphml")
    (tmp_path / "d.csv").write_text("age,y\n1,2\n2,4\n", encoding="utf-8")
    assert loaded(*lines, among=(*HEAVY, *never), folder=tmp_path) == []
