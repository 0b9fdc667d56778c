"""What is taken away says the same as the page."""

import shlex

import networkx as nx
import pytest
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.explore.exporting import command_line, graphml, problem_file
from tacit.explore.insight import look_at
from tacit.explore.sketch import Sketch
from tacit.explore.sources import GENERATORS, read_network

SKETCH = Sketch.of(nx.barbell_graph(4, 1), sigma=25.0).clicked(4)


@pytest.mark.parametrize("sketch", [SKETCH, SKETCH.clicked(4), SKETCH.clicked(4).clicked(0)])
def test_the_command_line_prints_the_sentence_on_the_page(sketch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "network.graphml").write_bytes(graphml(sketch))
    printed = CliRunner().invoke(app, shlex.split(command_line(sketch))[1:])
    assert look_at(sketch).sentence in printed.output


def test_the_problem_file_can_be_solved_and_has_the_network_and_the_masks(tmp_path):
    from tacit import load_problem

    file = tmp_path / "problem.toml"
    file.write_text(problem_file(SKETCH), encoding="utf-8")
    task = load_problem(file)
    assert task.privacy.sigma == 25.0
    assert len(read_network(file)) == 9
    assert task.solve().converged


@pytest.mark.parametrize("kind", GENERATORS)
def test_every_kind_of_network_has_as_many_agents_as_were_asked_for(kind):
    assert len(GENERATORS[kind](9)) == 9
    assert len(GENERATORS[kind](10)) == 10
