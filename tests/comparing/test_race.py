"""A race of algorithms: the same problem, network and masks."""

import json

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.algorithms import ALGORITHMS, EXTRA
from tacit.cli.main import app
from tacit.comparing import Race, preset
from tacit.comparing.a9a import a9a
from tacit.comparing.presets import PRESETS
from tacit.errors import FileError, InputError, TacitError


@pytest.fixture(scope="module")
def problem():
    points = np.random.default_rng(3).normal(size=(6, 2))
    return tacit.Problem(nx.circulant_graph(6, [1, 2]), [tacit.Quadratic.distance(point) for point in points])


@pytest.fixture(scope="module")
def outcome(problem):
    return tacit.compare(problem, algorithms="all", privacy=tacit.AffineMasks(10.0), seeds=2)


def runner_of(outcome, name):
    return next(runner for runner in outcome.runners if runner.algorithm == name)


def test_every_registered_algorithm_has_a_line(outcome):
    assert isinstance(outcome, Race)
    assert {runner.algorithm for runner in outcome.runners} == set(ALGORITHMS)
    assert all(runner.refused or runner.errors for runner in outcome.runners)


def test_exact_algorithms_come_as_near_as_asked_and_biased_ones_do_not(outcome):
    assert [each.target for each in runner_of(outcome, "nids").reached] == [1e-2, 1e-4, 1e-6, 1e-8, 1e-10]
    assert len(runner_of(outcome, "dgd").reached) < 5
    assert runner_of(outcome, "newton").refused


def test_it_takes_more_to_come_nearer(outcome):
    for runner in outcome.runners:
        exchanges = [each.exchanges for each in runner.reached]
        assert exchanges == sorted(exchanges)


def test_errors_are_true_ones(problem, outcome):
    nids = runner_of(outcome, "nids")
    answer = tacit.solve(problem, algorithm="nids", privacy=tacit.AffineMasks(10.0, seed=0))
    assert answer.record.phase2.rounds == pytest.approx(nids.reached[-1].rounds, rel=0.6)
    assert nids.errors[-1] <= 1e-10


def test_ones_own_settings_take_part(problem):
    (runner,) = tacit.compare(problem, algorithms=[EXTRA(step_size=0.1)]).runners
    assert runner.algorithm == "extra"
    assert runner.reached


def test_ones_own_algorithm_runs_beside_all_registered_ones(problem):
    outcome = tacit.compare(problem, algorithms=["all", EXTRA(step_size=0.1)], max_exchanges=50)
    assert len(outcome.runners) == len(ALGORITHMS) + 1
    assert "One run of each" in outcome.notes()[0]
    ran = sum(runner.refused is None for runner in outcome.runners)
    assert f"{ran} algorithms ran" in outcome.sentence()


def test_unknown_algorithms_and_empty_races_are_refused(problem):
    with pytest.raises(TacitError, match="no algorithm is called 'nidz'"):
        tacit.compare(problem, algorithms=["nidz"])
    with pytest.raises(InputError, match="seeds = 0"):
        tacit.compare(problem, algorithms="all", seeds=0)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_problems(name):
    ready = preset(name)
    assert len(ready.problem.network) >= 3
    assert ready.sigma > 0


def test_rows_of_a9a_are_read_from_a_file(tmp_path):
    file = tmp_path / "a9a.txt"
    file.write_text("-1 3:1 11:1 \n+1 5:1 123:1\n" * 1920)
    assert preset("decor", data=file).problem.dim == 14
    rows = a9a(file)
    assert rows.A.shape == (3840, 123)
    assert rows.A[1].nonzero()[0].tolist() == [4, 122]
    assert rows.y[:2].tolist() == [0.0, 1.0]


def test_made_up_rows_have_the_shape_of_a9a():
    rows = a9a()
    assert rows.A.shape == (32_561, 123)
    assert (rows.A.sum(axis=1) == 14).all()
    assert 0.2 < rows.y.mean() < 0.3


def test_what_is_no_row_of_a9a_is_refused(tmp_path):
    file = tmp_path / "other.txt"
    file.write_text("+1 3:1\n-1 999:1\n")
    with pytest.raises(FileError, match="line 2"):
        a9a(file)
    with pytest.raises(FileError, match="cannot be read"):
        a9a(tmp_path / "none.txt")
    with pytest.raises(InputError, match="goes with decor"):
        preset("paper", data=file)


def test_an_unknown_preset_is_refused():
    with pytest.raises(InputError, match="Did you mean 'clinics'"):
        preset("clinic")


def test_the_command_races(tmp_path, capsys):
    page = tmp_path / "race.html"
    app(["compare", "--preset", "paper", "--algorithms", "nids,extra", "--html", str(page)], standalone_mode=False)
    assert "exchanges" in capsys.readouterr().out
    assert "extra" in page.read_text(encoding="utf-8")
    app(["compare", "--preset", "paper", "--algorithms", "nids", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["runners"][0]["algorithm"] == "nids"


def test_the_command_needs_a_file_or_a_preset(tmp_path):
    with pytest.raises(InputError, match="either a problem file or a preset"):
        app(["compare"], standalone_mode=False)


def test_a_comparison_is_a_page(tmp_path, problem):
    outcome = tacit.compare(problem, only=["no privacy", "tacit affine"], repeats=2)
    text = outcome.report(tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "tacit affine" in text
