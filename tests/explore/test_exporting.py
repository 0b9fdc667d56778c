"""What is taken away says the same as the page."""

import json
import shlex

import networkx as nx
import pytest
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.explore.cases import EXAMPLES, Choices, as_problem_file, example, own, run_case
from tacit.explore.exporting import attack_command, command_line, graphml, problem_file, run_command, watch_page
from tacit.explore.insight import look_at
from tacit.explore.sketch import Sketch
from tacit.explore.sources import GENERATORS, read_network
from tacit.explore.watching import MemberNews, Vigil

SKETCH = Sketch.of(nx.barbell_graph(4, 1), sigma=25.0).clicked(4)


@pytest.mark.parametrize("sketch", [SKETCH, SKETCH.clicked(4), SKETCH.clicked(4).clicked(0)])
def test_the_command_line_prints_the_sentence_on_the_page(sketch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "network.graphml").write_bytes(graphml(sketch.graph))
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


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_run_can_be_repeated_on_the_command_line_from_its_problem_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case, choices = example(name), Choices(sigma=50.0, seed=3)
    (tmp_path / "problem.toml").write_text(as_problem_file(case, choices), encoding="utf-8")
    printed = CliRunner().invoke(app, [*shlex.split(run_command(case, choices))[1:], "--json"])
    answer = run_case(case, choices, lambda progress: None)
    assert json.loads(printed.stdout)["x"] == answer.x.tolist()
    assert attack_command(case, choices, "0, 1") == "tacit audit problem.toml --coalition 0,1 --seed 3"


def test_a_run_of_somebodys_own_file_is_a_command_line_or_says_what_must_stand_in_the_file(tmp_path):
    from tacit.solving import write_example

    file = tmp_path / "problem.toml"
    write_example(file)
    case = own(file)
    assert run_command(case, Choices(sigma=7.0)) == f"tacit solve {file} --algorithm auto --sigma 7"
    assert run_command(case, Choices(level="sums")) == f"tacit solve {file} --algorithm auto --sums"
    assert '#   level = "none"' in run_command(case, Choices(level="none")).splitlines()
    assert attack_command(case, Choices(), "0").endswith(f"tacit audit {file} --coalition 0")


def test_what_was_seen_of_a_federation_is_a_page_with_everybody_on_it():
    watch = Vigil(start=0.0)
    watch.take([MemberNews("north", "done"), MemberNews("south", "away", trouble=": stopped")], now=2.0)
    page = watch_page(watch)
    assert (page.good, page.verdict) == (False, "1 of 2 there")
    assert [row[0] for row in page.sections[0].tables[0].rows] == ["north", "south"]
