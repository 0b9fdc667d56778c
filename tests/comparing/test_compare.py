"""One problem, every approach, the same attacks."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.baselines import reference
from tacit.cli.main import app
from tacit.comparing import approaches
from tacit.comparing.compare import attackers
from tacit.errors import InputError, TacitError

POINTS = np.random.default_rng(3).normal(size=(6, 2))


@pytest.fixture(scope="module")
def problem():
    costs = [tacit.Quadratic.distance(point) for point in POINTS]
    return tacit.Problem(nx.circulant_graph(6, [1, 2]), costs)


@pytest.fixture(scope="module")
def outcome(problem):
    return tacit.compare(problem, only=["no privacy", "tacit"], repeats=3, seed=1)


def row_of(outcome, name):
    return next(row for row in outcome.rows if row.approach == name)


def test_the_reference_is_the_optimum(problem):
    np.testing.assert_allclose(reference(problem), POINTS.mean(axis=0), atol=1e-10)


def test_without_privacy_one_neighbour_reads_everybody(outcome):
    alone, pair = row_of(outcome, "no privacy").recoveries
    assert (alone.recovered, alone.honest, alone.guess) == (5, 5, 1.0)
    assert (pair.recovered, pair.honest, pair.guess) == (4, 4, 1.0)


@pytest.mark.parametrize("name", ["tacit affine", "tacit quadratic", "tacit whole"])
def test_masks_leave_the_answer_and_hide_everybody(outcome, name):
    row = row_of(outcome, name)
    assert row.error < 1e-8
    for recovery in row.recoveries:
        assert recovery.recovered == 0
        assert recovery.error > 10
        assert recovery.promise


def test_attackers_are_those_against_whom_masks_protect_least():
    path = tacit.Problem(nx.path_graph(5), [tacit.Quadratic.distance([float(i)]) for i in range(5)])
    (alone,), pair = attackers(path)
    assert alone in (1, 2, 3)  # whoever cuts the path
    assert len(pair) == 2


def test_every_number_survives_json(outcome):
    whole = json.loads(outcome.to_json())
    assert [row["approach"] for row in whole["rows"]] == [row.approach for row in outcome.rows]
    assert whole["rows"][0]["recoveries"][0]["recovered"] == 5


def test_what_does_not_fit_leaves_a_row_that_says_why():
    costs = [tacit.Logistic([[1.0, k], [k, 1.0]], [0.0, 1.0], l2=1.0) for k in range(4)]
    problem = tacit.Problem(nx.complete_graph(4), costs)
    (row,) = tacit.compare(problem, only=["tacit quadratic"], repeats=1).rows
    assert row.missing
    assert row.error is None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"only": ["tacti"]}, "no approach is called 'tacti'"),
        ({"repeats": 0}, "repeats = 0"),
        ({"epsilon": 0.0}, "epsilon = 0.0 must be"),
        ({"sigma": -1.0}, "-1.0"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(problem, settings, says):
    with pytest.raises(TacitError, match=says):
        tacit.compare(problem, **settings)


def test_two_agents_are_too_few():
    problem = tacit.Problem(nx.path_graph(2), [tacit.Quadratic.distance([1.0])] * 2)
    with pytest.raises(InputError, match="2 agents"):
        tacit.compare(problem)


def test_names_are_unique():
    names = [approach.name for approach in approaches()]
    assert len(set(names)) == len(names)


def test_the_command_prints_a_table_and_json(tmp_path, capsys):
    file = tmp_path / "problem.toml"
    app(["init", str(file)], standalone_mode=False)
    capsys.readouterr()
    app(["compare", str(file), "--only", "no privacy,tacit whole", "--repeats", "1"], standalone_mode=False)
    assert "tacit whole" in capsys.readouterr().out
    app(["compare", str(file), "--only", "tacit whole", "--repeats", "1", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["agents"] == 6


def test_the_page_has_a_row_for_every_approach():
    """python docs/compared.py writes it; rows of private answers may be newer than the page."""
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    names = [approach.name for approach in approaches() if "private answer" not in approach.name]
    assert all(f"\n| {name} | " in page.partition("<!-- compared: clinics -->")[2] for name in names)
