"""Runs on the page are those of the commands, and somebody's own numbers stay hidden."""

import numpy as np
import pytest

import tacit
from tacit.explore.cases import (
    EXAMPLES,
    HEAD,
    Choices,
    as_problem_file,
    attack,
    beliefs,
    example,
    own,
    run_case,
)
from tacit.solving import write_example
from tacit.solving.centralised import centralised


def unheard(*news):
    """Take progress."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_converges_to_the_answer_of_the_pooled_costs(name):
    case = example(name)
    answer = run_case(case, Choices(sigma=50.0), unheard)
    assert answer.converged
    np.testing.assert_allclose(answer.x, centralised(case.task.problem), rtol=1e-5, atol=1e-7)


def test_the_small_grid_agrees_on_the_price_that_meets_the_demand():
    answer = run_case(example("A small grid"), Choices(), unheard)
    units = [(20.0, 0.050, 60.0), (25.0, 0.080, 35.0), (18.0, 0.060, 80.0), (30.0, 0.040, 20.0), (22.0, 0.070, 55.0), (27.0, 0.090, 40.0)]  # fmt: skip
    output = sum((answer.x[0] - c1) / (2 * c2) for c1, c2, _ in units)
    assert output == pytest.approx(sum(need for *_, need in units), abs=1e-5)


def test_what_is_believed_is_what_an_audit_of_the_same_file_says(tmp_path):
    case, choices = example("The paper's triangle"), Choices(algorithm="extra", seed=1)
    file = tmp_path / "problem.toml"
    file.write_text(as_problem_file(case, choices), encoding="utf-8")
    report = attack(case, choices, "1", unheard)
    audited = tacit.audit(tacit.load_problem(file), ["1"], seed=1)
    assert beliefs(case, report) == audited.table()
    assert report.sentence() == audited.sentence()


def test_of_somebodys_own_data_no_number_is_shown(tmp_path):
    write_example(tmp_path / "problem.toml")
    case = own(tmp_path / "problem.toml")
    report = attack(case, Choices(algorithm="auto"), "0, 1", unheard)
    shown = beliefs(case, report)
    values = {f"{value:.6g}" for row in report.rows for value in row.truth}
    assert len(shown[0]) == len(HEAD)
    assert {truth for _, truth, *_ in shown} == {"hidden"}
    assert not any(value in cell for _, *cells in shown for cell in cells for value in values if len(value) > 1)
    assert as_problem_file(case, Choices()) is None
